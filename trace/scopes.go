package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/near"
)

// checkScopes looks for the calls that patterns of one operation are for, in the
// runs that were compared: the first ones are the baseline's. A pattern without
// any is a mistake.
func (d *differ) checkScopes(ctx context.Context, runs []run, baselines int) error {
	left := slices.Clone(d.bySeq.scopes)
	if len(left) == 0 {
		return nil
	}
	known := map[string]bool{}
	for i := range runs {
		src := d.a
		if i >= baselines {
			src = d.b
		}
		if err := findScopes(ctx, newLineReader(src, runs[i].offset, runs[i].end, runs[i].line), &left, known); err != nil || len(left) == 0 {
			return err
		}
	}
	return unknownName(d.scopeOption(left[0].text), left[0].name, slices.Sorted(maps.Keys(known)))
}

// findScopes takes the scopes off left that a call has, and notes the names of
// operations and tools.
func findScopes(ctx context.Context, lines *lineReader, left *[]scope, known map[string]bool) error {
	for n := 0; len(*left) > 0; n++ {
		ln, err := lines.read()
		if err == io.EOF {
			return nil
		}
		if err == nil && n%4096 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		text := bytes.Trim(ln.text, " \t\r")
		tool, op := textOf(lookup(text, "tool")), textOf(lookup(text, "operationId"))
		known[tool], known[op] = true, true
		*left = slices.DeleteFunc(*left, func(s scope) bool { return s.holds(tool, op) })
	}
	return nil
}

// scopeOption is the option that gave a pattern.
func (d *differ) scopeOption(text string) string {
	switch {
	case slices.Contains(d.opts.Ignore, text):
		return "--ignore"
	case slices.Contains(d.opts.Rename, text):
		return "--rename"
	}
	return "--tolerance"
}

// unknownName is the error about an operation or tool that no call has.
func unknownName(option, name string, known []string) error {
	e := &OptionError{Option: option, Msg: fmt.Sprintf("no call has the name %q", name)}
	known = slices.DeleteFunc(known, func(s string) bool { return s == "" })
	if names := near.Names(name, known); len(names) > 0 {
		e.Next = "did you mean " + strings.Join(names, " or ") + "?"
	} else if len(known) > 0 && len(known) <= 8 {
		e.Next = "the calls have " + clean(strings.Join(known, ", "))
	}
	return e
}
