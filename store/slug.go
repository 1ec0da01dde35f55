package store

import (
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/air"
)

// A namer hands out names that differ from one another.
type namer struct {
	fallback string // for a name of nothing
	used     map[string]bool
}

func newNamer(fallback string, reserved ...string) *namer {
	n := &namer{fallback: fallback, used: map[string]bool{}}
	for _, r := range reserved {
		n.used[r] = true
	}
	return n
}

func (n *namer) taken(name string) bool { return n.used[name] }

// unique returns name, or name_2, name_3, ... when it is taken.
func (n *namer) unique(name string) string {
	if name == "" {
		name = n.fallback
	}
	got := name
	for i := 2; n.used[got]; i++ {
		got = fmt.Sprintf("%s_%d", name, i)
	}
	n.used[got] = true
	return got
}

// slug spells a name as an id: snake_case of its ASCII letters and digits,
// beginning with a letter, at most 64 long; "" when nothing is left.
func slug(name string) string {
	var b strings.Builder
	for _, r := range air.SnakeCase(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "_") && b.Len() > 0:
			b.WriteByte('_')
		}
	}
	out := strings.Trim(b.String(), "_")
	if out != "" && (out[0] < 'a' || out[0] > 'z') {
		out = "t_" + out
	}
	return cut(out, 64)
}

// cut shortens an ASCII name.
func cut(name string, most int) string {
	return strings.TrimRight(name[:min(len(name), most)], "_")
}

// pathLiteral spells a table's name as one segment of a path, as a URL carries
// it: what a URL parser would encode or take apart is percent-encoded.
func pathLiteral(name string) string {
	if name == "." || name == ".." {
		return ""
	}
	const apart = "\"#<>?`{}^/\\%|"
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c <= ' ' || c >= 0x7F || strings.IndexByte(apart, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// paramName spells a column's name as a path parameter: what would end the
// parameter or the segment becomes a low line.
func paramName(name string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || strings.ContainsRune("{}/?#%\\", r) {
			return '_'
		}
		return r
	}, name)
}
