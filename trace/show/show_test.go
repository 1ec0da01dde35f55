package show

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; to write it: go test ./trace/show -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", path, diff)
	}
}

func recorded(t *testing.T, names ...string) trace.Input {
	t.Helper()
	var all []byte
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("../testdata/recorded", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	return trace.Input{Name: "run.jsonl", Reader: bytes.NewReader(all)}
}

// odd has what a timeline must not choke on.
const odd = `{"schema":"anvil.simulator.trace/v1","seq":0,"requestId":"r0","transport":"in_process","tool":"t_get","operationId":"t.get","request":{"input":{"n":9007199254740993}},"normalized":null,"provider":null,"result":{"ok":true,"output":1.10}}
{"schema":"anvil.simulator.trace/v1","seq":2,"requestId":"r2","transport":"in_process","tool":null,"operationId":null,"request":{"input":null},"result":{"ok":false,"error":{"code":"gone\u001b[31m"}}}
{"seq":3,"schema":"anvil.simulator.trace/v1"}
{"schema":"anvil.simulator.trace/v1","seq":4,"tool":"a\u202eb","request":{"method":"GET","path":"/a b%zz?x","query":{"q":["a&b","\u00e9"],"n":1}},"status":503,"response":"\ud800","source":{"name":"shop","seq":9}}
{"schema":"anvil.simulator.trace/v1","seq":5,"request":[1,"x"],"status":"200","result":7,"provider":{},"normalized":{"kind":1}}
`

func TestWrite(t *testing.T) {
	tests := []struct {
		name string
		in   func(t *testing.T) trace.Input
		opts *Options
	}{
		{"timeline.txt", func(t *testing.T) trace.Input { return recorded(t, "trace-numbering") }, nil},
		{"color.txt", func(t *testing.T) trace.Input { return recorded(t, "trace-numbering") }, &Options{Color: true}},
		{"runs.txt", func(t *testing.T) trace.Input { return recorded(t, "store-seed-1", "store-seed-42") }, &Options{Run: "all"}},
		{"last-run.txt", func(t *testing.T) trace.Input { return recorded(t, "store-seed-1", "store-seed-42") }, nil},
		{"odd.txt", func(t *testing.T) trace.Input { return trace.Input{Name: "-", Reader: strings.NewReader(odd)} }, nil},
		{"full.txt", func(t *testing.T) trace.Input { return recorded(t, "trace-numbering") }, &Options{Seqs: []Range{{4, 5}, {9, 9}}}},
		{"full-odd.txt", func(t *testing.T) trace.Input { return trace.Input{Name: "-", Reader: strings.NewReader(odd)} }, &Options{Seqs: []Range{{0, 9}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Write(context.Background(), &out, tt.in(t), tt.opts); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name, out.String())
		})
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, in string
		opts     *Options
		want     string
	}{
		{"no such call", odd + odd, &Options{Seqs: []Range{{2, 2}, {6, 8}}}, "--seq: found no call from 6 to 8 in run.jsonl, which has calls 0 to 5"},
		{"no such run", odd, &Options{Run: "2"}, "--run: run.jsonl has 1 run(s), found run 2"},
		{"empty", "", nil, "run.jsonl: the trace is empty"},
		{"cut", odd[:len(odd)-9], nil, "line 5"},
		{"bad JSON inside", `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r","result":{"ok":tru` + "}}\n", &Options{Seqs: []Range{{1, 1}}}, "run.jsonl: line 1 (byte 0): is not an entry"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := Write(context.Background(), &out, trace.Input{Name: "run.jsonl", Reader: strings.NewReader(tt.in)}, tt.opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Write(ctx, new(bytes.Buffer), recorded(t, "store-seed-1"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Every recorded session shows, its calls in full too.
func TestRecordedSessions(t *testing.T) {
	files, err := filepath.Glob("../../testdata/conformance/sessions/*/trace.jsonl")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d traces, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			continue
		}
		var line, full bytes.Buffer
		if err := Write(context.Background(), &line, trace.Input{Name: file}, &Options{Run: "all"}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if err := Write(context.Background(), &full, trace.Input{Name: file}, &Options{Run: "all", Seqs: []Range{{0, 1 << 40}}}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		calls := bytes.Count(data, []byte("\n"))
		if got := strings.Count("\n"+full.String(), "\ncall "); got != calls {
			t.Errorf("%s: %d calls in full, want %d", file, got, calls)
		}
	}
}

// FuzzShow: a trace is shown or refused; nothing that a terminal acts on comes out.
func FuzzShow(f *testing.F) {
	f.Add([]byte(odd), true)
	f.Add([]byte(odd), false)
	f.Fuzz(func(t *testing.T, text []byte, full bool) {
		o := Options{Run: "all"}
		if full {
			o.Seqs = []Range{{0, 1 << 40}}
		}
		var out bytes.Buffer
		if err := Write(context.Background(), &out, trace.Input{Name: "-", Reader: bytes.NewReader(text)}, &o); err != nil {
			var in *trace.InputError
			if !errors.As(err, &in) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if i := bytes.IndexFunc(out.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0x202e }); i >= 0 {
			t.Fatalf("found %q in\n%q", out.Bytes()[i], out.Bytes())
		}
	})
}
