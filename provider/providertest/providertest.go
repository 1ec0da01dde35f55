// Package providertest is a conformance kit for state providers in any
// language: it plays the simulator against a running provider.
//
//	func TestProvider(t *testing.T) {
//		providertest.Run(t, providertest.Command("python3", "provider.py"), nil)
//	}
//
// Each case starts a provider of its own. The kit sends what a simulator may
// send: unknown keys and unusual key orders (from a seed, so that a run can be
// repeated), many requests at once, long lines.
package providertest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/provider"
)

// A StartFunc starts a provider and returns what its stdin and stdout are. The
// kit closes stdin and reads stdout to its end; t's clean-up ends the provider.
type StartFunc func(t *testing.T) (stdin io.WriteCloser, stdout io.Reader)

// Options change what is sent; the zero value is ready to use.
type Options struct {
	// Requests are calls that the provider knows. Any answer that the protocol
	// allows for them passes, a domain error too. Empty is one read, one create
	// and one page of a list, of operations that most providers do not know.
	Requests []*provider.Request
	// Initialize is what the provider is told. Nil names the operations of Requests.
	Initialize *provider.InitializeParams
	// Seed chooses the unknown keys and the key orders.
	Seed uint64
	// Timeout is how long an answer may take. 0 is 10 s.
	Timeout time.Duration
	// Minimal leaves out what a version 1 simulator never sends, and a careful
	// provider bears all the same: unknown methods, notifications, blank lines,
	// text that is no JSON.
	Minimal bool
}

// A Case is one thing that is asked of a provider.
type Case struct {
	Name    string
	Explain string // the rule, in one sentence

	extra bool // not for a minimal provider
	run   func(*session) error
}

// Cases lists what [Run] checks, in order.
func Cases() []Case {
	return []Case{
		{"initialize", "initialize is answered with protocolVersion 1", false, initializes},
		{"answers", "each invoke is answered with a result, a page of at most page.size items, or an error with a code", false, answers},
		{"ids", "requests that are sent at once are each answered exactly once, under their own id, in any order", false, ids},
		{"unknown-keys", "keys that the provider does not know are ignored, at every level, and the order of keys means nothing", false, unknownKeys},
		{"spelling", "white space, escapes and big numbers of JSON mean what JSON says", false, spelling},
		{"long-line", "a request line of 2 MB is read like any other", false, longLine},
		{"shutdown", "shutdown is answered, and the provider ends once its stdin is closed", false, shutsDown},
		{"end-of-input", "the provider ends when its stdin ends without a shutdown", false, endsWithInput},
		{"unknown-methods", "a method that the provider does not know is answered with a JSON-RPC error or not at all, and the session goes on", true, unknownMethods},
		{"notifications", "a message without an id is not answered, and the session goes on", true, notifications},
		{"garbage", "blank lines and text that is no JSON do not end the session", true, garbage},
	}
}

// Run checks a provider, one subtest a case; a failure quotes the rule that is
// broken. opts may be nil.
func Run(t *testing.T, start StartFunc, opts *Options) {
	o := withDefaults(opts)
	for _, c := range Cases() {
		if c.extra && o.Minimal {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			stdin, stdout := start(t)
			if err := check(c, o, stdin, stdout); err != nil {
				t.Error(err)
			}
		})
	}
}

// check runs one case against one provider.
func check(c Case, o Options, stdin io.WriteCloser, stdout io.Reader) error {
	s := newSession(o, stdin, stdout)
	defer s.end()
	if err := c.run(s); err != nil {
		return fmt.Errorf("%w\nthe rule: %s (seed %d)", err, c.Explain, o.Seed)
	}
	return nil
}

func withDefaults(opts *Options) Options {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if len(o.Requests) == 0 {
		o.Requests = sampleRequests()
	}
	if o.Initialize == nil {
		o.Initialize = initializeFor(o.Requests)
	}
	return o
}

func sampleRequests() []*provider.Request {
	thing := "thing"
	admin := &provider.Principal{ID: "admin", Role: "admin", Scopes: []string{"things:write"}}
	base := provider.Request{CapabilityID: "kit", Resource: &thing, Principal: admin}
	read, create, list := base, base, base
	read.OperationID, read.ToolName, read.Kind, read.Action = "kit.things.get", "kit_get_thing", provider.KindRead, "get"
	read.Method, read.PathTemplate = "GET", "/things/{thing_id}"
	read.Params.Path = provider.Object{{Name: "thing_id", Value: []byte(`"K-1"`)}}
	create.OperationID, create.ToolName, create.Kind, create.Action = "kit.things.create", "kit_create_thing", provider.KindCreate, "create"
	create.Method, create.PathTemplate = "POST", "/things"
	create.Body = []byte(`{"title":"kit"}`)
	list.OperationID, list.ToolName, list.Kind, list.Action = "kit.things.list", "kit_list_things", provider.KindList, "list"
	list.Method, list.PathTemplate = "GET", "/things"
	list.Page = &provider.Page{Size: 2}
	return []*provider.Request{&read, &create, &list}
}

func initializeFor(requests []*provider.Request) *provider.InitializeParams {
	digest := "0000000000000000000000000000000000000000000000000000000000000000"
	p := &provider.InitializeParams{
		ProtocolVersion: provider.ProtocolVersion,
		Simulator:       provider.Implementation{Name: "providertest", Version: "1"},
		ServiceID:       "kit", CapabilityID: "kit", ContractDigest: &digest, SurfaceDigest: &digest, Seed: 1,
	}
	for _, r := range requests {
		p.Operations = append(p.Operations, provider.Operation{
			OperationID: r.OperationID, ToolName: r.ToolName, Kind: r.Kind, Action: r.Action, Resource: r.Resource,
			Method: r.Method, PathTemplate: r.PathTemplate, Paged: r.Page != nil,
		})
	}
	return p
}

// Command starts a program as the provider. Its stderr goes to the test's; the
// test's end kills it.
func Command(name string, args ...string) StartFunc {
	return func(t *testing.T) (io.WriteCloser, io.Reader) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Stderr = os.Stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
		return stdin, stdout
	}
}
