package providertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/provider"
)

// things answers every kind of request.
type things struct{}

func (things) Invoke(_ context.Context, req *provider.Request) (*provider.Response, error) {
	switch {
	case req.Page != nil:
		return provider.PageOf([]string{"a", "b"}, "2")
	case req.Kind == provider.KindRead:
		return provider.Fail(provider.NotFound, "no %s", req.Params.Path.Get("thing_id")), nil
	}
	return provider.ResultJSON(req.Body), nil
}

func served(t *testing.T) (io.WriteCloser, io.Reader) {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- provider.Serve(context.Background(), things{}, in, out, nil)
		out.Close()
	}()
	t.Cleanup(func() {
		stdin.Close()
		stdout.Close()
		<-ended
	})
	return stdin, stdout
}

func TestServePasses(t *testing.T) {
	for _, seed := range []uint64{0, 1, 42} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { Run(t, served, &Options{Seed: seed}) })
	}
}

func TestMinimalPythonProviderPasses(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("this machine has no python3, which the specification's example needs")
	}
	Run(t, Command("python3", "../../sim/stdio/testdata/minimal.py"), &Options{Minimal: true, Timeout: time.Minute})
}

// A flaw is how a provider is not right; it changes what the good one says.
type flaw func(line string, m map[string]json.RawMessage, say func(string)) bool

// flawed is a provider with a flaw: where that returns false, the line goes to
// the good one.
func flawed(f flaw) (io.WriteCloser, io.Reader) {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	goodIn, forward := io.Pipe()
	go func() {
		defer out.Close()
		provider.Serve(context.Background(), things{}, goodIn, out, nil)
	}()
	go func() {
		defer forward.Close()
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			var m map[string]json.RawMessage
			json.Unmarshal([]byte(line), &m)
			if !f(line, m, func(s string) { io.WriteString(out, s+"\n") }) {
				io.WriteString(forward, line)
			}
		}
	}()
	return stdin, stdout
}

// Each flaw must fail its case, and the failure must quote the rule.
func TestFlawsAreFound(t *testing.T) {
	answer := func(m map[string]json.RawMessage, result string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m["id"], result)
	}
	is := func(m map[string]json.RawMessage, method string) bool { return string(m["method"]) == `"`+method+`"` }
	for _, tc := range []struct {
		name, of, want string
		flaw           flaw
	}{
		{"version 2", "initialize", "speaks protocol version 2", func(_ string, m map[string]json.RawMessage, say func(string)) bool {
			say(answer(m, `{"protocolVersion":2}`))
			return true
		}},
		{"silence", "initialize", "initialize was not answered within", func(string, map[string]json.RawMessage, func(string)) bool { return true }},
		{"too many items", "answers", "returned 3 items for a page of 2", func(_ string, m map[string]json.RawMessage, say func(string)) bool {
			if is(m, "invoke") {
				say(answer(m, `{"ok":true,"items":[1,2,3]}`))
			}
			return is(m, "invoke")
		}},
		{"double answers", "ids", "does not wait for one", func(_ string, m map[string]json.RawMessage, say func(string)) bool {
			if is(m, "invoke") {
				say(answer(m, `{"ok":true,"items":[]}`) + "\n" + answer(m, `{"ok":true,"items":[]}`))
			}
			return is(m, "invoke")
		}},
		{"text ids", "answers", "was not answered within", func(_ string, m map[string]json.RawMessage, say func(string)) bool {
			if is(m, "invoke") {
				m["id"] = []byte(`"` + string(m["id"]) + `"`)
				say(answer(m, `{"ok":true,"items":[]}`))
			}
			return is(m, "invoke")
		}},
		{"strict keys", "unknown-keys", "JSON-RPC error", func(line string, m map[string]json.RawMessage, say func(string)) bool {
			if strings.Contains(line, "xUnknown") {
				say(fmt.Sprintf(`{"id":%s,"error":{"code":-32602,"message":"unknown key"}}`, m["id"]))
				return true
			}
			return false
		}},
		{"spaces", "spelling", "was not answered within", func(line string, _ map[string]json.RawMessage, _ func(string)) bool {
			return strings.HasPrefix(line, " ")
		}},
		{"short lines only", "long-line", "was not answered within", func(line string, _ map[string]json.RawMessage, _ func(string)) bool {
			return len(line) > 64<<10
		}},
		{"unanswered shutdown", "shutdown", "shutdown was not answered", func(_ string, m map[string]json.RawMessage, _ func(string)) bool {
			return is(m, "shutdown")
		}},
		{"accepts all methods", "unknown-methods", "answered with a result", func(_ string, m map[string]json.RawMessage, say func(string)) bool {
			if is(m, "initialize") || is(m, "invoke") {
				return false
			}
			say(answer(m, `null`))
			return true
		}},
		{"answers notifications", "notifications", "answered with a result", func(_ string, m map[string]json.RawMessage, say func(string)) bool {
			if m["id"] == nil {
				say(`{"id":77,"result":1}`)
			}
			return m["id"] == nil
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := withDefaults(&Options{Timeout: 200 * time.Millisecond})
			for _, c := range Cases() {
				if c.Name != tc.of {
					continue
				}
				stdin, stdout := flawed(tc.flaw)
				err := check(c, o, stdin, stdout)
				if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), c.Explain) {
					t.Errorf("got %v, want %q and the rule", err, tc.want)
				}
			}
		})
	}
}
