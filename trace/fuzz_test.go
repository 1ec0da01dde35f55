package trace

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

func seedTraces(f *testing.F) (traces [][]byte) {
	files, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil || len(files) == 0 {
		f.Fatalf("no traces to begin with (%v)", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		traces = append(traces, data)
	}
	return traces
}

// FuzzDiff: whatever is read, nothing panics, a trace equals itself, and the
// report is the same with any number of workers.
func FuzzDiff(f *testing.F) {
	traces := seedTraces(f)
	for i, a := range traces {
		f.Add(a, traces[(i+1)%len(traces)], "/provider/**", byte(i))
		f.Add(a, bytes.Replace(a, []byte(`:1`), []byte(`:1.0`), 3), "/**/id", byte(i))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, ignore string, mode byte) {
		o := DiffOptions{Ignore: []string{ignore}, Align: []Align{AlignAuto, AlignSeq, AlignCall}[mode%3], Bytes: mode&8 != 0,
			Run: []string{"last", "all", "1"}[mode/3%3], Max: int(mode/16) - 1, Workers: 1}
		if mode&16 != 0 {
			o.Only = []string{ignore, "/response/**"}
		}
		if mode&32 != 0 {
			o.Tolerance = []Tolerance{{Amount: "1%"}, {Path: ignore, Amount: "0.5"}}
		}
		if mode&64 != 0 {
			o.Rename = []string{"ids", "times", "/**/next"}
		}
		in := func(name string, data []byte) Input { return Input{Name: name, Reader: bytes.NewReader(data)} }
		show := func(r *Report, err error) string {
			if err != nil {
				return err.Error()
			}
			var buf bytes.Buffer
			if err := errors.Join(r.WriteText(&buf, false), r.WriteJSON(&buf)); err != nil {
				t.Fatal(err)
			}
			return buf.String()
		}
		one := show(Diff(context.Background(), in("a", a), in("b", b), &o))
		o.Workers = 3
		if three := show(Diff(context.Background(), in("a", a), in("b", b), &o)); one != three {
			t.Errorf("1 worker:\n%s\n3 workers:\n%s", one, three)
		}
		if r, err := Diff(context.Background(), in("a", a), in("a", a), &o); err == nil && !r.Equal() {
			t.Errorf("differs from itself: %s", show(r, err))
		}
		if r, err := Diff(context.Background(), in("a", a), in("a", append([]byte("\n"), a...)), &o); err == nil && !r.Equal() {
			t.Errorf("differs from itself after a blank line: %s", show(r, err))
		}
	})
}

// FuzzDiffValues: two calls differ exactly when their values do.
func FuzzDiffValues(f *testing.F) {
	for _, s := range []string{`1`, `1.0`, `10e-1`, `-0`, `1e400`, `9007199254740993`, `"a"`, `"\u0061"`, `"\ud800"`, `null`, `true`, `[]`, `{}`,
		`[{"id":1},{"id":2}]`, `[{"id":2},{"id":1}]`, `{"a":1,"b":[1,2]}`, `{"b":[1,2.0],"a":1}`, `{"\u0061":1}`, `[1,2,3]`, `[1,3]`} {
		f.Add([]byte(s), []byte(`1`))
		f.Add([]byte(s), []byte(s+" "))
		f.Add([]byte(`[`+s+`]`), []byte(`{"a":`+s+`}`))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		va, errA := canon.Parse(a, canon.Strict)
		vb, errB := canon.Parse(b, canon.Strict)
		if errA != nil || errB != nil || bytes.ContainsAny(a, "\n") || bytes.ContainsAny(b, "\n") {
			return
		}
		want := bytes.Equal(canon.AppendIdentity(nil, va), canon.AppendIdentity(nil, vb))
		la := string((&Entry{Seq: 1, RequestID: "r1", Request: []byte(`{"method":"GET"}`), Status: 200, Response: a}).AppendLine(nil))
		lb := string((&Entry{Seq: 1, RequestID: "r1", Request: []byte(`{"method":"GET"}`), Status: 200, Response: b}).AppendLine(nil))
		r, err := Diff(context.Background(), text("a", la), text("b", lb), &DiffOptions{Workers: 1})
		if deep := errors.As(err, new(*canon.SyntaxError)) && strings.Contains(err.Error(), "nested deeper"); deep {
			return
		}
		if err != nil || r.Equal() != want {
			t.Fatalf("equal values: %v; %v, %+v", want, err, r)
		}
		if r, err = Diff(context.Background(), text("a", la), text("b", lb), &DiffOptions{Workers: 1, Ignore: []string{"/response"}}); err != nil || !r.Equal() {
			t.Fatalf("ignored: %v, %+v", err, r)
		} else if counted := !r.Identical && r.Ignored[0] == 1; counted == want && !r.Identical {
			t.Fatalf("equal values: %v; ignored %v", want, r.Ignored)
		}
		if r, err = Diff(context.Background(), text("a", la), text("b", lb), &DiffOptions{Workers: 1, Bytes: true}); err != nil || r.Equal() != (la == lb) {
			t.Fatalf("bytes: %v, %+v", err, r)
		}
	})
}

