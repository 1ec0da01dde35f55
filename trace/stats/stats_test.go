package stats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/arrange"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, s *Stats) {
	t.Helper()
	var text, js bytes.Buffer
	if err := errors.Join(s.WriteText(&text), s.WriteJSON(&js)); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(js.Bytes()) {
		t.Errorf("no JSON: %s", js.String())
	}
	path, got := filepath.Join("testdata", name+".txt"), text.String()+"\n"+js.String()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; to write it: go test ./trace/stats -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", path, diff)
	}
}

func count(t *testing.T, in trace.Input, which string) *Stats {
	t.Helper()
	s, err := Count(context.Background(), in, which)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../testdata/recorded", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func input(text []byte) trace.Input {
	return trace.Input{Name: "run.jsonl", Reader: bytes.NewReader(text)}
}

func TestCount(t *testing.T) {
	golden(t, "numbering", count(t, input(recorded(t, "trace-numbering")), ""))
	two := append(recorded(t, "store-seed-1"), recorded(t, "store-seed-42")...)
	golden(t, "all-runs", count(t, input(two), "all"))
	golden(t, "in-process", count(t, input([]byte(`{"schema":"anvil.simulator.trace/v1","seq":1,"tool":"a","result":{"ok":true}}
{"schema":"anvil.simulator.trace/v1","seq":2,"tool":"a","result":{"ok":false,"error":{"code":"x\u0007"}}}
`)), ""))
	var merged bytes.Buffer
	err := arrange.Merge(context.Background(), &merged, "all",
		arrange.Source{Name: "shop", Input: input(recorded(t, "store-seed-1"))}, arrange.Source{Name: "bank", Input: input(recorded(t, "idem-header"))})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "merged", count(t, input(merged.Bytes()), ""))
}

// The sums are those of the lines, in every recorded session.
func TestSums(t *testing.T) {
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
		s := count(t, trace.Input{Name: file}, "all")
		lines, sum := bytes.Count(data, []byte("\n")), 0
		for _, r := range s.Rows {
			sum += r.Calls
		}
		statuses := 0
		for _, r := range s.sums(byStatus) {
			statuses += r.Calls
		}
		if sum != lines || statuses != lines || s.Side.Calls != lines || s.Bytes != int64(len(data)) {
			t.Errorf("%s: %d lines of %d bytes; rows %d, statuses %d, calls %d, bytes %d", file, lines, len(data), sum, statuses, s.Side.Calls, s.Bytes)
		}
		if ok := bytes.Count(data, []byte(`"result":{"ok":true`)); s.OK != ok {
			t.Errorf("%s: %d ok, want %d", file, s.OK, ok)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "run.jsonl: the trace is empty",
		`{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r","result":{"ok":true}x}` + "\n": "run.jsonl: line 1 (byte 0): is not an entry",
	} {
		if _, err := Count(context.Background(), input([]byte(text)), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
