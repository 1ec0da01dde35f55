package main

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"
)

// A badClient is a way not to behave on a connection. It returns when there is
// nothing more to do, and is begun anew; begun is to be called once something was
// sent.
type badClient func(ctx context.Context, conn net.Conn, begun func())

func badClients() []badClient {
	return []badClient{
		slowly("GET " + crowdPath + " HTTP/1.1\r\nHost: x\r\nX-Slow: " + strings.Repeat("s", 4000) + "\r\n\r\n"),
		// The length is the largest that is taken; what comes is little.
		slowly("POST /ticket HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 16777216\r\n\r\n", strings.Repeat(" ", 4000)),
		silent, halfOpen, unread, flood, garbage,
	}
}

// slowly sends the last of some texts at one byte a second.
func slowly(texts ...string) badClient {
	return func(ctx context.Context, conn net.Conn, begun func()) {
		for _, text := range texts[:len(texts)-1] {
			send(conn, text)
		}
		for _, b := range []byte(texts[len(texts)-1]) {
			if !send(conn, string(b)) {
				return
			}
			begun()
			wait(ctx, time.Second)
		}
	}
}

// silent never says a word.
func silent(ctx context.Context, conn net.Conn, begun func()) {
	begun()
	rest(ctx, conn)
}

// halfOpen asks, closes its side, and reads nothing.
func halfOpen(ctx context.Context, conn net.Conn, begun func()) {
	send(conn, "GET "+crowdPath+" HTTP/1.1\r\nHost: x\r\n\r\n")
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite() // the server may have gone already
	}
	begun()
	wait(ctx, time.Second)
}

// unread asks again and again and reads nothing, until nothing more is taken.
func unread(ctx context.Context, conn net.Conn, begun func()) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10) // so that the server waits soon
	}
	asks := strings.Repeat("GET /ticket?limit=50 HTTP/1.1\r\nHost: x\r\n\r\n", 5)
	for send(conn, asks) {
		begun()
		wait(ctx, time.Second)
	}
}

// flood sends a header without end.
func flood(ctx context.Context, conn net.Conn, begun func()) {
	send(conn, "GET / HTTP/1.1\r\nHost: x\r\n")
	begun()
	for line := "X-Flood: " + strings.Repeat("x", 8000) + "\r\n"; send(conn, line); {
		if ctx.Err() != nil {
			return
		}
	}
	wait(ctx, 5*time.Second)
}

// garbage sends what is no HTTP behind what is.
func garbage(ctx context.Context, conn net.Conn, begun func()) {
	send(conn, "GET "+crowdPath+" HTTP/1.1\r\nHost: x\r\n\r\n\x00\x16\x03\x01 garbage\r\n\r\nGET / HTTP/9.9\r\n\r\n")
	begun()
	_, _ = io.Copy(io.Discard, conn) // to the end that the server makes
	wait(ctx, time.Second)
}

// send writes; false when it is of no use any more.
func send(conn net.Conn, text string) bool {
	_, err := io.WriteString(conn, text)
	return err == nil
}

// rest waits for the end of the connection.
func rest(ctx context.Context, conn net.Conn) {
	_, _ = conn.Read(make([]byte, 1)) // any end will do
	wait(ctx, 10*time.Millisecond)
}

// misbehave is one bad client, again and again until ctx ends.
func misbehave(ctx context.Context, host string, bad badClient, sent *atomic.Int64) {
	first := true
	begun := func() {
		if first {
			first = false
			sent.Add(1)
		}
	}
	for ctx.Err() == nil {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", host)
		if err != nil {
			wait(ctx, 100*time.Millisecond) // the server is busy with others
			continue
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		bad(ctx, conn, begun)
		stop()
		conn.Close()
	}
}
