package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A whole run of programs that do nothing.
func TestGrow(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	var out bytes.Buffer
	args := []string{"grow", "--short", "--json", "--anvil-sim", self(t), "--anvil-trace", "/bin/true"}
	if err := dispatch(t.Context(), args, nil, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	var rep figures
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	kinds := map[string]int{}
	for _, r := range rep.Rows {
		for _, kind := range []string{"operations", "connections", "rows", "calls", "tape"} {
			if strings.Contains(r.Name, kind) {
				kinds[kind]++
			}
		}
	}
	for kind, want := range map[string]int{"operations": 3, "connections": 3, "rows": 3, "calls": 6, "tape": 6} {
		if kinds[kind] != want {
			t.Errorf("%d figures of %s, want %d", kinds[kind], kind, want)
		}
	}
	for _, bad := range [][]string{{"--rounds", "0"}, {"more"}, {"--none"}} {
		if err := dispatch(t.Context(), append([]string{"grow"}, bad...), nil, io.Discard, nil); err == nil {
			t.Errorf("grow %q is taken", bad)
		}
	}
}

// A program that fails is no measurement.
func TestGrowNotices(t *testing.T) {
	g := &growth{traceBinary: "/bin/sh", dir: t.TempDir(), rep: newFigures("grow", 1)}
	if _, err := g.run(t.Context(), "-c", "exit 2"); err == nil || !strings.Contains(err.Error(), "exit code 2, want one of [0 1]") {
		t.Errorf("error %v", err)
	}
	if _, err := g.diff(t.Context(), 10); err == nil {
		t.Error("a shell is taken for anvil-trace")
	}
	said, err := os.Create(filepath.Join(g.dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	g.said, g.Binary = said, "/bin/cat"
	if _, err := g.tapes(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "want a URL; it said: ") {
		t.Errorf("error %v", err)
	}
}

// The factor is 1 where ten times the work costs ten times as much.
func TestGrew(t *testing.T) {
	f := newFigures("some", 1)
	f.grew("one", "ms", 2, 0)
	f.grew("ten", "ms", 20, 2)
	f.grew("hundred", "ms", 600, 20)
	if a, b, c := f.Rows[0], f.Rows[1], f.Rows[2]; a.LimitName != "" || b.Ratio != 1 || c.Ratio != 3 || c.Limit != 200 {
		t.Errorf("figures %+v, %+v, %+v; want no ratio, 1, 3", a, b, c)
	}
}
