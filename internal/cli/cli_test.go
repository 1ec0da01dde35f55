package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func testRoot(run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	root := &cobra.Command{Use: "prog", Short: "Does things", Version: "v1.2.3"}
	diff := &cobra.Command{Use: "diff A B", Short: "Compares", Args: Args("A", "B"), RunE: run}
	diff.Flags().StringSlice("ignore", nil, "paths to leave out")
	diff.Flags().Int("max", 10, "findings to show")
	diff.Flags().Bool("a", false, "")
	diff.Flags().Bool("b", false, "")
	diff.MarkFlagsMutuallyExclusive("a", "b")
	sum := &cobra.Command{Use: "sum", Hidden: true, RunE: run}
	for _, name := range []string{"c", "d", "e", "f", "g"} {
		sum.Flags().String(name, "", "")
	}
	sum.MarkFlagsOneRequired("c", "d", "e")
	_ = sum.MarkFlagRequired("f")
	_ = sum.MarkFlagRequired("g")
	root.AddCommand(sum)
	group := &cobra.Command{Use: "provider", Short: "Groups"}
	group.AddCommand(&cobra.Command{Use: "sqlite", Short: "A leaf", RunE: run})
	root.AddCommand(diff, group)
	return root
}

// A disk that is full under help or version is no success.
func TestMainCannotWrite(t *testing.T) {
	full, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"--help"}, {"help", "diff"}, {"diff", "--help"}, {"--version"}, {"completion", "bash"}} {
		var errOut bytes.Buffer
		code := Main(context.Background(), testRoot(nil), args, Streams{In: strings.NewReader(""), Out: full, Err: &errOut})
		if code != CodeError || strings.Count(errOut.String(), "prog: write ") != 1 {
			t.Errorf("%v: code %d, stderr %q", args, code, errOut.String())
		}
	}
}

func TestMainErrors(t *testing.T) {
	boom := fmt.Errorf("calls.jsonl: line 3: %w", WithHint(errors.New("torn"), "record it again"))
	tests := []struct {
		name   string
		args   []string
		err    error
		code   int
		stderr string
	}{
		{"fine", []string{"diff", "a", "b"}, nil, 0, ""},
		{"an error is code 2, with its hint", []string{"diff", "a", "b"}, boom, 2, "prog: calls.jsonl: line 3: torn\nhint: record it again\n"},
		{"a silent no", []string{"diff", "a", "b"}, Exit(CodeNo, nil), 1, ""},
		{"a spoken no", []string{"diff", "a", "b"}, fmt.Errorf("serve: %w", Exit(CodeNo, errors.New("provider died"))), 1, "prog: serve: provider died\n"},
		{"unknown command", []string{"dif", "a"}, nil, 2, "prog: unknown command \"dif\" of prog\nhint: did you mean diff?\nhint: run 'prog --help' for what it takes\n"},
		{"unknown command before its option", []string{"dfif", "--ignore", "x"}, nil, 2, "prog: unknown command \"dfif\" of prog\nhint: did you mean diff?\nhint: run 'prog --help' for what it takes\n"},
		{"unknown command far from all", []string{"zebra"}, nil, 2, "prog: unknown command \"zebra\" of prog\nhint: run 'prog --help' for what it takes\n"},
		{"unknown command in a group", []string{"provider", "sqlit"}, nil, 2, "prog: unknown command \"sqlit\" of prog provider\nhint: did you mean sqlite?\nhint: run 'prog provider --help' for what it takes\n"},
		{"unknown command with --help", []string{"dif", "--help"}, nil, 2, "prog: unknown command \"dif\" of prog\nhint: did you mean diff?\nhint: run 'prog --help' for what it takes\n"},
		{"unknown command in a group with --help", []string{"provider", "sqlit", "--help"}, nil, 2, "prog: unknown command \"sqlit\" of prog provider\nhint: did you mean sqlite?\nhint: run 'prog provider --help' for what it takes\n"},
		{"options that exclude each other", []string{"diff", "x", "y", "--a", "--b"}, nil, 2, "prog: --a and --b cannot be given together\nhint: give one of them\nhint: run 'prog diff --help' for what it takes\n"},
		{"none of a group", []string{"sum", "--f=1", "--g=1"}, nil, 2, "prog: prog sum needs one of --c, --d or --e\nhint: run 'prog sum --help' for what it takes\n"},
		{"required options", []string{"sum", "--c=1"}, nil, 2, "prog: prog sum needs --f and --g\nhint: run 'prog sum --help' for what it takes\n"},
		{"a group alone", []string{"provider"}, nil, 2, "prog: prog provider needs a command: sqlite\nhint: run 'prog provider --help' for what it takes\n"},
		{"nothing at all", nil, nil, 2, "prog: prog needs a command: completion, diff, provider\nhint: run 'prog --help' for what it takes\n"},
		{"unknown option", []string{"diff", "a", "b", "--ignroe=x"}, nil, 2, "prog: unknown option --ignroe\nhint: did you mean --ignore?\nhint: run 'prog diff --help' for what it takes\n"},
		{"unknown short option", []string{"diff", "-q", "a", "b"}, nil, 2, "prog: unknown option -q\nhint: run 'prog diff --help' for what it takes\n"},
		{"bad value", []string{"diff", "--max", "ten"}, nil, 2, "prog: --max: found \"ten\", want a whole number\nhint: run 'prog diff --help' for what it takes\n"},
		{"no value", []string{"diff", "--max"}, nil, 2, "prog: --max needs a value\nhint: run 'prog diff --help' for what it takes\n"},
		{"too few arguments", []string{"diff", "a"}, nil, 2, "prog: prog diff needs A B, found 1 argument(s)\nhint: run 'prog diff --help' for what it takes\n"},
		{"too many arguments", []string{"diff", "a", "b", "c"}, nil, 2, "prog: prog diff takes no argument \"c\"\nhint: run 'prog diff --help' for what it takes\n"},
		{"unknown help topic", []string{"help", "dif"}, nil, 2, "prog: unknown command \"dif\" of prog\nhint: did you mean diff?\nhint: run 'prog --help' for what it takes\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			root := testRoot(func(*cobra.Command, []string) error { return tt.err })
			code := Main(context.Background(), root, tt.args, Streams{In: strings.NewReader(""), Out: &out, Err: &errOut})
			if code != tt.code || errOut.String() != tt.stderr {
				t.Errorf("code %d, stderr:\n%swant %d:\n%s", code, errOut.String(), tt.code, tt.stderr)
			}
			if out.Len() > 0 {
				t.Errorf("stdout: %s", out.String())
			}
		})
	}
}

