package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/recorder"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// realAPI answers in the ways that recordings lose.
func realAPI(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /plain", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Twice"] = []string{"b", "a"}
		fmt.Fprintf(w, `{"query":%q}`, r.URL.RawQuery)
	})
	mux.HandleFunc("GET /gzip", func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, strings.Repeat(`{"n":1}`, 500))
		_ = z.Close()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(b.Bytes())
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
		}
	})
	mux.HandleFunc("GET /binary", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write([]byte{0, 255, 254, '\r', '\n', 0x80})
	})
	mux.HandleFunc("GET /trailer", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		fmt.Fprint(w, "text\n\n  more")
		_ = http.NewResponseController(w).Flush()
		w.Header().Set("X-Sum", "1")
	})
	mux.HandleFunc("GET /teapot", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(418) })
	mux.HandleFunc("GET /moved", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/plain?x=1")
		w.WriteHeader(303)
	})
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	return mux
}

type view struct {
	Status  int
	Header  http.Header
	Body    string
	Trailer http.Header
}

// look makes the calls and says what a client sees that undoes nothing.
func look(t *testing.T, base string) (list []view) {
	t.Helper()
	tr := &http.Transport{DisableCompression: true}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	calls := []string{"GET /plain?a=1&a=2", "GET /gzip", "GET /events", "GET /binary", "GET /trailer", "GET /teapot", "GET /moved", "GET /nothing", "HEAD /plain", "POST /echo"}
	for _, call := range calls {
		method, path, _ := strings.Cut(call, " ")
		var body io.Reader
		if method == "POST" {
			body = strings.NewReader("a=1&b=2")
		}
		req, err := http.NewRequest(method, base+path, body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		if resp.Header.Get("Content-Encoding") == "gzip" { // another writer may compress otherwise
			z, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v", call, err)
			}
			if text, err = io.ReadAll(z); err != nil {
				t.Fatalf("%s: %v", call, err)
			}
			resp.Header.Del("Content-Length")
		}
		resp.Header.Del("Date")
		list = append(list, view{resp.StatusCode, resp.Header, string(text), resp.Trailer})
	}
	return list
}

// Record a real server, replay the tape: the client sees the same.
func TestRecordReplayEqual(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		srv := httptest.NewUnstartedServer(realAPI(t))
		srv.EnableHTTP2 = h2
		srv.StartTLS()
		pool := x509.NewCertPool()
		pool.AddCert(srv.Certificate())
		file := filepath.Join(t.TempDir(), "tape.yaml")
		rec, err := recorder.Open(file, &recorder.Options{Warn: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		target, err := url.Parse(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		proxy, err := recorder.NewProxy(rec, recorder.ProxyOptions{Target: target, TLS: &tls.Config{RootCAs: pool}})
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
		want := look(t, "http://"+l.Addr().String())
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		srv.Close()
		if diff := cmp.Diff(want, replayed(t, file)); diff != "" {
			t.Errorf("HTTP/2 %v:\n%s", h2, diff)
		}
	}
}

func replayed(t *testing.T, file string) []view {
	t.Helper()
	tapes, err := tape.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	player, err := replayer.NewPlayer(tapes, &replayer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	server, err := replayer.Listen(ctx, "127.0.0.1:0", player, &replayer.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	got := look(t, server.URL())
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return got
}
