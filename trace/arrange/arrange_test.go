package arrange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/trace"
)

const head = `{"schema":"anvil.simulator.trace/v1","seq":`

// lines makes a trace of the seqs; each line says who it is.
func lines(tag string, seqs ...int) string {
	var b strings.Builder
	for _, n := range seqs {
		fmt.Fprintf(&b, "%s%d,\"requestId\":\"r%d\",\"tag\":\"%s-%d\", \"n\":1.10}\n", head, n, n, tag, n)
	}
	return b.String()
}

func input(text string) trace.Input {
	return trace.Input{Name: "test.jsonl", Reader: strings.NewReader(text)}
}

func TestSort(t *testing.T) {
	tests := []struct {
		name, in, which, want string
		moved                 int
	}{
		{"in order", lines("a", 1, 2, 5), "all", lines("a", 1, 2, 5), 0},
		{"by completion", lines("a", 2, 1, 4, 3), "all", lines("a", 1, 2, 3, 4), 2},
		{"each run by itself", lines("a", 2, 1) + lines("b", 2, 1), "all", lines("a", 1, 2) + lines("b", 1, 2), 2},
		{"one run", lines("a", 2, 1) + lines("b", 2, 1), "last", lines("b", 1, 2), 1},
		{"carriage returns and a mark go, spaces stay", "\ufeff" + strings.ReplaceAll(lines("a", 2, 1), "\n", "\r\n\r\n"), "all", lines("a", 1, 2), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			moved, err := Sort(context.Background(), &out, input(tt.in), tt.which)
			if err != nil || out.String() != tt.want || moved != tt.moved {
				t.Errorf("moved %d, %v\n%s\nwant %d\n%s", moved, err, out.String(), tt.moved, tt.want)
			}
		})
	}
}

func TestMergeInOneOrder(t *testing.T) {
	var out bytes.Buffer
	err := Merge(context.Background(), &out, "all",
		Source{"shop", input(lines("s", 1, 2) + lines("t", 1))},
		Source{"bank", input(lines("b", 1, 3, 2) + lines("c", 1) + lines("d", 1))})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		_, rest, _ := strings.Cut(line, head)
		seq, _, _ := strings.Cut(rest, ",")
		_, rest, _ = strings.Cut(rest, `"tag":"`)
		tag, _, _ := strings.Cut(rest, `"`)
		got = append(got, seq+" "+tag)
	}
	want := "1 s-1, 2 b-1, 3 s-2, 4 b-3, 5 b-2, 1 t-1, 2 c-1, 1 d-1"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	const first = head + `1,"requestId":"r1","tag":"s-1", "n":1.10,"source":{"name":"shop","seq":1}}` + "\n"
	if line, _, _ := strings.Cut(out.String(), "\n"); line+"\n" != first {
		t.Errorf("got  %s\nwant %s", line, first)
	}
}

// memory collects what Split writes.
type memory struct{ parts map[string]*bytes.Buffer }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (m *memory) create(name string) (io.WriteCloser, error) {
	if m.parts == nil {
		m.parts = map[string]*bytes.Buffer{}
	}
	m.parts[name] = new(bytes.Buffer)
	return nopCloser{m.parts[name]}, nil
}

