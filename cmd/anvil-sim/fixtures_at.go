package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/store/changelog"
	"github.com/anvil-sim/anvil/store/fixture"
)

func newFixturesAt(s cli.Streams) *cobra.Command {
	var call int64
	var output string
	mode := fixture.New
	var force bool
	cmd := &cobra.Command{
		Use:   "at STATE --call N --output DB",
		Short: "Make the database that a saved state was after call N",
		Long: `Make the database that a saved state was after call N: the n-th call of the run, as
seq counts in the trace; 0 is the state before the first one. STATE is a file that
--save-state or GET /__anvil/state wrote: it carries the log of what each call
changed. The state itself stays as it is.

The commands that read a database take such a point too, as STATE@N.`,
		Example: `  anvil-sim fixtures at state.db --call 3 --output before.db
  anvil-sim fixtures diff state.db@3 state.db@7
  anvil-sim fixtures diff state.db@0 state.db`,
		Args: cli.Args("STATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !cmd.Flags().Changed("call"):
				return errors.New("--call names the call after which the state is wanted, found none; 0 is the first state")
			case call < 0:
				return fmt.Errorf("--call: found %d, want the number of a call, or 0 for the first state", call)
			case output == "":
				return errors.New("--output names the database file to make, found none")
			}
			if err := onlyRead(args[0], output); err != nil {
				return err
			}
			if force {
				mode = fixture.Replace
			}
			p := point{path: args[0], name: args[0], call: &call}
			if err := p.check(cmd.Context(), s); err != nil {
				return err
			}
			err := fixture.Derive(cmd.Context(), p.path, output, mode, func(db *fixture.DB) error {
				return changelog.Rewind(cmd.Context(), db, call)
			})
			if errors.Is(err, fixture.ErrExists) {
				return cli.WithHint(err, "--force replaces it")
			}
			return err
		},
	}
	f := cmd.Flags()
	f.Int64Var(&call, "call", 0, "number of the call, 0 for the first state")
	f.StringVarP(&output, "output", "o", "", "the database file to make")
	f.StringVar(&output, "out", "", "the same as --output")
	_ = f.MarkHidden("out")
	f.BoolVar(&force, "force", false, "replace an existing database")
	return cmd
}

// A point is a database as an argument names it: a file, or a saved state at a
// call.
type point struct {
	path string
	name string // as it was typed
	call *int64 // nil for the file as it is
}

// readPoint reads FILE or STATE@N. A file that is called so means itself.
func readPoint(arg string) point {
	p := point{path: arg, name: arg}
	at := strings.LastIndexByte(arg, '@')
	if at <= 0 {
		return p
	}
	n, err := strconv.ParseUint(arg[at+1:], 10, 63)
	if err != nil {
		return p
	}
	if _, err := os.Stat(arg); !errors.Is(err, fs.ErrNotExist) {
		return p
	}
	call := int64(n)
	p.path, p.call = arg[:at], &call
	return p
}

// check finds out whether there is a way back to the point, and says on stderr
// when it is beyond what the log tells of.
func (p point) check(ctx context.Context, s cli.Streams) error {
	last, err := changelog.Last(ctx, p.path)
	if errors.Is(err, changelog.ErrNoLog) {
		return cli.WithHint(err, "states that --save-state or GET /__anvil/state wrote carry one; a database without one is its own only state")
	}
	if err != nil {
		return err
	}
	if *p.call > last {
		fmt.Fprintf(s.Err, "anvil-sim: note: %s: the last call that wrote was %d, so the state after call %d is the final one\n", p.path, last, *p.call)
	}
	return nil
}

// open opens the database to read.
func (p point) open(ctx context.Context, s cli.Streams) (*fixture.DB, error) {
	if p.call == nil {
		return fixture.Open(p.path)
	}
	if err := p.check(ctx, s); err != nil {
		return nil, err
	}
	return changelog.Open(ctx, p.path, p.name, *p.call)
}

// withFixture opens a fixture database, or a saved state at a call, to read while
// work runs.
func withFixture(ctx context.Context, s cli.Streams, arg string, work func(db *fixture.DB) error) error {
	db, err := readPoint(arg).open(ctx, s)
	if err != nil {
		return err
	}
	return errors.Join(work(db), db.Close())
}