// FuzzQuick: what the walk calls equal, the parser does too, with the same
// counts.
func FuzzQuick(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":"r1"}`), []byte(`{"b":"r2","a":1.0}`), "/a", true)
	f.Add([]byte(`{"a":[{"id":1,"x":2}]}`), []byte(`{"a":[{"x":3,"id":1}]}`), "/**/x", false)
	f.Add([]byte(`{"a":{"x":"\u0061"}}`), []byte(`{"a":{"x":"a"}}`), "/a/*", false)
	f.Add([]byte(`{"a":{},"b":1}`), []byte(`{"b":1}`), "/a", false)
	f.Fuzz(func(t *testing.T, a, b []byte, ignore string, ids bool) {
		va, errA := canon.Parse(a, canon.Strict)
		vb, errB := canon.Parse(b, canon.Strict)
		pats, err := compilePatterns("--ignore", []string{ignore, "/seq"})
		if errA != nil || errB != nil || err != nil {
			return
		}
		q := quick{pats: pats, ignored: make([]int, 2)}
		c := comparer{pats: pats, ignored: make([]int, 2), room: -1}
		if ids {
			q.idA, q.idB, c.idA, c.idB = []byte(`"r1"`), []byte(`"r2"`), "r1", "r2"
		}
		c.values(va, vb, pats.start)
		yes := q.equalLines(a, b)
		if yes && (c.count > 0 || !slices.Equal(c.ignored, q.ignored)) {
			t.Errorf("walk: equal, ignored %v; parser: %d findings %+v, ignored %v", q.ignored, c.count, c.findings, c.ignored)
		}
		if !yes && !q.unsure && c.count == 0 {
			t.Errorf("walk: sure that they differ; parser: equal")
		}
	})
}

// FuzzAlign: every call of both runs is in the steps once, and pairs that are
// not moved are in order.
func FuzzAlign(f *testing.F) {
	f.Add([]byte("abcdefg"), []byte("axcdgfeb"))
	f.Add([]byte("aaaaaa"), []byte("aaa"))
	f.Add([]byte(""), []byte("x"))
	f.Add(bytes.Repeat([]byte("ab"), 2000), bytes.Repeat([]byte("ba"), 1500))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		checkAlignment(t, placesOf(x), placesOf(y))
	})
}

func asked(call uint64) place { return place{identity: identity{call: call}} }

func placesOf(b []byte) []place {
	out := make([]place, len(b))
	for i, c := range b {
		out[i] = asked(uint64(c))
		out[i].tool, out[i].answer = uint32(c&3), uint64(i&1)
	}
	return out
}

func checkAlignment(t *testing.T, a, b []place) (same int) {
	t.Helper()
	seenA, seenB := make([]int, len(a)), make([]int, len(b))
	last := int32(-1)
	for _, p := range alignCalls(a, b, nil, nil) {
		if p.a >= 0 {
			seenA[p.a]++
		}
		if p.b >= 0 {
			seenB[p.b]++
		}
		if p.a < 0 || p.b < 0 {
			continue
		}
		if a[p.a].call == b[p.b].call && !p.moved {
			if p.b <= last {
				t.Fatalf("pair %v is out of order", p)
			}
			last = p.b
			same++
		}
		if p.moved && a[p.a].call != b[p.b].call {
			t.Fatalf("%v moved and is another call", p)
		}
	}
	for _, seen := range [][]int{seenA, seenB} {
		if i := slices.IndexFunc(seen, func(n int) bool { return n != 1 }); i >= 0 {
			t.Fatalf("call %d stands %d times in the steps", i, seen[i])
		}
	}
	return same
}

func TestAlignThousandInserted(t *testing.T) {
	var a, b []place
	for i := range 50000 {
		c := asked(uint64(i % 700)) // requests repeat
		if i%50 == 7 {
			b = append(b, asked(uint64(1000000+i)))
		}
		a, b = append(a, c), append(b, c)
	}
	if same := checkAlignment(t, a, b); same != len(a) {
		t.Errorf("%d of %d calls paired", same, len(a))
	}
	if same := checkAlignment(t, b, a); same != len(a) {
		t.Errorf("%d of %d calls paired, other way round", same, len(a))
	}
}

func TestAlignFarApart(t *testing.T) {
	var a, b []place
	for i := range 20000 { // more edits than the exact search takes; anchors hold
		a = append(a, asked(uint64(i)), asked(uint64(1<<40+i)))
		b = append(b, asked(uint64(2<<40+i)), asked(uint64(i)))
	}
	if same := checkAlignment(t, a, b); same != 20000 {
		t.Errorf("%d calls paired in order, want 20000", same)
	}
}
