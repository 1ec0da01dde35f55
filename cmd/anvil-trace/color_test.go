package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/cli"
)

func TestColorOnTerminals(t *testing.T) {
	const line = `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","response":1}` + "\n"
	for _, noColor := range []string{"", "1"} {
		var out, errOut bytes.Buffer
		s := cli.Streams{In: strings.NewReader(strings.Replace(line, ":1}", ":2}", 1)), Out: &out, Err: &errOut,
			Env: func(key string) (string, bool) {
				if key == "NO_COLOR" {
					return noColor, true
				}
				return "", false
			},
			IsTerminal: func(any) bool { return true }}
		file := t.TempDir() + "/a.jsonl"
		writeFile(t, file, line)
		code := cli.Main(context.Background(), newRoot(s), []string{"diff", file, "-"}, s)
		if code != cli.CodeNo || errOut.Len() > 0 {
			t.Fatalf("code %d, %s", code, errOut.String())
		}
		if got := strings.Contains(out.String(), "\x1b[31m    - 1\x1b[0m\n"); got != (noColor == "") {
			t.Errorf("NO_COLOR=%q: colour %v\n%q", noColor, got, out.String())
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
