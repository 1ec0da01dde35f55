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
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin == "" {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			preflight(h, r.Header)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(&exposing{ResponseWriter: w}, r)
	})
}

// preflight allows what is asked for: with credentials, browsers do not take * for
// an answer. A page of a public site that calls this machine asks for that too.
func preflight(h, asked http.Header) {
	h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", asked.Get("Access-Control-Request-Method"))
	if names := asked.Values("Access-Control-Request-Headers"); len(names) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(names, ", "))
	}
	if asked.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	h.Set("Access-Control-Max-Age", "600")
}

// exposing names every response header in Access-Control-Expose-Headers: here,
// too, * would not count.
type exposing struct {
	http.ResponseWriter
	wrote bool
}

// WriteHeader implements http.ResponseWriter.
func (e *exposing) WriteHeader(status int) {
	if !e.wrote {
		e.wrote = true
		if names := exposable(e.Header()); len(names) > 0 {
			e.Header().Set("Access-Control-Expose-Headers", strings.Join(names, ", "))
		}
	}
	e.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (e *exposing) Write(p []byte) (int, error) {
	if !e.wrote {
		e.WriteHeader(http.StatusOK)
	}
	return e.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (e *exposing) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func exposable(h http.Header) []string {
	names := slices.Sorted(maps.Keys(h))
	return slices.DeleteFunc(names, func(n string) bool {
		return strings.HasPrefix(n, "Access-Control-") || n == "Vary"
	})
}
