package assert

import (
	"fmt"
	"slices"

	"github.com/anvil-sim/anvil/internal/canon"
)

// ReadStateDiff reads the tables that changed from what 'anvil-sim fixtures diff
// --json' printed: those with rows that were added, removed or changed, and those
// of which a column or the table itself came or went. A view or a trigger that
// did is the table "" there and "(views and triggers)" here. The list is sorted
// and not nil.
func ReadStateDiff(data []byte) ([]string, error) {
	v, err := canon.Parse(data, canon.Strict)
	if err != nil {
		return nil, fmt.Errorf("want what 'anvil-sim fixtures diff --json' printed: %w", err)
	}
	if !v.Get("tables").Is(canon.Array) || !v.Get("schema").Is(canon.Array) || !v.Get("equal").Is(canon.Bool) {
		return nil, fmt.Errorf("found %.60s, want what 'anvil-sim fixtures diff --json' printed: an object with tables, schema and equal", v)
	}
	changed := []string{}
	for _, t := range v.Get("tables").Elems() {
		rows, err := changedRows(t)
		if err != nil {
			return nil, err
		}
		if rows {
			changed = append(changed, t.Get("table").Text())
		}
	}
	for _, fact := range v.Get("schema").Elems() {
		name := fact.Get("table")
		if !name.Is(canon.String) {
			return nil, fmt.Errorf("found %.60s under schema, want an object with table", fact)
		}
		if name.Text() == "" {
			name = canon.NewString("(views and triggers)")
		}
		changed = append(changed, name.Text())
	}
	if equal := v.Get("equal").True(); equal != (len(changed) == 0) {
		return nil, fmt.Errorf("says equal: %t and names %d table(s) that changed; write it again", equal, len(changed))
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

// changedRows reads the counts of one table.
func changedRows(t *canon.Value) (changed bool, err error) {
	if !t.Get("table").Is(canon.String) {
		return false, fmt.Errorf("found %.60s under tables, want an object with table", t)
	}
	for _, key := range []string{"added", "removed", "changed"} {
		n := t.Get(key)
		if !n.Is(canon.Number) {
			return false, fmt.Errorf("the table %s has no count under %q", t.Get("table").Text(), key)
		}
		changed = changed || n.Float() != 0
	}
	return changed, nil
}
