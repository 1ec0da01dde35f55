package surface

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
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
	// runs meanwhile. Its ctx outlives the client.
	Reset func(ctx context.Context) error
	// Trace writes the lines since the last reset, or all lines of this run. Nil:
	// there is no trace.
	Trace func(w io.Writer, all bool) error
	// State gives the state behind the calls as a SQLite file. Nil: there is none to
	// give. An error is answered 409: the state asked for is none that there is.
	State func(ctx context.Context, which StateOf) (file io.ReadCloser, size int64, err error)
	// Health is the body of GET /__anvil/health.
	Health func() any
}

// StateOf says which state is wanted.
type StateOf struct {
	// Call is the number of the call after which it is wanted, 0 for the first
	// state. Nil is the present one.
	Call *int64
	// Tenant is whose it is, nil for that of calls without a tenant.
	Tenant *string
}

// Wrap serves the control endpoints, and everything else from next:
//
//	POST /__anvil/reset   back to the first state; 204
//	GET  /__anvil/trace   the trace lines since the last reset; ?all=1: of this run
//	GET  /__anvil/state   the present state behind the calls; ?call=N the one after
//	                      call N, ?tenant=T that of a tenant
//	GET  /__anvil/health  what is served
//
// Where GET is answered, HEAD is too.
func (a *Admin) Wrap(next *Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, AdminPrefix) {
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
			a.reset(w, r, next)
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

// reset resets when its turn has come. A client that has gone by then has no use
// for it, and whoever came after it would be surprised; once begun, it is not left
// half done.
func (a *Admin) reset(w http.ResponseWriter, r *http.Request, h *Handler) {
	err := h.alone(func() error {
		if err := r.Context().Err(); err != nil {
			return fmt.Errorf("nothing was reset: the client went away: %w", err)
		}
		return a.Reset(callContext(r.Context()))
	})
	if err != nil {
		adminError(w, http.StatusConflict, err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (a *Admin) state(w http.ResponseWriter, r *http.Request) {
	if a.State == nil {
		adminError(w, http.StatusNotFound, "no state to give; it needs a fixture database (--fixtures FILE), or a provider that announced the method snapshot")
		return
	}
	which, err := readStateOf(r.URL)
	if err != nil {
		adminError(w, http.StatusBadRequest, err.Error())
		return
	}
	file, size, err := a.State(r.Context(), which)
	if err != nil {
		adminError(w, http.StatusConflict, err.Error())
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/vnd.sqlite3")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	_, _ = io.Copy(w, file) // a client that goes away is no fault of the state
}

// readStateOf reads which state a request wants.
func readStateOf(u *url.URL) (which StateOf, err error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return which, fmt.Errorf("the query cannot be read: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		vals := query[name]
		val := vals[0]
		switch {
		case len(vals) > 1:
			return which, fmt.Errorf("%s is given %d times, want it once", name, len(vals))
		case name == "tenant":
			which.Tenant = &val
		case name == "call":
			n, err := strconv.ParseInt(val, 10, 64)
			if err != nil || n < 0 {
				return which, fmt.Errorf("call is %q, want the number of a call, or 0 for the first state", val)
			}
			which.Call = &n
		default:
			return which, fmt.Errorf("unknown parameter %q, there are call and tenant", name)
		}
	}
	return which, nil
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
