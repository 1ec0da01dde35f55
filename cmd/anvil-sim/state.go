package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/stdio"
	"github.com/anvil-sim/anvil/sim/values"
	"github.com/anvil-sim/anvil/store"
)

//go:embed demo/air.yaml
var demoContract []byte

//go:embed demo/fixtures.sql
var demoFixtures string

// A state is the simulator with what stands behind it.
type state struct {
	sim  *sim.Simulator
	died <-chan struct{} // closed when the provider process ends; nil without one
	err  func() error    // how it ended
	exit func() int      // exit code of the provider process, -1 without one
	cut  func() bool     // the provider process had to be killed
	stop func(context.Context) error
	demo bool

	seed        uint32
	stateful    bool                 // the state is a provider's
	resetter    provider.Resetter    // nil when the provider cannot reset
	snapshotter provider.Snapshotter // nil when there is no state to write
}

func (st *state) close(ctx context.Context) error {
	if st.stop == nil {
		return nil
	}
	return st.stop(ctx)
}

// death is the error of a provider that died under a running server.
func (st *state) death() error {
	if st.died == nil {
		return nil
	}
	select {
	case <-st.died:
		return cli.Exit(cli.CodeNo, st.err())
	default:
		return nil
	}
}

// welcome tells a newcomer what to try on the demo.
func (st *state) welcome(w io.Writer, url string) {
	if !st.demo {
		return
	}
	fmt.Fprintf(w, `Try:
  curl '%[1]s/tickets?status=open&limit=3'
  curl %[1]s/tickets/1
  curl -H 'Content-Type: application/json' -H 'Idempotency-Key: k1' -d '{"subject":"Printer on fire","requester_id":5}' %[1]s/tickets
`, url)
}

// openState finds the contract, starts what stands behind it, and makes the
// simulator.
func (o *serveOptions) openState(ctx context.Context, opts *sim.Options) (*state, error) {
	path, from := o.findContract()
	if path == "" {
		if err := o.describe.refuse(""); err != nil {
			return nil, err
		}
	}
	if path == "" && o.provider == "" && o.fixtures == "" {
		return o.openDemo(ctx, opts)
	}
	var doc *air.Document
	if path != "" {
		var err error
		if doc, err = o.load(path, from); err != nil {
			return nil, err
		}
		o.say("contract: %s (%s)", path, from)
	}
	switch {
	case o.provider != "":
		return o.startProvider(ctx, opts, doc, path)
	case o.fixtures != "":
		options, err := o.fixture.options(o.streams, doc, opts.Seed)
		if err != nil {
			return nil, err
		}
		options.Log = o.admin || o.fixture.saveState != "" // else nobody can ask for it
		db, err := store.Open(ctx, o.fixtures, options)
		if err != nil {
			return nil, err
		}
		return o.inProcess(ctx, opts, doc, db)
	}
	s, err := o.newSim(doc, opts)
	if err != nil {
		return nil, err
	}
	return &state{sim: s, seed: opts.Seed}, nil
}

// load loads the contract. An API description is compiled in memory, when
// --approve says what of it may be served.
func (o *serveOptions) load(path, from string) (*air.Document, error) {
	c, err := readContract(path)
	if err != nil {
		return nil, contractError(path, from, err)
	}
	if !c.description {
		if err := c.refuse(o.describe.refuse(path)); err != nil {
			return nil, err
		}
		return c.parse()
	}
	doc, err := o.describe.compile(path, c)
	if err != nil {
		return nil, err
	}
	served, err := doc.Served("")
	if err != nil {
		return nil, err
	}
	o.say("compiled %s: %s, %d served (--approve %s)", path, plural.Of(len(doc.Operations), "operation"), len(served), o.describe.approve)
	faults := compile.Faults(doc)
	for _, f := range faults[:min(len(faults), mostFaults)] {
		o.say("%s", f)
	}
	if n := len(faults) - mostFaults; n > 0 {
		o.say("and %d more errors in the description: 'anvil-sim compile %s --verbose --out DIR' tells them", n, path)
	}
	if len(served) == 0 {
		o.say("warning: nothing is served, every call is answered by 404: %s", compile.WhyNothing(doc, o.describe.approve))
	}
	return doc, nil
}

// mostFaults is how many errors of a description serve prints.
const mostFaults = 5

// newSim makes the simulator, with the value check when it is asked for.
func (o *serveOptions) newSim(doc *air.Document, opts *sim.Options) (*sim.Simulator, error) {
	if o.validate {
		opts.Values = values.New(doc)
	}
	return sim.New(doc, opts)
}

// findContract says which contract is served and why; "" when none is named.
func (o *serveOptions) findContract() (path, from string) {
	if path, from = namedContract(o.streams, o.contract); path != "" {
		return path, from
	}
	for _, name := range []string{"air.yaml", "air.json"} {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name, "in the current folder; --contract names another"
		}
	}
	return "", ""
}

