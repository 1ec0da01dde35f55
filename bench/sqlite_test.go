package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
)

// A whole run on a small table.
func TestSQLiteBench(t *testing.T) {
	args := []string{"sqlite", "--short", "--secs", "0.002", "--rows", "1000,2000"}
	var out bytes.Buffer
	if err := dispatch(t.Context(), append(args, "--json"), nil, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	var rep figures
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	if len(rep.Rows) != 2*10 || rep.Rounds != 1 {
		t.Errorf("%d rows, %d rounds; want 20 rows, 1 round", len(rep.Rows), rep.Rounds)
	}
	for _, r := range rep.Rows {
		if r.Value <= 0 || r.Limit <= 0 || r.Ratio <= 0 {
			t.Errorf("an impossible row: %+v", r)
		}
	}
	out.Reset()
	if err := dispatch(t.Context(), args, nil, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "page of 50, middle") || !strings.Contains(out.String(), "plain copy") {
		t.Errorf("table:\n%s", out.String())
	}
}

func TestParseStoreRun(t *testing.T) {
	s, err := parseStoreRun([]string{"--short", "--rows", "5000"}, io.Discard)
	if err != nil || s.Rounds != 1 || len(s.Sizes) != 1 || s.Sizes[0] != 5000 {
		t.Errorf("--short gives %+v, %v", s, err)
	}
	for _, bad := range [][]string{{"--rows", "x"}, {"--rows", "10"}, {"--rounds", "0"}, {"--secs", "-1"}, {"more"}, {"--none"}} {
		if _, err := parseStoreRun(bad, io.Discard); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
