package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/store"
)

// fixtureFlags are the options of a fixture database, the same wherever one is
// served from.
type fixtureFlags struct {
	mapFile   string
	strict    bool
	saveState string
	now       string
	inPlace   bool
	readOnly  bool
}

// fixtureFlagNames are those that mean nothing without a fixture database.
var fixtureFlagNames = []string{"map", "strict", "save-state", "now", "in-place", "read-only"}

func (o *fixtureFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.mapFile, "map", "", "YAML file that overrides what is mapped by rule")
	f.BoolVar(&o.strict, "strict", false, "refuse parameters that no column takes")
	f.StringVar(&o.saveState, "save-state", "", "write the final state to this SQLite file on shutdown")
	f.StringVar(&o.now, "now", "", "start of the virtual clock, as 2026-01-31 or 2026-01-31T09:00:00Z (default 2026-01-01)")
	f.BoolVar(&o.inPlace, "in-place", false, "change the fixture file itself instead of a private copy")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse every write with policy_denied")
}

// options reads what flags alone cannot: the map, the time. What is left out of
// the fixture is told on stderr.
func (o *fixtureFlags) options(s cli.Streams, doc *air.Document, seed uint32) (*store.Options, error) {
	opts := &store.Options{Contract: doc, Seed: seed, Strict: o.strict, ReadOnly: o.readOnly, InPlace: o.inPlace, SaveState: o.saveState,
		Logf: tellOn(s.Err)}
	if o.now != "" {
		now, err := parseNow(o.now)
		if err != nil {
			return nil, err
		}
		opts.Now = now
	}
	if o.mapFile != "" {
		m, err := store.LoadMap(o.mapFile)
		if err != nil {
			return nil, err
		}
		opts.Map = m
	}
	return opts, nil
}

// tellOn prints what a fixture database has to say, a line each.
func tellOn(w io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintf(w, "anvil-sim: "+format+"\n", args...) }
}

func parseNow(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--now: found %q, want a date or a time as 2026-01-31T09:00:00Z", text)
}