func (o *serveOptions) openDemo(ctx context.Context, opts *sim.Options) (*state, error) {
	doc, err := air.Parse("demo/air.yaml", demoContract)
	if err != nil {
		return nil, err
	}
	o.say("no contract and no state given: serving the built-in helpdesk demo")
	db, err := store.OpenSQL(ctx, demoFixtures, &store.Options{Contract: doc, Seed: opts.Seed, Log: o.admin})
	if err != nil {
		return nil, err
	}
	st, err := o.inProcess(ctx, opts, doc, db)
	if err == nil {
		st.demo = true
	}
	return st, err
}

// inProcess serves from a fixture database without a pipe. Without a contract
// the database derives one from its tables.
func (o *serveOptions) inProcess(ctx context.Context, opts *sim.Options, doc *air.Document, db *store.DB) (*state, error) {
	fail := func(err error) (*state, error) { return nil, errors.Join(err, db.Close(ctx)) }
	if doc == nil {
		text, err := db.Contract()
		if err != nil {
			return fail(err)
		}
		if doc, err = air.Parse(o.fixtures, text); err != nil {
			return fail(fmt.Errorf("contract derived from the tables: %w", err))
		}
		o.say("contract: derived from the tables of %s", o.fixtures)
	}
	opts.Provider = &deadline{db, o.timeout()}
	s, err := o.newSim(doc, opts)
	if err != nil {
		return fail(err)
	}
	if _, err := db.Initialize(ctx, s.InitializeParams()); err != nil {
		return fail(err)
	}
	return &state{sim: s, stop: db.Close, seed: opts.Seed, stateful: true, resetter: db, snapshotter: db}, nil
}

// startProvider starts the provider process and, when there is no contract,
// asks it for one.
func (o *serveOptions) startProvider(ctx context.Context, opts *sim.Options, doc *air.Document, path string) (*state, error) {
	so := stdio.Options{Command: o.provider, Timeout: o.timeout(), Stderr: o.streams.Err, Warn: func(line string) { o.say("%s", line) }}
	if exe, err := os.Executable(); err == nil {
		// So that "anvil-sim provider ..." is found from go run and ./anvil-sim too.
		so.PathAppend = []string{filepath.Dir(exe)}
	}
	if path != "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		vars, err := o.describe.env()
		if err != nil {
			return nil, err
		}
		so.Env = append(append(so.Env, "ANVIL_CONTRACT="+abs), vars...)
	}
	p, err := stdio.Start(ctx, so)
	if err != nil {
		return nil, err
	}
	opts.Provider = p
	s, methods, err := o.introduce(ctx, p, opts, doc)
	if err != nil {
		o.dismiss(p)
		return nil, err
	}
	st := &state{sim: s, died: p.Done(), err: p.Err, exit: p.ExitCode, cut: p.Killed, stop: p.Close, seed: opts.Seed, stateful: true}
	if slices.Contains(methods, provider.MethodReset) {
		st.resetter = p
	}
	if slices.Contains(methods, provider.MethodSnapshot) {
		st.snapshotter = p
	}
	return st, nil
}

// refusedGrace is how long a provider that is not wanted may take to end.
const refusedGrace = 2 * time.Second

// dismiss ends a provider that will not be used: why is the news, not how it
// went.
func (o *serveOptions) dismiss(p *stdio.Process) {
	ctx, cancel := context.WithTimeout(o.hard, refusedGrace)
	defer cancel()
	_ = p.Close(ctx)
}

// introduce tells the provider what will be served and learns what it can do
// beyond protocol version 1.
func (o *serveOptions) introduce(ctx context.Context, p *stdio.Process, opts *sim.Options, doc *air.Document) (*sim.Simulator, []string, error) {
	if doc != nil {
		s, err := o.newSim(doc, opts)
		if err != nil {
			return nil, nil, err
		}
		result, err := p.Initialize(ctx, s.InitializeParams())
		if err != nil {
			return nil, nil, err
		}
		return s, result.Methods, nil
	}
	result, err := p.Initialize(ctx, &provider.InitializeParams{
		ProtocolVersion: provider.ProtocolVersion, Simulator: opts.Name, Seed: opts.Seed,
		Operations: []provider.Operation{},
	})
	if err != nil {
		return nil, nil, err
	}
	if result.Contract == nil {
		return nil, nil, cli.WithHint(errors.New("no contract to serve: none was given and the provider brings none"),
			"pass --contract with a bundle directory or an air.yaml, set ANVIL_CONTRACT, or run in a folder with an air.yaml")
	}
	if doc, err = air.Parse("contract of the provider", result.Contract); err != nil {
		return nil, nil, err
	}
	o.say("contract: from the provider (service %s)", doc.Service.ID)
	s, err := o.newSim(doc, opts)
	return s, result.Methods, err
}
