package surface

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A pipeListener accepts one end of a pipe, then waits for its Close.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// A watchedConn counts the reads of a single byte and the deadlines.
type watchedConn struct {
	net.Conn
	single, deadlines atomic.Int32
	begun             chan struct{} // when not nil, gets something before each read
}

func (c *watchedConn) Read(p []byte) (int, error) {
	if len(p) == 1 {
		c.single.Add(1)
	}
	if c.begun != nil {
		c.begun <- struct{}{}
	}
	return c.Conn.Read(p)
}

func (c *watchedConn) SetReadDeadline(t time.Time) error {
	c.deadlines.Add(1)
	return c.Conn.SetReadDeadline(t)
}

// servePipe serves h on one connection and gives the client's end.
func servePipe(t *testing.T, h http.HandlerFunc) (net.Conn, *watchedConn) {
	t.Helper()
	client, end := net.Pipe()
	watched := &watchedConn{Conn: end}
	l := &pipeListener{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.conns <- watched
	server := &http.Server{Handler: h, ConnState: follow, ConnContext: withConn, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout}
	done := make(chan error, 1)
	go func() { done <- server.Serve(targetListener{l}) }()
	t.Cleanup(func() {
		client.Close()
		server.Close()
		if err := <-done; err != http.ErrServerClosed {
			t.Errorf("Serve: %v", err)
		}
	})
	return client, watched
}

// exchange sends a request piece by piece and returns the answer's body.
func exchange(t *testing.T, client net.Conn, in *bufio.Reader, pieces ...string) string {
	t.Helper()
	for _, p := range pieces {
		if _, err := io.WriteString(client, p); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// No call pays for net/http's watching of its client, with a body or without.
func TestClientsAreNotWatched(t *testing.T) {
	client, watched := servePipe(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, rawTarget(r)+" "+string(body))
	})
	in := bufio.NewReader(client)
	for range 20 {
		for _, tc := range []struct{ request, want string }{
			{"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "/a "},
			{"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "/%zz "},
			{"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", "/b abc"},
			{"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "/c abc"},
		} {
			if got := exchange(t, client, in, tc.request); got != tc.want {
				t.Fatalf("%q: got %q, want %q", tc.request, got, tc.want)
			}
		}
	}
	if n := watched.single.Load(); n != 0 {
		t.Errorf("the connection was read %d times for a single byte, want 0", n)
	}
	// One for waiting, one for a head that comes in pieces, which these do not.
	if n := watched.deadlines.Load(); n > 2*80 {
		t.Errorf("the connection got %d deadlines for 80 requests, want 2 each at most", n)
	}
}

// A line of a head that fills net/http's buffer but for one byte is read on with a
// read of that byte, which is no watching, and no request begins behind it.
func TestLastByteOfTheBuffer(t *testing.T) {
	client, watched := servePipe(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.TrimLeft(r.Header.Get("X-Long"), "x"))
	})
	in := bufio.NewReader(client)
	long := "X-Long: " + strings.Repeat("x", 4095-len("X-Long: "))
	for _, tc := range []struct {
		pieces []string
		want   string
	}{
		{[]string{"GET / HTTP/1.1\r\nHost: x\r\n", long, " ", "%zz y z\r\n\r\n"}, " %zz y z"},
		{[]string{"GET /%zz HTTP/1.1\r\nHost: x\r\n", long, "\r", "\n\r\n"}, ""},
	} {
		if got := exchange(t, client, in, tc.pieces...); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.pieces[0], got, tc.want)
		}
	}
	if watched.single.Load() == 0 {
		t.Error("no single byte was read: the test does not fill the buffer")
	}
}

// A deadline that has passed ends the read that is under way, and the next one;
// one that is taken back ends none.
func TestReadDeadline(t *testing.T) {
	client, end := net.Pipe()
	defer client.Close()
	inner := &watchedConn{Conn: end, begun: make(chan struct{}, 1)}
	c := &targetConn{Conn: inner}
	defer c.Close()
	past := time.Unix(1, 0)
	read := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 10))
		read <- err
	}()
	<-inner.begun
	if err := errors.Join(c.SetReadDeadline(past), <-read); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read under way: %v, want %v", err, os.ErrDeadlineExceeded)
	}
	if _, err := c.Read(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the next read: %v, want %v", err, os.ErrDeadlineExceeded)
	}
	<-inner.begun
	if err := errors.Join(c.SetDeadline(past), c.SetDeadline(time.Time{})); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = client.Write([]byte("abc")) }()
	if n, err := c.Read(make([]byte, 10)); n != 3 || err != nil {
		t.Errorf("a read without a deadline: %d bytes, %v; want 3", n, err)
	}
}

// A targetListener makes targetConns that are never parked.
type targetListener struct{ net.Listener }

func (l targetListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &targetConn{Conn: c, fresh: true}, nil
}
