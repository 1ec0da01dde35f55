package trace

import (
	"slices"
	"strings"
	"sync"
)

// names are the exact tools and operations of a filter, with what the calls have.
type names struct {
	tools, operations []string
	seenTools         sync.Map // of the calls, by name
	seenOperations    sync.Map
}

// expect notes the names that calls must have.
func (f *Filter) expect(s *Selector) {
	n := &names{tools: exactNames(s.Tool), operations: exactNames(s.Operation)}
	if len(n.tools)+len(n.operations) > 0 {
		f.names = n
	}
}

func exactNames(list []string) (out []string) {
	for _, name := range list {
		if !strings.Contains(name, "*") {
			out = append(out, name)
		}
	}
	return out
}

func (n *names) note(v *View) {
	if n == nil {
		return
	}
	for _, side := range []struct {
		want []string
		seen *sync.Map
		get  func(*View) string
	}{{n.tools, &n.seenTools, (*View).Tool}, {n.operations, &n.seenOperations, (*View).Operation}} {
		if len(side.want) > 0 {
			name := side.get(v)
			if _, ok := side.seen.Load(name); !ok {
				side.seen.Store(strings.Clone(name), true)
			}
		}
	}
}

// Unknown is an *OptionError about a tool or operation of the selector, without
// a *, that none of the calls had which [Select] has read; nil when each was there.
func (f *Filter) Unknown() error {
	if f.names == nil {
		return nil
	}
	for _, side := range []struct {
		option string
		want   []string
		seen   *sync.Map
	}{{"--tool", f.names.tools, &f.names.seenTools}, {"--operation", f.names.operations, &f.names.seenOperations}} {
		var known []string
		side.seen.Range(func(name, _ any) bool {
			known = append(known, name.(string))
			return true
		})
		slices.Sort(known)
		for _, name := range side.want {
			if !slices.Contains(known, name) {
				return unknownName(side.option, name, known)
			}
		}
	}
	return nil
}
