package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
)

// pathArguments are all commands with their arguments that are read as files: BAD is
// the one that is not there or no file.
const pathArguments = `
serve --contract BAD
serve --fixtures BAD
serve --contract API --approve all --manifest BAD
serve --contract API --approve all --profile BAD
serve --fixtures DB --map BAD
serve --contract AIR --trace BAD/t.jsonl
serve --contract AIR --tls-cert BAD --tls-key BAD
compile BAD --out OUT
compile API --out OUT --manifest BAD
compile API --out OUT --profile BAD
approve BAD --all --reviewer Ada
inspect BAD
lint BAD
drift BAD API
drift API BAD
record --target http://127.0.0.1:1 --mode replay --cassette BAD
record --target http://127.0.0.1:1 --cassette OUT --rules BAD
record --target http://127.0.0.1:1 --cassette OUT --contract BAD
record --target https://127.0.0.1:1 --cassette OUT --ca BAD
replay BAD
cassette ls BAD
cassette show BAD
cassette scan BAD
cassette scan TAPE --rules BAD
cassette redact BAD
cassette redact TAPE --rules BAD
cassette merge BAD BAD -o OUT
cassette sort BAD
cassette split BAD --by host --dir OUT
cassette convert BAD --to har
cassette prune BAD --duplicates
cassette prune TAPE --unused BAD
cassette prune TAPE --outside --contract BAD
cassette coverage BAD --contract AIR
cassette coverage TAPE --contract BAD
cassette verify BAD --contract AIR
cassette verify TAPE --contract BAD
cassette to-fixtures BAD --contract AIR -o OUT
cassette to-fixtures TAPE --contract BAD -o OUT
fixtures inspect BAD
fixtures inspect DB --contract BAD
fixtures inspect DB --contract AIR --map BAD
fixtures check BAD
fixtures check DB --contract BAD
fixtures at BAD --call 1 -o OUT
fixtures diff BAD DB
fixtures diff DB BAD
fixtures digest BAD
fixtures export BAD
fixtures import BAD -o OUT
fixtures init --contract BAD -o OUT
fixtures optimize BAD
fixtures optimize DB --contract BAD
fixtures optimize DB --contract AIR --map BAD
provider sqlite BAD
provider sqlite DB --map BAD
provider cassette BAD
provider record --provider-cmd true --cassette OUT --rules BAD
`

// What the system says in its own words.
var systemWords = regexp.MustCompile(`\b(open|stat|lstat|read|readdirent|fdopendir) \S+: |no such file|is a directory|not a directory|too many (levels of )?`)

// Whatever command is given a path that leads nowhere says so in this project's
// words, with the path, and could not run.
func TestBadPaths(t *testing.T) {
	db, contract := abs(t, chinook), abs(t, "demo/air.yaml")
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("api.yaml", "openapi: 3.0.3\ninfo: {title: A, version: '1'}\npaths: {/a: {get: {operationId: a, responses: {'200': {description: ok}}}}}\n")
	write("tape.jsonl", `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","transport":"http","tool":"a","operationId":"a.a",`+
		`"request":{"method":"GET","path":"/a","query":{},"headers":{},"body":null},"normalized":null,"provider":null,"result":{"ok":true,"output":1},"status":200,"response":1}`+"\n")
	if err := errors.Join(os.Symlink("loop", "loop"), os.Mkdir("folder", 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(pathArguments), "\n") {
		for _, bad := range []string{"nothing", "no/such/thing", "loop", "tape.jsonl/x", "folder"} {
			if bad == "folder" && strings.Contains(line, "BAD/") {
				continue // a good one
			}
			places := strings.NewReplacer("AIR", contract, "DB", db, "API", "api.yaml", "TAPE", "tape.jsonl", "OUT", "out", "BAD", bad)
			said, code := runHere(t, strings.Fields(places.Replace(line)))
			if code != cli.CodeError || systemWords.MatchString(said) || !strings.Contains(said, strings.Split(bad, "/")[0]) {
				t.Errorf("%s: exit %d, %s", places.Replace(line), code, said)
			}
		}
	}
	for _, path := range commandPaths(newRoot(cli.Streams{})) {
		if !strings.Contains(pathArguments, "\n"+path+" ") {
			t.Errorf("the command %q has no line in the table", path)
		}
	}
}

// runHere runs a command in this process.
func runHere(t *testing.T, args []string) (said string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errOut bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut}
	code = cli.Main(ctx, newRoot(streams), args, streams)
	return errOut.String(), code
}

// commandPaths are the commands that do something, as they are typed behind the
// program's name.
func commandPaths(cmd *cobra.Command) (paths []string) {
	for _, sub := range cmd.Commands() {
		switch {
		case sub.Hidden:
		case sub.HasSubCommands():
			paths = append(paths, commandPaths(sub)...)
		default:
			_, path, _ := strings.Cut(sub.CommandPath(), " ")
			paths = append(paths, path)
		}
	}
	return paths
}
