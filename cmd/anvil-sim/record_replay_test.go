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
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	vcrrecorder "github.com/dnaeon/go-vcr/v2/recorder"
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

func calls() []string {
	return []string{"GET /plain?a=1&a=2", "GET /gzip", "GET /events", "GET /binary", "GET /trailer", "GET /teapot", "GET /moved", "GET /nothing", "HEAD /plain", "POST /echo"}
}

// look makes the calls and says what a client sees that undoes nothing.
func look(t *testing.T, base string) (list []view) {
	t.Helper()
	tr := &http.Transport{DisableCompression: true}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, call := range calls() {
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

// Record a real server, replay the tape: the client sees the same, go-vcr's own
// recorder replays it too, and a second recording is the same file.
func TestRecordReplayEqual(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		srv := httptest.NewUnstartedServer(realAPI(t))
		srv.EnableHTTP2 = h2
		srv.StartTLS()
		file, want := recorded(t, srv, look)
		again, _ := recorded(t, srv, look)
		srv.Close()
		if diff := cmp.Diff(want, replayed(t, file, look)); diff != "" {
			t.Errorf("HTTP/2 %v:\n%s", h2, diff)
		}
		first, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := os.ReadFile(again); err != nil || !bytes.Equal(first, second) {
			t.Errorf("HTTP/2 %v: the second recording differs: %v\n%s", h2, err, cmp.Diff(string(first), string(second)))
		}
		byGoVCR(t, file, srv.URL, want)
	}
}

// recorded runs a client through a recording proxy.
func recorded[V any](t *testing.T, srv *httptest.Server, client func(*testing.T, string) V) (file string, seen V) {
	t.Helper()
	pool := x509.NewCertPool()
	if srv.Certificate() != nil {
		pool.AddCert(srv.Certificate())
	}
	dir := t.TempDir()
	file = filepath.Join(dir, "tape.yaml")
	rec, err := recorder.Open(file, &recorder.Options{TempDir: dir, Warn: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := recorder.NewProxy(rec, recorder.ProxyOptions{Target: target, TLS: &tls.Config{RootCAs: pool}, Timeout: proxyTimeout})
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
	seen = client(t, "http://"+l.Addr().String())
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return file, seen
}

// byGoVCR asks go-vcr's own recorder for what is on a tape.
func byGoVCR(t *testing.T, file, base string, want []view) {
	t.Helper()
	theirs, err := vcrrecorder.NewAsMode(strings.TrimSuffix(file, ".yaml"), vcrrecorder.ModeReplaying, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, call := range calls() {
		method, path, _ := strings.Cut(call, " ")
		req, err := http.NewRequest(method, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := theirs.RoundTrip(req)
		if err != nil {
			t.Errorf("go-vcr: %s: %v", call, err)
			continue
		}
		if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != want[i].Status || string(body) != want[i].Body {
			t.Errorf("go-vcr: %s: %d %.60q, want %d %.60q", call, resp.StatusCode, body, want[i].Status, want[i].Body)
		}
	}
}

// replayed runs a client against a tape.
func replayed[V any](t *testing.T, file string, client func(*testing.T, string) V) V {
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
	got := client(t, server.URL())
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return got
}