// Merge followed by Split gives every recorded trace back, byte for byte.
func TestSplitUndoesMerge(t *testing.T) {
	files, err := filepath.Glob("../testdata/recorded/*.jsonl")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d recorded traces, %v", len(files), err)
	}
	texts := map[string]string{}
	var sources []Source
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		texts[name] = string(data)
		sources = append(sources, Source{name, trace.Input{Name: file}})
	}
	var merged bytes.Buffer
	if err := Merge(context.Background(), &merged, "all", sources...); err != nil {
		t.Fatal(err)
	}
	var m memory
	parts, err := Split(context.Background(), input(merged.String()), BySource, m.create)
	if err != nil || len(parts) != len(files) {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	for name, want := range texts {
		if got := m.parts[name].String(); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestSplitRuns(t *testing.T) {
	var m memory
	parts, err := Split(context.Background(), input(lines("a", 1, 2)+lines("b", 2, 1)), ByRun, m.create)
	if err != nil || fmt.Sprint(parts) != "[{1 2} {2 2}]" {
		t.Fatalf("%v, %v", parts, err)
	}
	if m.parts["1"].String() != lines("a", 1, 2) || m.parts["2"].String() != lines("b", 2, 1) {
		t.Errorf("%v", m.parts)
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	merged := head + `1,"source":{"name":"x","seq":7}}` + "\n"
	merge := func(a, b Source) func() error {
		return func() error { return Merge(ctx, io.Discard, "all", a, b) }
	}
	split := func(text string, by By) func() error {
		return func() error {
			var m memory
			_, err := Split(ctx, input(text), by, m.create)
			return err
		}
	}
	one := func(name string) Source { return Source{name, input(lines(name, 1))} }
	tests := []struct {
		name string
		do   func() error
		want string
	}{
		{"one source", func() error { return Merge(ctx, io.Discard, "all", one("a")) }, "found 1 trace(s) to merge, want two or more"},
		{"a name twice", merge(one("a"), one("a")), `the source name "a" stands twice`},
		{"no name", merge(one("a"), one("")), "the source has no name"},
		{"merged already", merge(one("a"), Source{"b", input(merged)}), `test.jsonl: line 1 (byte 0): the call has a "source" already`},
		{"empty", merge(one("a"), Source{"b", input("")}), "the trace is empty"},
		{"bad line", merge(one("a"), Source{"b", input(head + `1,"x":nope}` + "\n")}), "line 1 (byte 0)"},
		{"no source", split(lines("a", 1), BySource), "the call has no source"},
		{"source with another shape", split(head+`1,"source":"x"}`+"\n", BySource), "the call has no source"},
		{"source first", split(`{"source":{"name":"x","seq":7},"schema":"anvil.simulator.trace/v1","seq":1}`+"\n", BySource), "the call has no source"},
		{"unknown", split(lines("a", 1), "day"), `--by: found "day", want run or source`},
		{"cut", split(lines("a", 1)+head+"2", ByRun), "line 2 (byte 85): the line is cut"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.do(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Sort(ctx, io.Discard, input(lines("a", 1)), "all"); !errors.Is(err, context.Canceled) {
		t.Errorf("sort: %v", err)
	}
	if _, err := Split(ctx, input(lines("a", 1)), ByRun, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("split: %v", err)
	}
}

// FuzzMergeSplit: what two traces hold comes back from their merged trace.
func FuzzMergeSplit(f *testing.F) {
	f.Add([]byte(lines("a", 1, 2)), []byte(lines("b", 2, 1)+lines("c", 1)))
	f.Add([]byte(`{ "seq" : 3 , "schema":"anvil.simulator.trace/v1"}`), []byte(head+"1}"))
	f.Add([]byte(head+`1,"source":null}`), []byte(head+`1,"a":"\"source\":{"}`))
	f.Add([]byte("\xef\xbb\xbf \t"+head+"9 } \r\n"), []byte(head+"0,\"so\\u0075rce\":1}"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		ctx := context.Background()
		var out bytes.Buffer
		in := func(name string, text []byte) trace.Input {
			return trace.Input{Name: name, Reader: bytes.NewReader(text)}
		}
		if err := Merge(ctx, &out, "all", Source{"a", in("a", a)}, Source{"b", in("b", b)}); err != nil {
			return
		}
		var m memory
		if _, err := Split(ctx, in("m", out.Bytes()), BySource, m.create); err != nil {
			t.Fatalf("%v in\n%s", err, out.Bytes())
		}
		for name, text := range map[string][]byte{"a": a, "b": b} {
			var want memory
			if _, err := Split(ctx, in(name, text), ByRun, want.create); err != nil {
				t.Fatal(err)
			}
			var all []byte
			for i := range len(want.parts) {
				all = append(all, want.parts[fmt.Sprint(i+1)].Bytes()...)
			}
			// Merge leaves blanks at the ends of lines out.
			if got := m.parts[name].Bytes(); !bytes.Equal(trimLines(got), trimLines(all)) {
				t.Fatalf("%s: %q\nwant %q", name, got, all)
			}
		}
	})
}

func trimLines(text []byte) (out []byte) {
	for line := range bytes.Lines(text) {
		out = append(append(out, bytes.TrimRight(line, " \t\r\n")...), '\n')
	}
	return out
}
