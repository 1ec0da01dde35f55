package air

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/anvil-sim/anvil/internal/canon"
)

// fieldTable states the keys of a document; its first lines say how to read it.
//
//go:embed fields.txt
var fieldTable string

// documentShape is the shape that fields.txt begins with, read once.
var documentShape = sync.OnceValue(func() *shape { return readTable(fieldTable) })

// keptWhole reports whether a key of the document may hold what nothing here
// looks into: a schema, an example.
func keptWhole(key string) bool { return keysKeptWhole()[key] }

var keysKeptWhole = sync.OnceValue(func() map[string]bool {
	keys := map[string]bool{}
	seen := map[*shape]bool{}
	var walk func(*valueType)
	walk = func(t *valueType) {
		for t.elem != nil {
			t = t.elem
		}
		shapes := slices.Collect(maps.Values(t.variants))
		for _, s := range append(shapes, t.shape) {
			if s == nil || seen[s] {
				continue
			}
			seen[s] = true
			for _, k := range s.fields {
				if k.typ.keptWhole() {
					keys[k.key] = true
				}
				walk(k.typ)
			}
		}
	}
	walk(&valueType{shape: documentShape()})
	return keys
})

func (t *valueType) keptWhole() bool {
	return t.kind == canon.Absent || t.kind == canon.Object && t.shape == nil && t.by == ""
}

// A shape is what an object may hold.
type shape struct {
	name   string
	closed bool // unknown keys are refused, not dropped
	fields []keySpec
	index  map[string]int
}

// A keySpec is one key of a shape.
type keySpec struct {
	key      string
	required bool
	fallback *Value // what an absent key becomes, nil when it stays absent
	typ      *valueType
}

// A valueType is what a value may be.
type valueType struct {
	kind     canon.Kind // Absent for any value
	integer  bool
	bounded  bool
	min, max float64 // of a number, or of a string's length in UTF-16 code units
	above    bool    // min itself is excluded
	format   string  // of a string
	enum     []string
	elem     *valueType        // of a list
	shape    *shape            // of an object; nil for a map
	by       string            // the key that tells which of variants an object is
	variants map[string]*shape // by the value of that key
	choices  []string          // the keys of variants in the table's order
}

// tableReader reads fields.txt, which is part of the program: a mistake in it
// is a programming error and panics.
type tableReader struct {
	shapes map[string]*shape
	order  []string
	enums  map[string][]string
}

func readTable(text string) *shape {
	r := tableReader{shapes: map[string]*shape{}, enums: map[string][]string{}}
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		if words := strings.Fields(line); len(words) > 0 && line[0] != ' ' && line[0] != '#' && words[0] != "enum" {
			r.shapes[words[0]] = &shape{name: words[0], closed: len(words) > 1, index: map[string]int{}}
			r.order = append(r.order, words[0])
		}
	}
	var current *shape
	for _, line := range lines {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || line[0] == '#':
		case words[0] == "enum":
			r.enums[words[1]] = strings.Split(words[2], "|")
		case line[0] != ' ':
			current = r.shapes[words[0]]
		default:
			k := keySpec{key: words[0], required: words[1] == "!", typ: r.typ(words[2])}
			if def, ok := strings.CutPrefix(words[1], "="); ok {
				k.fallback = must(canon.Parse([]byte(def), canon.Strict))
			}
			current.index[k.key] = len(current.fields)
			current.fields = append(current.fields, k)
		}
	}
	return r.shapes[r.order[0]]
}

// typ reads the type column.
func (r *tableReader) typ(text string) *valueType {
	if elem, ok := strings.CutPrefix(text, "["); ok {
		return &valueType{kind: canon.Array, elem: r.typ(strings.TrimSuffix(elem, "]"))}
	}
	if name, ok := strings.CutPrefix(text, "@"); ok {
		return &valueType{kind: canon.String, enum: r.enums[name]}
	}
	if strings.Contains(text, "|") {
		return &valueType{kind: canon.String, enum: slices.DeleteFunc(strings.Split(text, "|"), func(s string) bool { return s == "" })}
	}
	if name, key, ok := strings.Cut(text, "{"); ok {
		return r.union(name, strings.TrimSuffix(key, "}"))
	}
	if s, ok := r.shapes[text]; ok {
		return &valueType{kind: canon.Object, shape: s}
	}
	text, format, _ := strings.Cut(text, ":")
	name, bounds, bounded := strings.Cut(text, "(")
	t := &valueType{format: format, bounded: bounded, integer: name == "integer"}
	t.kind = map[string]canon.Kind{
		"string": canon.String, "integer": canon.Number, "number": canon.Number,
		"boolean": canon.Bool, "map": canon.Object, "any": canon.Absent,
	}[name]
	if bounded {
		t.bounds(strings.TrimSuffix(bounds, ")"))
	}
	return t
}

func (t *valueType) bounds(text string) {
	t.max = math.Inf(1)
	if low, ok := strings.CutPrefix(text, ">"); ok {
		t.above, t.min = true, must(strconv.ParseFloat(low, 64))
		return
	}
	low, high, _ := strings.Cut(text, "..")
	t.min = must(strconv.ParseFloat(low, 64))
	if high != "" {
		t.max = must(strconv.ParseFloat(high, 64))
	}
}

func (r *tableReader) union(prefix, by string) *valueType {
	t := &valueType{kind: canon.Object, by: by, variants: map[string]*shape{}}
	for _, name := range r.order {
		if choice, ok := strings.CutPrefix(name, prefix+"."); ok {
			t.variants[choice] = r.shapes[name]
			t.choices = append(t.choices, choice)
		}
	}
	return t
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("fields.txt: %v", err))
	}
	return v
}
