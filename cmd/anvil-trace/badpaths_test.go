package main

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
)

// pathArguments are all commands with their arguments that are read as files: BAD is
// the one that is not there or no file, RUN a trace.
const pathArguments = `
assert BAD --pack client
assert RUN --file BAD
assert RUN --pack client --contract BAD
assert RUN --pack client --at-most-changed t --state-diff BAD
diff BAD RUN
diff RUN BAD
diff RUN RUN --rules BAD
filter BAD
gate BAD RUN
gate RUN BAD
gate RUN RUN --rules BAD
git-textconv BAD
merge a=BAD b=RUN
merge a=RUN b=BAD
redact BAD --path /a
redact RUN --rules BAD
report BAD --html OUT
report RUN BAD --html OUT
show BAD
sort BAD
split BAD --dir OUT
stats BAD
`

// What the system says in its own words; a cause behind "cannot be opened" may be its.
var systemWords = regexp.MustCompile(`\b(open|stat|lstat|read|readdirent|fdopendir) \S+: |no such file|is a directory`)

// Whatever command is given a path that leads nowhere says so in this project's
// words, with the path, and could not run. git-diff shows what git gives it, and
// says in its text what cannot be compared.
func TestBadPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	const line = `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","transport":"http","tool":"a","operationId":"a.a",` +
		`"request":{"method":"GET","path":"/a","query":{},"headers":{},"body":null},"normalized":null,"provider":null,"result":{"ok":true,"output":1},"status":200,"response":1}` + "\n"
	if err := errors.Join(os.WriteFile("run.jsonl", []byte(line), 0o600), os.Symlink("loop", "loop"), os.Mkdir("folder", 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(pathArguments), "\n") {
		for _, bad := range []string{"nothing", "no/such/thing", "loop", "run.jsonl/x", "folder"} {
			args := strings.Fields(strings.NewReplacer("RUN", "run.jsonl", "OUT", "out", "BAD", bad).Replace(line))
			said, code := runHere(t, args)
			if code != cli.CodeError || systemWords.MatchString(said) || !strings.Contains(said, strings.Split(bad, "/")[0]) {
				t.Errorf("%v: exit %d, %s", args, code, said)
			}
		}
	}
	if said, _ := runHere(t, []string{"git-diff", "run.jsonl", "nothing", "0", "100644", "run.jsonl", "0", "100644"}); systemWords.MatchString(said) {
		t.Errorf("git-diff: %s", said)
	}
	for _, path := range commandPaths(newRoot(cli.Streams{})) {
		if !strings.Contains(pathArguments, "\n"+path+" ") && path != "git-diff" {
			t.Errorf("the command %q has no line in the table", path)
		}
	}
}

// runHere runs a command in this process.
func runHere(t *testing.T, args []string) (said string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut}
	code = cli.Main(t.Context(), newRoot(streams), args, streams)
	return out.String() + errOut.String(), code
}

// commandPaths are the commands that do something, as they are typed behind the
// program's name.
func commandPaths(root *cobra.Command) (paths []string) {
	for _, sub := range root.Commands() {
		if !sub.Hidden {
			paths = append(paths, sub.Name())
		}
	}
	return paths
}
