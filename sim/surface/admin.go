package surface

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// AdminPrefix is where the control endpoints live. They are no part of the
// contract: never numbered, never traced.
const AdminPrefix = "/__anvil/"

// Admin configures the control endpoints.
type Admin struct {
	// Token, when set, must come with every control request, as
	// "Authorization: Bearer TOKEN". Without one, only a client on the loopback
	// interface that asks for a loopback host is answered, and no browser page.
	Token string
	// Reset puts everything behind the calls back to its first state. No call
	// runs meanwhile.
	Reset func(ctx context.Context) error
	// Trace writes the lines since the last reset, or all lines of this run. Nil:
	// there is no trace.
	Trace func(w io.Writer, all bool) error
	// State answers GET /__anvil/state with the present state behind the calls.
	// Nil: there is none to give.
	State http.HandlerFunc
	// Health is the body of GET /__anvil/health.
	Health func() any
}

// Wrap serves the control endpoints, and everything else from next:
//
//	POST /__anvil/reset   back to the first state; 204
//	GET  /__anvil/trace   the trace lines since the last reset; ?all=1: of this run
//	GET  /__anvil/state   the present state behind the calls
//	GET  /__anvil/health  what is served
//
// Where GET is answered, HEAD is too.
func (a *Admin) Wrap(next http.Handler) http.Handler {
	var calls sync.RWMutex // held for writing while everything is reset
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, AdminPrefix) {
			calls.RLock()
			defer calls.RUnlock()
			next.ServeHTTP(w, r)
			return
		}
		if why := a.refuses(r); why != "" {
			adminError(w, http.StatusForbidden, why)
			return
		}
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		switch method + " " + strings.TrimPrefix(r.URL.Path, AdminPrefix) {
		case "POST reset":
			calls.Lock()
			defer calls.Unlock()
			if err := a.Reset(r.Context()); err != nil {
				adminError(w, http.StatusConflict, err.Error())
				return
			}
			w.WriteHeader(http.StatusNoContent)
		case "GET trace":
			a.trace(w, r)
		case "GET state":
			a.state(w, r)
		case "GET health":
			w.Header()["Content-Type"] = jsonType
			_ = json.NewEncoder(w).Encode(a.Health())
		default:
			adminError(w, http.StatusNotFound, "unknown control request; there are POST reset and GET trace, state and health under "+AdminPrefix)
		}
	})
}

func (a *Admin) state(w http.ResponseWriter, r *http.Request) {
	if a.State == nil {
		adminError(w, http.StatusNotFound, "no state to give; it needs a fixture database in process (--fixtures FILE)")
		return
	}
	a.State(w, r)
}

func (a *Admin) trace(w http.ResponseWriter, r *http.Request) {
	if a.Trace == nil {
		adminError(w, http.StatusNotFound, "no trace is written; start with --trace FILE")
		return
	}
	all, err := strconv.ParseBool(cmp.Or(r.URL.Query().Get("all"), "false"))
	if err != nil {
		adminError(w, http.StatusBadRequest, "all is 1 for every line of this run, or 0 for those since the last reset")
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	if err := a.Trace(w, all); err != nil {
		// The status is out; a cut answer is all that can tell.
		panic(http.ErrAbortHandler)
	}
}

// refuses says why a control request is not answered, "" when it is.
func (a *Admin) refuses(r *http.Request) string {
	if a.Token != "" {
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(given), []byte(a.Token)) != 1 {
			return "the control endpoints want Authorization: Bearer with the token that the server was started with"
		}
		return ""
	}
	switch {
	case !isLoopback(r.RemoteAddr):
		return "the control endpoints answer the loopback interface only; start with a token to open them"
	case !isLoopback(r.Host):
		// A page of another site can point its own name at this address.
		return "the control endpoints answer requests for a loopback host only, not for " + r.Host
	case r.Header.Get("Origin") != "":
		return "the control endpoints do not answer browser pages; start with a token to open them"
	}
	return ""
}

// isLoopback reports whether a host, with or without a port, is this machine's
// loopback.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func adminError(w http.ResponseWriter, status int, message string) {
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": "anvil_admin", "message": fmt.Sprint(message)}})
}
