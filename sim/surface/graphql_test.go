package surface_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/surface"
	"github.com/anvil-sim/anvil/trace"
)

// A script answers the n-th call with its n-th answer and keeps what it was
// asked.
type script struct {
	answers []json.RawMessage
	asked   []string
}

func (s *script) Invoke(_ context.Context, req *provider.Request) (*provider.Response, error) {
	s.asked = append(s.asked, string(req.AppendJSON(nil)))
	return provider.ParseResponse(s.answers[len(s.asked)-1])
}

// A recorded session, as testdata/conformance/README.md describes it.
type session struct {
	Provider struct {
		Answers []json.RawMessage `json:"answers"`
	} `json:"provider"`
	Exchanges []struct {
		Request struct {
			Method, Path, Body string
			Headers            map[string]string
		} `json:"request"`
		Response struct {
			Status   int               `json:"status"`
			Headers  map[string]string `json:"headers"`
			BodyText string            `json:"bodyText"`
		} `json:"response"`
	} `json:"exchanges"`
}

// TestGraphQLSessions replays the recorded sessions: responses, what the
// provider is asked and the trace, byte for byte.
func TestGraphQLSessions(t *testing.T) {
	for _, name := range []string{"graphql-envelopes", "graphql-resolve"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("../../testdata/conformance/sessions", name)
			var s session
			if err := json.Unmarshal(readFile(t, dir, "session.json"), &s); err != nil {
				t.Fatal(err)
			}
			doc, err := air.Load(filepath.Join(dir, "air.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			p := &script{answers: s.Provider.Answers}
			r := serveGraphQL(t, doc, p, nil)
			for i, e := range s.Exchanges {
				var headers []string
				for name, value := range e.Request.Headers {
					headers = append(headers, name, value)
				}
				resp, got := r.do(t, e.Request.Method, e.Request.Path, e.Request.Body, headers...)
				if resp.StatusCode != e.Response.Status || got != e.Response.BodyText {
					t.Errorf("exchange %d %s: %d %s, want %d %s", i, e.Request.Body, resp.StatusCode, got, e.Response.Status, e.Response.BodyText)
				}
				for name, want := range e.Response.Headers {
					if got := resp.Header.Get(name); got != want {
						t.Errorf("exchange %d: %s is %q, want %q", i, name, got, want)
					}
				}
				if got := resp.Header.Get("X-Rate"); got != "" {
					t.Errorf("exchange %d: a provider's header was served: X-Rate: %s", i, got)
				}
			}
			diffLines(t, "invoke", string(readFile(t, dir, "invokes.jsonl")), strings.Join(p.asked, "\n")+"\n")
			diffLines(t, "trace line", string(readFile(t, dir, "trace.jsonl")), r.trace.String())
		})
	}
}

func readFile(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func diffLines(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%ss (-want +got):\n%s", what, diff)
	}
}

func serveGraphQL(t testing.TB, doc *air.Document, p provider.Provider, opts *surface.Options) *running {
	t.Helper()
	r := &running{trace: &bytes.Buffer{}}
	s, err := sim.New(doc, &sim.Options{Seed: 1, Provider: p, Trace: trace.NewWriter(r.trace)})
	if err != nil {
		t.Fatal(err)
	}
	h, err := surface.New(s, opts)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}
