package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A twister makes values and others that differ a little from them.
type twister struct{ *rand.Rand }

func (r twister) scalar() string {
	return []string{`1`, `2`, `3`, `1.0`, `1.05`, `"T-1"`, `"T-2"`, `"T-3"`, `"\u0054-1"`, `"a/T-1/b"`, `"a/T-2/b"`, `null`, `true`, `"2026-01-01T00:00:00Z"`,
		`"2026-01-02T00:00:00Z"`, `""`, `"r1"`, `"00000000-0000-0000-0000-00000000000` + string("12"[r.IntN(2)]) + `"`}[r.IntN(18)]
}

func (r twister) value(depth int) string {
	switch n := r.IntN(6); {
	case n < 3 || depth == 0:
		return r.scalar()
	case n == 3:
		return r.array(depth)
	}
	return r.object(depth)
}

func (r twister) array(depth int) string {
	elems := make([]string, r.IntN(4))
	for i := range elems {
		elems[i] = r.object(depth - 1)
		if r.IntN(5) == 0 {
			elems[i] = r.value(depth - 1)
		}
	}
	return "[" + strings.Join(elems, ",") + "]"
}

func (r twister) object(depth int) string {
	var members []string
	for _, i := range r.Perm(6)[:r.IntN(4)] {
		key := []string{"id", "x_id", "score", "next", "meta", "\\u0069d"}[i]
		members = append(members, `"`+key+`":`+r.value(max(0, depth-1)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// line is a call; the other run's differs from it in some texts.
func (r twister) line(seq int) (a, b string) {
	tool := []string{`"t_get"`, `"t_list"`, `null`}[r.IntN(3)]
	a = fmt.Sprintf(`{"schema":"%s","seq":%d,"requestId":"r%d","tool":%s,"request":{"method":"GET","path":"/t/T-%d","query":%s,"headers":%s},"normalized":{"params":{"path":{"id":"T-%d"}}},"provider":%s,"status":200,"response":%s}`,
		Schema, seq, seq, tool, 1+r.IntN(3), r.object(1), r.object(1), 1+r.IntN(3), r.value(3), r.value(3))
	b = a
	for range r.IntN(4) {
		old := []string{`T-1`, `T-2`, `1.0`, `:1`, `2026-01-01`, `"score"`, `"id"`, `null`, `[`, `},{`}[r.IntN(10)]
		instead := []string{`T-2`, `T-3`, `1`, `:1.05`, `2026-01-02`, `"meta"`, `"x_id"`, `3`, `[{"id":1},`, `},{"id":2},{`}[r.IntN(10)]
		at := r.IntN(len(b))
		if i := strings.Index(b[at:], old); i >= 0 && at+i > len(headPrefix)+30 {
			b = b[:at+i] + strings.Replace(b[at+i:], old, instead, 1+r.IntN(3))
		}
	}
	return a, b
}

// FuzzQuickAgrees: a report says the same whether lines are compared in place
// first or all parsed.
func FuzzQuickAgrees(f *testing.F) {
	for i := range 400 {
		f.Add(uint64(i), uint16(i*7))
	}
	f.Fuzz(func(t *testing.T, seed uint64, mode uint16) {
		r := twister{rand.New(rand.NewPCG(seed, 1))}
		var a, b strings.Builder
		for i := range 1 + r.IntN(4) {
			x, y := r.line(i + 1)
			a.WriteString(x + "\n")
			b.WriteString(y + "\n")
		}
		o := DiffOptions{Workers: 1, Max: -1, Align: []Align{AlignAuto, AlignSeq, AlignCall}[mode%3]}
		pick := func(bit uint16, list ...string) []string {
			if mode&bit == 0 {
				return nil
			}
			return list[:1+r.IntN(len(list))]
		}
		o.Ignore = pick(8, "/provider/meta", "/**/score", "/response/*/id", "/request/headers")
		o.Only = pick(16, "/response", "/provider/*/id", "/response/*/*/score", "/**/next")
		o.Rename = pick(32, "ids", "times", "/**/next", "cursors")
		for _, text := range pick(64, "/**/score=0.1", "10%", "/response=2") {
			tol, err := ParseTolerance(text)
			if err != nil {
				t.Fatal(err)
			}
			o.Tolerance = append(o.Tolerance, tol)
		}
		show := func(parseAll bool) (string, error) {
			o.parseAll = parseAll
			rep, err := Diff(context.Background(), text("a", a.String()), text("b", b.String()), &o)
			if err != nil {
				return "", err
			}
			var buf bytes.Buffer
			err = errors.Join(rep.WriteText(&buf, false), rep.WriteJSON(&buf))
			return buf.String(), err
		}
		parsed, err := show(true)
		if err != nil {
			return // a key twice, which only the parser sees
		}
		if quick, err := show(false); quick != parsed || err != nil {
			t.Errorf("%+v\n%s%sin place first (%v):\n%s\nall parsed:\n%s", o, a.String(), b.String(), err, quick, parsed)
		}
	})
}
