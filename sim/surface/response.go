package surface

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
)

// A response is what goes out.
type response struct {
	status     int
	body       sim.Raw // nil: none, and null in the trace
	headers    []sim.Header
	link       string
	warnings   []string
	traceError string
	miss       string // what a replaying provider has no recording of
}

// respond puts an outcome into the wire form of its operation.
func respond(in *inbound, out *sim.Outcome) *response {
	r := &out.Result
	if !r.OK {
		resp := &response{status: r.Error.Status, body: r.Error.Body, miss: missText(r.Error.Miss)}
		if resp.status == http.StatusNoContent {
			resp.body = nil
		}
		return resp
	}
	resp := &response{}
	if r.Page != nil {
		resp.body, resp.link = in.plan.envelope.wrap(in, r)
		resp.status = successStatus(out.Op, true)
	} else {
		resp.status = successStatus(out.Op, len(r.Output) > 0 && string(r.Output) != "null")
		resp.body = fill(r.Output, in.plan.fixed)
	}
	if resp.status == http.StatusNoContent {
		resp.body = nil
	}
	resp.takeHeaders(r.Headers)
	return resp
}

// missText is a miss as a header value: its reason, else all of it, on one line
// of ASCII.
func missText(miss sim.Raw) string {
	if miss == nil {
		return ""
	}
	text := string(miss)
	if reason, ok := canon.Lookup(miss, "reason"); ok && len(reason) > 0 && reason[0] == '"' {
		text = canon.Unquote(reason)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
}

// successStatus is the status of a success. A declared 204 serves an empty
// result, or everything when nothing else is declared; else the first declared
// status with a body; without any, 201 for a create and 200 otherwise. Statuses
// are declared by HTTP+JSON operations: what an operation of another protocol
// declares is not about its facade.
func successStatus(op *sim.Operation, hasBody bool) int {
	declared := op.SuccessStatuses
	if len(declared) == 0 || op.Protocol() != air.HTTPJSON {
		if op.Info.Kind == provider.KindCreate {
			return http.StatusCreated
		}
		return http.StatusOK
	}
	for _, s := range declared {
		if s != http.StatusNoContent && (hasBody || !slices.Contains(declared, http.StatusNoContent)) {
			return s
		}
	}
	return http.StatusNoContent
}

// fill adds to an object result the declared const and one-member enum fields
// that it lacks. What the provider set is never replaced.
func fill(result sim.Raw, fixed []fixedField) sim.Raw {
	if len(fixed) == 0 || len(result) == 0 || result[0] != '{' {
		return result
	}
	dst := result[: len(result)-1 : len(result)-1]
	for _, f := range fixed {
		if _, ok := canon.Lookup(result, f.name); ok {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, f.name), ':')
		dst = append(dst, f.value...)
	}
	return append(dst, '}')
}

// takeHeaders keeps the provider's headers but for those the simulator writes
// itself.
func (r *response) takeHeaders(headers []sim.Header) {
	for _, h := range headers {
		name := strings.ToLower(h.Name)
		if ownHeader(name) || name == "link" && r.link != "" {
			r.warnings = append(r.warnings, "Provider header '"+h.Name+"' dropped: the simulator writes it.")
			continue
		}
		r.headers = append(r.headers, h)
	}
}

// ownHeader names the response headers that are the simulator's: its request
// id, its trace error, and the framing of the body.
func ownHeader(lower string) bool {
	switch lower {
	case "x-request-id", "x-anvil-trace-error", "x-anvil-miss", "content-type", "content-length", "content-encoding",
		"transfer-encoding", "connection", "keep-alive", "upgrade", "trailer", "te", "date":
		return true
	}
	return false
}

// write sends the response.
func (r *response) write(w http.ResponseWriter, requestID string) {
	h := w.Header()
	h["X-Request-Id"] = []string{requestID}
	for _, p := range r.headers {
		h[p.Name] = []string{toLatin1(p.Value)}
	}
	if r.link != "" {
		h["Link"] = []string{"<" + r.link + `>; rel="next"`}
	}
	if r.miss != "" {
		h["X-Anvil-Miss"] = []string{r.miss}
	}
	if r.traceError != "" {
		h["X-Anvil-Trace-Error"] = []string{toLatin1(r.traceError)}
	}
	if r.status == http.StatusNoContent || r.status == http.StatusNotModified || r.status < 200 {
		w.WriteHeader(max(r.status, 200))
		return
	}
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(r.body))}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}

var jsonType = []string{"application/json"}
