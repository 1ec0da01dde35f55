package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSoakVerdict(t *testing.T) {
	flat := []float64{40, 30, 31, 30, 31, 30, 31, 32}
	growing := []float64{30, 30, 30, 40, 50, 60, 70, 80}
	for _, c := range []struct {
		memory, routines []float64
		wrong, want      string
	}{
		{flat, flat, "", ""},
		{flat[:1], flat[:1], "", ""},
		{growing, flat, "", "memory grew from 35.0 to 75.0 MB"},
		{flat, growing, "", "goroutines grew from 35 to 75"},
		{flat, flat, "GET /: status 500", "1 calls were answered wrongly, the first: GET /: status 500"},
	} {
		s := &soak{}
		if c.wrong != "" {
			s.miss(c.wrong)
		}
		got := ""
		if err := s.verdict(io.Discard, c.memory, c.routines); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.memory, c.routines, got, c.want)
		}
	}
}

// A client counts what is refused and what is wrong, and numbers its calls.
func TestSoakClient(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // of a client of this test
		paths = append(paths, r.Method+" "+r.URL.Path+" "+string(body))
		switch len(paths) {
		case 2:
			w.WriteHeader(503)
		case 3:
			w.WriteHeader(500)
		case 4:
			stop()
		}
	}))
	defer server.Close()
	s := &soak{}
	s.client(ctx, 7, func() string { return server.URL }, []soakCall{{"POST", "/N", "n N", []int{200}, "", ""}})
	if got := strings.Join(paths[:3], ", "); got != "POST /7 n 7, POST /8 n 8, POST /9 n 9" {
		t.Errorf("calls %s", got)
	}
	if s.wrong.Load() != 1 || s.refused.Load() < 1 || !strings.Contains(s.firstWrong.Load().(string), "status 500, want [200]") {
		t.Errorf("wrong %d, refused %d, first %v; want 1, 1 and the status", s.wrong.Load(), s.refused.Load(), s.firstWrong.Load())
	}
	for _, bad := range [][]string{{"--clients", "1"}, {"--for", "1s", "--period", "2s"}, {"--none"}} {
		if err := soakRun(t.Context(), bad, io.Discard, nil); err == nil {
			t.Errorf("soak %q is taken", bad)
		}
	}
}
