package tape_test

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/replayer/tape"
)

func TestMerge(t *testing.T) {
	of := func(text string) *tape.Tape {
		if text == "-" {
			return nil
		}
		rec := &tape.Tape{}
		for _, w := range strings.Fields(text) {
			rec.Interactions = append(rec.Interactions, &tape.Interaction{Request: tape.Request{Method: "GET", URL: w}, Response: tape.Response{Status: 200}})
		}
		return rec
	}
	for _, c := range []struct{ name, base, ours, theirs, want string }{
		{"duplicates", "-", "a b", "b c", "a b c"},
		{"polls stay", "-", "a a b", "a c", "a a b c"},
		{"both added", "a", "a b", "a c", "a b c"},
		{"both added the same", "a", "a b", "a b", "a b"},
		{"one took out", "a b c", "a c", "a b c d", "a c d"},
		{"both took out", "a b", "b", "b", "b"},
		{"one took one of three out", "a a a", "a a", "a a a", "a a"},
		{"nothing", "", "", "", ""},
	} {
		var got []string
		for _, it := range tape.Merge(of(c.base), of(c.ours), of(c.theirs)) {
			got = append(got, it.Request.URL)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}
