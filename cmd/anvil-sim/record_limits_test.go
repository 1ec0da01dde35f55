package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/replayer/tape"
)

// proxyTimeout is how long the recording proxy of these tests waits for an answer.
const proxyTimeout = 5 * time.Second

// A body of 100 MB comes back from its tape byte for byte, in memory that the size of
// the tape bounds.
func TestLargeBodyReplays(t *testing.T) {
	const size = 100 << 20
	block := bytes.Repeat([]byte("0123456789abcdef\x00\xff"), 4096)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(size))
		for left := size; left > 0; left -= len(block) {
			_, _ = w.Write(block[:min(left, len(block))])
		}
	}))
	defer srv.Close()
	sum := func(t *testing.T, base string) string {
		resp, err := http.Get(base + "/big")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		h := sha256.New()
		n, err := io.Copy(h, resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %x %s", n, h.Sum(nil), resp.Header.Get("Content-Length"))
	}
	file, want := recorded(t, srv, sum)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := replayed(t, file, sum); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	runtime.ReadMemStats(&after)
	// What the runtime took from the system never shrinks: it is the peak.
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 4*info.Size() {
		t.Errorf("the heap grew by %d MB for a tape of %d MB", grown>>20, info.Size()>>20)
	}
}

// An exchange that ended without an answer is no answer when it is replayed either,
// and one that broke off breaks off where it did.
func TestFailuresReplayAsFailures(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /gone", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /half", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "only this")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("GET /fine", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "fine") })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	seen := func(t *testing.T, base string) (list []string) {
		for _, path := range []string{"/gone", "/half", "/fine"} {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			resp, err := client.Get(base + path)
			if err != nil {
				list = append(list, "no answer")
				continue
			}
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			list = append(list, fmt.Sprintf("%d %s%s %v", resp.StatusCode, resp.Header.Get("X-Anvil-Upstream-Error"), resp.Header.Get("X-Anvil-Miss"), err))
		}
		return list
	}
	file, live := recorded(t, srv, seen)
	if want := "[502 connection <nil> 200  unexpected EOF 200  <nil>]"; fmt.Sprint(live) != want {
		t.Errorf("live: %v, want %s", live, want)
	}
	got := replayed(t, file, seen)
	if want := "[no answer 200  unexpected EOF 200  <nil>]"; fmt.Sprint(got) != want {
		t.Errorf("replayed: %v, want %s", got, want)
	}
	rec, err := tape.LoadFile(file)
	if err != nil || len(rec.Interactions) != 3 || rec.Interactions[0].Failure == nil || rec.Interactions[1].Response.Cut == "" {
		t.Errorf("%+v, %v", rec, err)
	}
}
