package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// matchOptions are the options of every command that answers from recordings.
type matchOptions struct {
	match, ignore    []string
	afterLast, order string
	failMiss         bool
	failUnused       bool
	unusedFile       string
}

func (o *matchOptions) register(f *pflag.FlagSet) {
	f.StringArrayVar(&o.match, "match", nil, "compare this too: [OPERATION:]header.NAME, cookie.NAME, key, cursor, size, principal, tenant, host")
	f.StringArrayVar(&o.ignore, "ignore", nil, "leave this out of the comparison: [OPERATION:]query.NAME, path.NAME, body, body/JSON/POINTER")
	f.StringVar(&o.afterLast, "after-last", "error", "what an equal request gets after its last recorded answer: error, repeat or loop")
	f.StringVar(&o.order, "order", "causal", "order to insist on: causal, strict or free")
	f.BoolVar(&o.failMiss, "fail-miss", false, "exit 1 in the end when a request had no recorded answer")
	f.BoolVar(&o.failUnused, "fail-unused", false, "exit 1 in the end when a recorded answer was not used")
	f.StringVar(&o.unusedFile, "write-unused", "", "in the end write what was not used to this file, for 'cassette prune --unused'")
}

// options tell each miss on w.
func (o *matchOptions) options(w io.Writer) (*replayer.Options, error) {
	var mu sync.Mutex
	opts := &replayer.Options{
		Match: o.match, Ignore: o.ignore, AfterLast: replayer.AfterLast(o.afterLast), Order: replayer.Order(o.order),
		Missed: func(m *replayer.Miss) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(w, "anvil-sim: %s", m.Text())
		},
	}
	return opts, opts.Check()
}

// loadTapes reads recordings and says what of them cannot be replayed.
func loadTapes(w io.Writer, paths []string) ([]*tape.Tape, error) {
	tapes, err := tape.Load(paths...)
	if err != nil {
		return nil, err
	}
	for _, t := range tapes {
		sayEntries(w, t.Name+": left out", t.Skipped)
		sayEntries(w, t.Name+": note", t.Notes)
	}
	return tapes, nil
}

// mostSaid is how many entries of one kind are named before they are counted.
const mostSaid = 10

func sayEntries(w io.Writer, what string, entries []tape.Skip) {
	for _, e := range entries[:min(len(entries), mostSaid)] {
		fmt.Fprintf(w, "anvil-sim: %s: %s\n", what, e)
	}
	if n := len(entries) - mostSaid; n > 0 {
		fmt.Fprintf(w, "anvil-sim: %s: and %d more\n", what, n)
	}
}

// finish says how a replay went, lists what was not used, and is the error that
// --fail-miss and --fail-unused ask for.
func (o *matchOptions) finish(w io.Writer, s replayer.Stats) error {
	fmt.Fprintf(w, "anvil-sim: %d of %d recorded answers used, %d miss(es)\n", s.Used, s.Interactions, s.Misses)
	const most = 100
	for _, it := range s.Unused[:min(len(s.Unused), most)] {
		fmt.Fprintf(w, "anvil-sim: unused: %s %s\n", it.Place(), what(it))
	}
	if n := len(s.Unused) - most; n > 0 {
		fmt.Fprintf(w, "anvil-sim: unused: and %d more\n", n)
	}
	if err := o.writeUnused(s.Unused); err != nil {
		return err
	}
	var failed error
	if o.failMiss && s.Misses > 0 {
		failed = fmt.Errorf("%d request(s) had no recorded answer", s.Misses)
	}
	if o.failUnused && len(s.Unused) > 0 {
		failed = errors.Join(failed, fmt.Errorf("%d recorded answer(s) were not used", len(s.Unused)))
	}
	if failed != nil {
		return cli.Exit(cli.CodeNo, failed)
	}
	return nil
}

// writeUnused writes the whole list to the file that was asked for.
func (o *matchOptions) writeUnused(list []*tape.Interaction) error {
	if o.unusedFile == "" {
		return nil
	}
	var b strings.Builder
	for _, it := range list {
		fmt.Fprintf(&b, "%s %s\n", it.Place(), what(it))
	}
	return writeFile(o.unusedFile, []byte(b.String()))
}

// what names the call of an interaction.
func what(it *tape.Interaction) string {
	if it.HTTP() {
		return it.Request.Method + " " + it.Request.URL
	}
	return it.ID
}
