package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/cli"
)

// command runs the program in this process.
func command(stdin string, args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	s := cli.Streams{In: strings.NewReader(stdin), Out: &o, Err: &e}
	code = cli.Main(context.Background(), newRoot(s), args, s)
	return code, o.String(), e.String()
}

// FuzzFilter: what a filter chooses is as many lines as it counts, chooses the
// same again, and with the rest it is the whole.
func FuzzFilter(f *testing.F) {
	files, err := filepath.Glob("../../trace/testdata/*/*.jsonl")
	if err != nil || len(files) == 0 {
		f.Fatalf("no traces to begin with (%v)", err)
	}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), "--status", []string{"2xx", "404", "200,4xx"}[i%3])
		f.Add(string(data), "--tool", "*_get*")
		f.Add(string(data), "--seq", "2-4")
		f.Add(string(data), "--code", "none")
	}
	f.Fuzz(func(t *testing.T, trace, option, value string) {
		switch option {
		case "--tool", "--operation", "--status", "--code", "--kind", "--principal", "--tenant", "--seq":
		default:
			return
		}
		arg := option + "=" + value
		code, chosen, msg := command(trace, "filter", "-", arg)
		if code != 0 {
			if code != cli.CodeError || msg == "" {
				t.Fatalf("code %d, %q", code, msg)
			}
			return
		}
		n := strings.Count(chosen, "\n")
		if _, count, _ := command(trace, "filter", "-", arg, "--count"); count != fmt.Sprintln(n) {
			t.Errorf("%d lines, count %s", n, count)
		}
		if chosen != "" {
			if _, again, msg := command(chosen, "filter", "-", arg); again != chosen {
				t.Errorf("the second time:\n%s%s\nwant\n%s", again, msg, chosen)
			}
		}
		_, rest, _ := command(trace, "filter", "-", arg, "--invert")
		_, all, _ := command(trace, "filter", "-")
		if len(rest)+len(chosen) != len(all) {
			t.Errorf("%d bytes chosen and %d not, of %d", len(chosen), len(rest), len(all))
		}
	})
}

// FuzzCanonical: a canonical line is its own canonical line.
func FuzzCanonical(f *testing.F) {
	f.Add(`{ "a" : 1.0, "b":["\u0061", null ] }`)
	f.Add(`{"seq":1}`)
	f.Fuzz(func(t *testing.T, line string) {
		one, err := canonical(nil, []byte(line))
		if err != nil {
			return
		}
		two, err := canonical(nil, bytes.TrimSuffix(one, []byte("\n")))
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%q, then %q (%v)", one, two, err)
		}
	})
}

// The traces of the reference sessions are read, filtered byte for byte, and
// compared with themselves and each with the next one.
func TestReferenceSessions(t *testing.T) {
	files, err := filepath.Glob("../../testdata/conformance/sessions/*/trace.jsonl")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d traces (%v), want those of the sessions", len(files), err)
	}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if code, out, msg := command("", "filter", file); code != 0 || out != string(data) {
			t.Errorf("filter %s: code %d, %d bytes of %d, %s", file, code, len(out), len(data), msg)
		}
		if code, out, msg := command(string(data)+"\n", "diff", file, "-"); code != 0 {
			t.Errorf("diff %s with itself: code %d\n%s%s", file, code, out, msg)
		}
		next := files[(i+1)%len(files)]
		if code, out, msg := command("", "diff", file, next); code == 2 || code == 0 || !strings.Contains(out, "\nfirst difference: ") {
			t.Errorf("diff %s %s: code %d\n%s%s", file, next, code, out, msg)
		}
	}
}