func TestMainPrintsOnStdout(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--version"}, "prog v1.2.3\n"},
		{[]string{"--help"}, "Usage:"},
		{[]string{"help", "diff"}, "--ignore"},
		{[]string{"diff", "--help"}, "--ignore"},
		{[]string{"provider", "--help"}, "sqlite"},
		{[]string{"completion", "--help"}, "bash"},
		{[]string{"help", "provider"}, "sqlite"},
		{[]string{"completion", "bash"}, "__prog_"},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			var out, errOut bytes.Buffer
			root := testRoot(func(*cobra.Command, []string) error { return nil })
			code := Main(context.Background(), root, tt.args, Streams{Out: &out, Err: &errOut})
			if code != 0 || !strings.Contains(out.String(), tt.want) || errOut.Len() > 0 {
				t.Errorf("code %d, stderr %q, stdout:\n%s", code, errOut.String(), out.String())
			}
		})
	}
}

func TestMainInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	root := testRoot(func(cmd *cobra.Command, _ []string) error {
		cancel()
		return fmt.Errorf("reading: %w", cmd.Context().Err())
	})
	var errOut bytes.Buffer
	code := Main(ctx, root, []string{"diff", "a", "b"}, Streams{Out: &errOut, Err: &errOut})
	if code != 2 || errOut.String() != "prog: interrupted\n" {
		t.Errorf("code %d, %q", code, errOut.String())
	}
}

func TestColor(t *testing.T) {
	env := func(pairs ...string) func(string) (string, bool) {
		return func(key string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == key {
					return pairs[i+1], true
				}
			}
			return "", false
		}
	}
	tests := []struct {
		name     string
		terminal bool
		env      func(string) (string, bool)
		want     bool
	}{
		{"terminal", true, env(), true},
		{"no environment", true, nil, true},
		{"not a terminal", false, env(), false},
		{"NO_COLOR", true, env("NO_COLOR", "1"), false},
		{"empty NO_COLOR", true, env("NO_COLOR", ""), true},
		{"dumb", true, env("TERM", "dumb"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Streams{Out: &bytes.Buffer{}, Env: tt.env, IsTerminal: func(any) bool { return tt.terminal }}
			if got := s.Color(s.Out); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestIsTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for name, stream := range map[string]any{"null device": null, "pipe": w, "buffer": &bytes.Buffer{}} {
		if isTerminal(stream) {
			t.Errorf("%s is taken for a terminal", name)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	options := []string{"diff", "filter", "assert", "gate", "show", "stats"}
	tests := []struct {
		name string
		want string
	}{
		{"dif", "did you mean diff?"}, {"DIFF", "did you mean diff?"}, {"idff", "did you mean diff?"}, {"fliter", "did you mean filter?"},
		{"asert", "did you mean assert?"}, {"sh", "did you mean show?"}, {"q", ""}, {"", ""}, {"zzzzzz", ""}, {"stat", "did you mean stats?"},
	}
	for _, tt := range tests {
		if got := DidYouMean(tt.name, options); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWithHint(t *testing.T) {
	if WithHint(nil, "x") != nil {
		t.Error("a nil error got a hint")
	}
	err := WithHint(errors.Join(WithHint(errors.New("a"), "one"), WithHint(errors.New("b"), "two", "one")), "zero")
	if got := strings.Join(hints(err), " "); got != "zero one two" {
		t.Errorf("got %q", got)
	}
}
