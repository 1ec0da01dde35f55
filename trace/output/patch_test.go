package output

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// apply applies a JSON Patch of add, remove and replace.
func apply(t *testing.T, doc *canon.Value, patch []byte) *canon.Value {
	t.Helper()
	ops, err := canon.Parse(patch, canon.Strict)
	if err != nil {
		t.Fatalf("%v in %s", err, patch)
	}
	for _, op := range ops.Elems() {
		segs := strings.Split(op.Get("path").Text(), "/")[1:]
		if op.Get("path").Text() == "" {
			segs = nil
		}
		doc = change(t, doc, segs, op.Get("op").Text(), op.Get("value"))
	}
	return doc
}

func change(t *testing.T, v *canon.Value, segs []string, op string, val *canon.Value) *canon.Value {
	t.Helper()
	if len(segs) == 0 {
		return val
	}
	seg, last := strings.NewReplacer("~1", "/", "~0", "~").Replace(segs[0]), len(segs) == 1
	if v.Is(canon.Object) {
		if last && (v.Get(seg) == nil) != (op == "add") {
			t.Fatalf("%s %q of %s", op, seg, v)
		}
		if last {
			return v.With(seg, val)
		}
		return v.With(seg, change(t, v.Get(seg), segs[1:], op, val))
	}
	elems := slices.Clone(v.Elems())
	i, err := strconv.Atoi(seg)
	if err != nil || i > len(elems) || i == len(elems) && op != "add" {
		t.Fatalf("%s %q of an array of %d", op, seg, len(elems))
	}
	switch {
	case !last:
		elems[i] = change(t, elems[i], segs[1:], op, val)
	case op == "add":
		elems = slices.Insert(elems, i, val)
	case op == "remove":
		elems = slices.Delete(elems, i, i+1)
	default:
		elems[i] = val
	}
	return canon.NewArray(elems...)
}

func input(name string, text []byte) trace.Input {
	return trace.Input{Name: name, Reader: bytes.NewReader(text)}
}

// list reads a run as one array, in the order in which it is compared.
func list(t *testing.T, text []byte, bySeq bool) *canon.Value {
	var out []*canon.Value
	for line := range bytes.Lines(text) {
		v, err := canon.Parse(line, canon.Strict)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if bySeq {
		slices.SortStableFunc(out, func(x, y *canon.Value) int { return int(x.Get("seq").Float() - y.Get("seq").Float()) })
	}
	return canon.NewArray(out...)
}

// checkPatch: what differs between a and b, applied to a, gives b; and no
// difference means that they are equal.
func checkPatch(t *testing.T, a, b []byte, align trace.Align) {
	t.Helper()
	r, err := trace.Diff(context.Background(), input("a", a), input("b", b), &trace.DiffOptions{Lines: true, Max: -1, Align: align, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WritePatch(&out, r); err != nil {
		t.Fatal(err)
	}
	bySeq := r.Align == trace.AlignSeq
	got, want := apply(t, list(t, a, bySeq), out.Bytes()), list(t, b, bySeq)
	if r.Align == trace.AlignCall { // seq and request ids of pairs that are otherwise equal are no difference
		got, want = unnumbered(got), unnumbered(want)
	}
	if !same(got, want) {
		t.Errorf("patch:\n%s\napplied:\n%s\nwant:\n%s", out.Bytes(), got, want)
	}
	if r.Equal() && !same(unnumbered(list(t, a, bySeq)), unnumbered(list(t, b, bySeq))) {
		t.Error("no difference, but they are not equal")
	}
	for _, format := range Formats() {
		var one, two bytes.Buffer
		if err := Write(&one, format, FromReport(r)); err != nil {
			t.Fatal(err)
		}
		if Write(&two, format, FromReport(r)) != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%s is not stable", format)
		}
	}
	if err := WriteUnified(&out, r); err != nil {
		t.Error(err)
	}
}

func unnumbered(v *canon.Value) *canon.Value {
	var out []*canon.Value
	for _, e := range v.Elems() {
		e = e.With("seq", nil).With("requestId", nil)
		if n := e.Get("normalized"); n.Is(canon.Object) {
			e = e.With("normalized", n.With("requestId", nil))
		}
		out = append(out, e)
	}
	return canon.NewArray(out...)
}

func TestPatchOfGoldenPairs(t *testing.T) {
	pairs, err := filepath.Glob("../testdata/diff/*.a.jsonl")
	if err != nil || len(pairs) == 0 {
		t.Fatalf("no pairs (%v)", err)
	}
	for _, file := range pairs {
		a, errA := os.ReadFile(file)
		b, errB := os.ReadFile(strings.Replace(file, ".a.", ".b.", 1))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		t.Run(filepath.Base(file), func(t *testing.T) { checkPatch(t, a, b, trace.AlignAuto) })
	}
}

// traceOf makes a small trace of bytes: each is a call, its bits say what is
// asked and what is answered.
func traceOf(data []byte, value string) []byte {
	var out bytes.Buffer
	for i, c := range data {
		fmt.Fprintf(&out, `{"schema":"anvil.simulator.trace/v1","seq":%d,"requestId":"r%d","tool":"t%d","request":{"method":"GET","path":"/%d"},"status":200,"response":{"items":[`,
			i+1, i+1, c&1, c&7)
		for k := range int(c >> 4 & 7) {
			fmt.Fprintf(&out, `{"id":%d,"v":%d},`, (k*3+int(c>>3))%11, int(c)%5)
		}
		fmt.Fprintf(&out, `0],"a/b~":%s}}`+"\n", value)
	}
	return out.Bytes()
}

// FuzzPatch checks the laws of differences over pairs of traces.
func FuzzPatch(f *testing.F) {
	f.Add([]byte("abcdef"), []byte("abxcdf"), `{"x":[1,2,3]}`, `{"x":[1,3],"y":null}`)
	f.Add([]byte("aaaa"), []byte("bbaa"), `1.0`, `1`)
	f.Add([]byte("\x11\x20\x31"), []byte("\x21\x10"), `"a"`, `"\u0061"`)
	f.Add([]byte("abc"), []byte("cba"), `[]`, `[[],{}]`)
	f.Fuzz(func(t *testing.T, x, y []byte, v, w string) {
		if len(x) == 0 || len(y) == 0 || len(x)+len(y) > 200 || len(v)+len(w) > 2000 || strings.ContainsAny(v+w, "\n\r") {
			return
		}
		for _, s := range []string{v, w} {
			parsed, err := canon.Parse([]byte(s), canon.Strict)
			if err != nil || strings.Count(s, "[")+strings.Count(s, "{") > 400 || parsed == nil {
				return
			}
		}
		for _, align := range []trace.Align{trace.AlignAuto, trace.AlignCall, trace.AlignSeq} {
			checkPatch(t, traceOf(x, v), traceOf(y, w), align)
		}
		checkPatch(t, traceOf(x, v), traceOf(x, v), trace.AlignAuto)
	})
}
