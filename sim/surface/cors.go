package surface

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// CORS lets browsers of any origin call next: it answers preflight requests,
// which are no calls of the API and so not traced, and adds the headers that
// let a page read an answer.
func CORS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Add("Vary", "Origin")
		if method := r.Header.Get("Access-Control-Request-Method"); r.Method == http.MethodOptions && method != "" {
			h.Set("Access-Control-Allow-Methods", method)
			if asked := r.Header.Values("Access-Control-Request-Headers"); len(asked) > 0 {
				h.Set("Access-Control-Allow-Headers", strings.Join(asked, ", "))
			}
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(&exposing{ResponseWriter: w}, r)
	})
}

// exposing names every response header in Access-Control-Expose-Headers: with
// credentials, browsers do not take * for an answer.
type exposing struct {
	http.ResponseWriter
	wrote bool
}

// WriteHeader implements http.ResponseWriter.
func (e *exposing) WriteHeader(status int) {
	if !e.wrote {
		e.wrote = true
		h := e.Header()
		h.Set("Access-Control-Expose-Headers", strings.Join(exposable(h), ", "))
	}
	e.ResponseWriter.WriteHeader(status)
}

func exposable(h http.Header) []string {
	names := slices.Sorted(maps.Keys(h))
	return slices.DeleteFunc(names, func(n string) bool {
		return strings.HasPrefix(n, "Access-Control-") || n == "Vary"
	})
}
