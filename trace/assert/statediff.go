package assert

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/anvil-sim/anvil/internal/canon"
)

// ReadStateDiff reads the tables that changed from what 'anvil-sim fixtures diff
// --json' printed: JSON values, one or many, in which an object with a text
// under "table" tells of a change there, and one under "tables" of many: a list
// of such objects or names, or an object whose keys are tables. An object whose
// counts are all 0 tells that nothing changed. The list is sorted and not nil.
func ReadStateDiff(data []byte) ([]string, error) {
	tables := []string{}
	rest := bytes.TrimSpace(data)
	if v, err := canon.Parse(rest, canon.Strict); err == nil {
		return collect(tables, v)
	}
	for i, line := range bytes.Split(rest, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := canon.Parse(line, canon.Strict)
		if err != nil {
			return nil, fmt.Errorf("line %d is not JSON: %w", i+1, err)
		}
		if tables, err = collect(tables, v); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(rest) == 0 {
		return nil, fmt.Errorf("the file is empty, want what 'anvil-sim fixtures diff --json' printed")
	}
	return tables, nil
}

func collect(tables []string, v *canon.Value) ([]string, error) {
	add := func(name string, detail *canon.Value) {
		if !unchanged(detail) && !slices.Contains(tables, name) {
			tables = append(tables, name)
		}
	}
	list := v.Elems()
	if v.Is(canon.Object) {
		t := v.Get("tables")
		switch {
		case v.Get("table").Is(canon.String):
			add(v.Get("table").Text(), v)
		case t.Is(canon.Object):
			for _, m := range t.Members() {
				add(m.Key, m.Value)
			}
		case t.Is(canon.Array):
			list = t.Elems()
		case v.Get("type") == nil:
			return nil, fmt.Errorf("found %.60s, want an object with table or tables", v)
		}
	}
	for _, e := range list {
		name := e.Get("table")
		if name == nil {
			name = e.Get("name")
		}
		if e.Is(canon.String) {
			name = e
		}
		if !name.Is(canon.String) {
			return nil, fmt.Errorf("found %.60s, want a table", e)
		}
		add(name.Text(), e)
	}
	slices.Sort(tables)
	return tables, nil
}

// unchanged reports whether a table's counts are there and all 0, or its lists
// all empty.
func unchanged(v *canon.Value) bool {
	counted := false
	for _, m := range v.Members() {
		switch {
		case m.Value.Is(canon.Number) && m.Key != "rows":
			counted = true
			if m.Value.Float() != 0 {
				return false
			}
		case m.Value.Is(canon.Array):
			counted = true
			if len(m.Value.Elems()) > 0 {
				return false
			}
		}
	}
	return counted
}
