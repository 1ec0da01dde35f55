package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/recorder"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// The pieces of a streamed answer are kept when asked, and sent again as they came.
func TestRecordChunks(t *testing.T) {
	got := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, part := range []string{"one", "two-", "three"} {
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
			<-got // the client has it
		}
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "tape.yaml")
	rec, err := recorder.Open(file, &recorder.Options{Chunks: true})
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := recorder.NewProxy(rec, recorder.ProxyOptions{Target: target})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- proxy.Serve(ctx, l, time.Minute) }()
	resp, err := http.Get("http://" + l.Addr().String() + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"one", "two-", "three"} {
		buf := make([]byte, len(part))
		if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != part {
			t.Fatalf("%q %v", buf, err)
		}
		got <- struct{}{}
	}
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if raw := rawReplay(t, file, "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(raw, "\r\n\r\n3\r\none\r\n4\r\ntwo-\r\n5\r\nthree\r\n0\r\n\r\n") {
		t.Errorf("replayed: %q", raw)
	}
}

// rawReplay is all that a replay sends over a connection for a request.
func rawReplay(t *testing.T, file, request string) string {
	t.Helper()
	tapes, err := tape.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	player, err := replayer.NewPlayer(tapes, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	server, err := replayer.Listen(ctx, "127.0.0.1:0", player, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return string(text)
}
