package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/compile"
)

// A part prints milliseconds and megabytes, of compiling and of parsing alike.
func TestCompilePart(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"made.json": string(madeDescription(20)), "a.yaml": "openapi: 3.0.3\ninfo: {title: A, version: '1'}\npaths: {}\n"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"compile", "parse"} {
			var out bytes.Buffer
			if err := dispatch(context.Background(), []string{"part-compile", what, file}, nil, &out, os.Stderr); err != nil {
				t.Fatalf("%s %s: %v", what, name, err)
			}
			var ms, mb float64
			if _, err := fmt.Sscan(out.String(), &ms, &mb); err != nil || ms <= 0 {
				t.Errorf("%s %s: printed %q (%v)", what, name, out.String(), err)
			}
		}
	}
	for _, args := range [][]string{{"part-compile"}, {"part-compile", "guess", "x"}, {"part-compile", "parse", filepath.Join(dir, "none")}} {
		if err := dispatch(context.Background(), args, nil, &bytes.Buffer{}, os.Stderr); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

// A made description has as many operations as it says, all of which compile.
func TestMadeDescription(t *testing.T) {
	r, err := compile.CompileText("made.json", madeDescription(40), nil)
	if err != nil || r.Compiled != 40 {
		t.Fatalf("%v, %v", r, err)
	}
	for _, d := range r.Diagnostics {
		if d.Level == "error" || !strings.HasPrefix(d.Code, "idempotency/") {
			t.Errorf("%+v", d)
		}
	}
}
