package surface_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/sim/surface"
)

func TestCORS(t *testing.T) {
	r := start(t, echo, nil, func(next http.Handler) http.Handler {
		return surface.CORS(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/bare" { // a handler that sets no status
				_, _ = io.WriteString(w, "x")
				return
			}
			next.ServeHTTP(w, r)
		}))
	})
	const origin, allowed = "https://a.example", "Access-Control-Allow-"
	for _, tc := range []struct {
		method, path string
		asked, want  map[string]string
	}{
		{"OPTIONS", "/u/1", map[string]string{"Origin": origin, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization,x-a", "Access-Control-Request-Private-Network": "true"},
			map[string]string{allowed + "Origin": origin, allowed + "Methods": "PUT", allowed + "Headers": "authorization,x-a", allowed + "Credentials": "true", allowed + "Private-Network": "true", "X-Request-Id": ""}},
		{"OPTIONS", "/u/1", map[string]string{"Origin": "null", "Access-Control-Request-Method": "GET"},
			map[string]string{allowed + "Origin": "null", allowed + "Methods": "GET", allowed + "Headers": "", allowed + "Private-Network": ""}},
		{"OPTIONS", "/u/1", map[string]string{"Origin": origin}, // no preflight: a call
			map[string]string{allowed + "Origin": origin, allowed + "Methods": "", "X-Request-Id": "r1"}},
		{"GET", "/u/1", map[string]string{"Origin": origin},
			map[string]string{allowed + "Origin": origin, allowed + "Credentials": "true", "Access-Control-Expose-Headers": "Content-Length, Content-Type, X-Request-Id", "X-Request-Id": "r2"}},
		{"GET", "/u/1", nil, map[string]string{allowed + "Origin": "", "Vary": "Origin", "Access-Control-Expose-Headers": ""}},
		{"GET", "/bare", map[string]string{"Origin": origin}, map[string]string{"Access-Control-Expose-Headers": ""}},
	} {
		var asked []string
		for name, value := range tc.asked {
			asked = append(asked, name, value)
		}
		resp, _ := r.do(t, tc.method, tc.path, "", asked...)
		for name, want := range tc.want {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s %s with %v: %s is %q, want %q", tc.method, tc.path, tc.asked, name, got, want)
			}
		}
	}
	if n := strings.Count(r.trace.String(), "\n"); n != 3 {
		t.Errorf("the trace has %d lines, want 3: a preflight is no call", n)
	}
}
