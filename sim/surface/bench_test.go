package surface_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/surface"
	"github.com/anvil-sim/anvil/trace"
)

// nowhere is a response writer that keeps nothing.
type nowhere struct{ header http.Header }

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (w *nowhere) WriteHeader(int)             {}

func handlerOf(t testing.TB, opts *sim.Options) http.Handler {
	t.Helper()
	doc, err := air.Parse("shop.yaml", []byte(contract))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(doc, opts)
	if err != nil {
		t.Fatal(err)
	}
	h, err := surface.New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func BenchmarkServeHTTP(b *testing.B) {
	body := `{"subject":"` + strings.Repeat("x", 1000) + `"}`
	for _, bc := range []struct{ name, method, path, body string }{
		{"get", "GET", "/u/7", ""}, {"put 1 KB", "PUT", "/u/7", body},
	} {
		for _, state := range []string{"store", "provider"} {
			b.Run(bc.name+" "+state, func(b *testing.B) {
				opts := &sim.Options{Trace: trace.NewWriter(io.Discard)}
				if state == "provider" {
					opts.Provider = answers(echo)
				}
				h := handlerOf(b, opts)
				w := &nowhere{header: http.Header{}}
				req := httptest.NewRequest(bc.method, bc.path, nil)
				b.ReportAllocs()
				for b.Loop() {
					req.Body = io.NopCloser(strings.NewReader(bc.body))
					req.ContentLength = int64(len(bc.body))
					h.ServeHTTP(w, req)
				}
			})
		}
	}
}

// TestAllocations holds what one call costs beside net/http: a traced read of
// the built-in store.
func TestAllocations(t *testing.T) {
	h := handlerOf(t, &sim.Options{Trace: trace.NewWriter(io.Discard)})
	w := &nowhere{header: http.Header{}}
	req := httptest.NewRequest("GET", "/u/7", nil)
	req.Body = http.NoBody
	const most = 18
	if got := testing.AllocsPerRun(1000, func() { h.ServeHTTP(w, req) }); got > most {
		t.Errorf("a traced GET makes %v allocations, want at most %d", got, most)
	}
}
