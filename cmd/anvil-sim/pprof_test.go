package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/cli"
)

func TestPprof(t *testing.T) {
	var said strings.Builder
	o := &serveOptions{streams: cli.Streams{Err: &said}, pprof: "127.0.0.1:0"}
	stop, err := o.servePprof()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(strings.TrimSpace(said.String()), " at ")
	if !found {
		t.Fatalf("said %q, want the address", said.String())
	}
	resp, err := http.Get(rest + "heap?debug=1")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != 200 || !strings.HasPrefix(string(body), "heap profile:") {
		t.Errorf("%v, status %d, %.80s", err, resp.StatusCode, body)
	}
	stop()
	if resp, err := http.Get(rest); err == nil {
		resp.Body.Close()
		t.Error("profiles are served after the end")
	}
}

func TestPprofRefused(t *testing.T) {
	for addr, want := range map[string]string{
		"0.0.0.0:0":     "not on the loopback interface",
		":6060":         "not on the loopback interface",
		"example.com:1": "not on the loopback interface",
		"6060":          "want HOST:PORT",
		"127.0.0.1:x":   "cannot listen",
	} {
		o := &serveOptions{streams: cli.Streams{Err: io.Discard}, pprof: addr}
		if _, err := o.servePprof(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--pprof %s: %v, want %q", addr, err, want)
		}
	}
}
