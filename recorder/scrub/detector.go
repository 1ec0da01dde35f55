package scrub

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/anvil-sim/anvil/internal/secretname"
)

// A preparedShape is a shape as it is searched for.
type preparedShape struct {
	tokenShape
	bytes []byte
}

// A detector knows what secrets look like.
type detector struct {
	shapes []preparedShape
}

func newDetector() *detector {
	d := &detector{}
	for _, s := range tokenShapes() {
		d.shapes = append(d.shapes, preparedShape{s, []byte(s.prefix)})
	}
	return d
}

// disjoint sorts spans and drops those inside others.
func disjoint(found []span) []span {
	if len(found) < 2 {
		return found
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	out := found[:1]
	for _, s := range found[1:] {
		if last := &out[len(out)-1]; s.from < last.to {
			last.to = max(last.to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// named finds "name = value", "name: value" and <name>value< with a telling name.
func named(text []byte, secret func(normal string) bool) []span {
	var found []span
	for at := 0; at < len(text); {
		k := bytes.IndexAny(text[at:], "=:>")
		if k < 0 {
			break
		}
		i := at + k
		at = i + 1
		name := nameBefore(text, i)
		if name == "" || !secret(secretname.Normal(name)) {
			continue
		}
		if from, to, ok := valueAfter(text, i); ok {
			found = append(found, span{from, to, "value of " + name})
			at = max(at, to)
		}
	}
	return found
}

// nameBefore is the name that ends before the separator at i.
func nameBefore(text []byte, i int) string {
	end := i
	for end > 0 && (text[end-1] == ' ' || text[end-1] == '"' || text[end-1] == '\'' || text[end-1] == '\\' || text[end-1] == ']') {
		end--
	}
	start := end
	for start > 0 && end-start < 64 && dashed.has(text[start-1]) {
		start--
	}
	if text[i] == '>' && (start == 0 || text[start-1] != '<' && text[start-1] != ':') {
		return "" // no element
	}
	return string(text[start:end])
}

// valueAfter is the value behind the separator at i, if it may be a secret: prose
// ("password: required") is not.
func valueAfter(text []byte, i int) (from, to int, ok bool) {
	from = i + 1
	for from < len(text) && from < i+8 && (text[from] == ' ' || text[from] == '"' || text[from] == '\'' || text[from] == '\\') {
		from++
	}
	if text[i] == ':' || text[i] == '=' {
		for _, scheme := range []string{"Bearer ", "Basic ", "Token ", "bearer ", "basic ", "token "} {
			if bytes.HasPrefix(text[from:], []byte(scheme)) {
				from += len(scheme)
			}
		}
	}
	to = from
	mixed := text[i] == '>'
	for to < len(text) {
		c := text[to]
		if c <= ' ' && text[i] != '>' || c == '<' || text[i] != '>' && bytes.IndexByte([]byte("\"'&,;>\\)}"), c) >= 0 {
			break
		}
		mixed = mixed || c >= '0' && c <= '9'
		to++
	}
	if text[i] == '=' && from == i+1 && to-from >= 8 {
		mixed = true
	}
	if to-from < 6 || !mixed && to-from < 20 || redacted(string(text[from:to])) {
		return 0, 0, false
	}
	return from, to, true
}
