package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/replayer/tape"
)

// A whole run over small tapes.
func TestTape(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0") // each part would wait a second at its end
	s := tapeSettings{rounds: 1, bytes: 100 << 10, calls: 50, sizes: []int{10, 100}, body: 1 << 20}
	rep, err := measureTape(t.Context(), s, t.TempDir(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Loads) != 3 || len(rep.Lookups) != 2 || rep.Bytes < 100<<10 || rep.Bytes > 200<<10 {
		t.Fatalf("%+v", rep)
	}
	for _, l := range append(rep.Loads, rep.Body) {
		if l.Seconds <= 0 || l.PeakMB <= 1 || l.OfFile <= 0 || (l.OfGoVCR > 0) == (l == rep.Body) {
			t.Errorf("an impossible row: %+v", l)
		}
	}
	for _, l := range rep.Lookups {
		if l.Micros <= 0 {
			t.Errorf("an impossible row: %+v", l)
		}
	}
	var table, text bytes.Buffer
	if err := rep.table(&table); err != nil || !strings.Contains(table.String(), "50 interactions") {
		t.Errorf("%v\n%s", err, table.String())
	}
	if err := json.NewEncoder(&text).Encode(rep); err != nil || !strings.Contains(text.String(), `"of_go_vcr"`) {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// The tape that is measured says what it is meant to say.
func TestWriteTape(t *testing.T) {
	dir := t.TempDir()
	if err := writeTape(filepath.Join(dir, "t.yaml"), 9, 20_000); err != nil {
		t.Fatal(err)
	}
	got, err := tape.LoadFile(filepath.Join(dir, "t.yaml"))
	if err != nil || len(got.Interactions) != 9 {
		t.Fatal(got, err)
	}
	for i, it := range got.Interactions {
		if it.Request.URL != tapeURL(i) || string(it.Response.Body) != tapeBody(i, 20_000/9-500) {
			t.Errorf("%s: %s", it.Request.URL, it.Response.Body)
		}
	}
	if err := writeBody(filepath.Join(dir, "b.yaml"), 1000); err != nil {
		t.Fatal(err)
	}
	if got, err = tape.LoadFile(filepath.Join(dir, "b.yaml")); err != nil || len(got.Interactions[0].Response.Body) != 19*54 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParseTape(t *testing.T) {
	s, err := parseTape([]string{"--short", "--json"}, io.Discard)
	if err != nil || s.rounds != 1 || s.bytes != 1<<20 || !s.json {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range [][]string{{"--rounds", "0"}, {"more"}, {"--none"}} {
		if _, err := parseTape(bad, io.Discard); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if err := measureTapePart(t.Context(), []string{"anvil"}, io.Discard); err == nil {
		t.Error("a part without its argument is taken")
	}
}
