package conformance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const data = "../../testdata/conformance"

func loadSession(t *testing.T, name string) *Session {
	t.Helper()
	s, err := Load(filepath.Join(data, "sessions", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sessionNames(t *testing.T) []string {
	t.Helper()
	all, err := Names(filepath.Join(data, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pending reads the list of sessions that are not passed yet: a name a line,
// the reason behind a #. The faults are what is wrong with the list.
func pending(text string, all []string) (reasons map[string]string, faults []string) {
	reasons = map[string]string{}
	for line := range strings.Lines(text) {
		name, reason, _ := strings.Cut(line, "#")
		name, reason = strings.TrimSpace(name), strings.TrimSpace(reason)
		switch {
		case name == "":
			continue
		case reason == "":
			faults = append(faults, name+" has no reason; write one behind a #")
		case reasons[name] != "":
			faults = append(faults, name+" stands twice")
		case !slices.Contains(all, name):
			faults = append(faults, "no session is called "+name+"; remove it")
		}
		reasons[name] = reason
	}
	return reasons, faults
}

// verdict is what is wrong with the outcome of a session, given the reason for
// which it is pending, if it is.
func verdict(differences []string, reason string) []string {
	switch {
	case reason == "":
		return differences
	case len(differences) == 0:
		return []string{"passes: remove it from pending.txt (" + reason + ")"}
	}
	return nil
}

func TestPending(t *testing.T) {
	reasons, faults := pending("# a comment\n\na # first\nb\nc # gone\na # again\n", []string{"a", "b"})
	want := []string{"b has no reason; write one behind a #", "no session is called c; remove it", "a stands twice"}
	if !slices.Equal(faults, want) || reasons["a"] != "again" {
		t.Errorf("faults %q, want %q; reasons %v", faults, want, reasons)
	}
	for _, c := range []struct {
		differences []string
		reason      string
		want        int
	}{{nil, "", 0}, {[]string{"x", "y"}, "", 2}, {[]string{"x"}, "later", 0}, {nil, "later", 1}} {
		if got := verdict(c.differences, c.reason); len(got) != c.want {
			t.Errorf("verdict(%q, %q) = %q, want %d complaints", c.differences, c.reason, got, c.want)
		}
	}
}

// Every recorded session, against the simulator of this module.
func TestSessions(t *testing.T) {
	all := sessionNames(t)
	text, err := os.ReadFile(filepath.Join(data, "pending.txt"))
	if err != nil {
		t.Fatal(err)
	}
	list, wrong := pending(string(text), all)
	for _, w := range wrong {
		t.Errorf("pending.txt: %s", w)
	}
	binary := filepath.Join(t.TempDir(), "anvil-sim")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../../cmd/anvil-sim").CombinedOutput(); err != nil {
		t.Fatalf("go build ./cmd/anvil-sim: %v\n%s", err, out)
	}
	runner := Runner{Binary: binary, Provider: providerCommand(t)}
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			differences, err := runner.Run(loadSession(t, name), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, complaint := range verdict(differences, list[name]) {
				t.Error(complaint)
			}
		})
	}
}

// repeatable reports whether the repeating simulator can play a session: one
// that answers in order and ends when it is told to.
func repeatable(s *Session) bool {
	if s.spec.Get("startup") != nil || s.spec.Get("shutdown") != nil {
		return false
	}
	for _, a := range s.spec.Get("serve").Get("args").Elems() {
		if a.Text() == "--trace" {
			return false
		}
	}
	for _, e := range s.spec.Get("exchanges").Elems() {
		if e.Get("parallel") != nil {
			return false
		}
	}
	for _, a := range s.spec.Get("provider").Get("answers").Elems() {
		for _, m := range a.Members() {
			if strings.HasPrefix(m.Key, "$") {
				return false
			}
		}
	}
	return true
}

// A simulator that says what was recorded passes.
func TestRunnerPasses(t *testing.T) {
	runner := Runner{Binary: self(t), Provider: providerCommand(t)}
	played := 0
	for _, name := range sessionNames(t) {
		s := loadSession(t, name)
		if !repeatable(s) {
			continue
		}
		played++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			differences, err := runner.Run(s, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range differences {
				t.Error(d)
			}
		})
	}
	if played < 40 {
		t.Errorf("%d sessions can be repeated, want at least 40", played)
	}
}

// A simulator that makes one mistake does not pass, whichever it is.
func TestRunnerFails(t *testing.T) {
	for change, says := range map[string]string{
		"lost header":      "header content-type: want application/json, got (absent)",
		"new header":       "header x-more: want (absent), got 1",
		"body":             " body: want ",
		"trace":            "trace line 1/seq: want 1, got 9",
		"provider request": "provider request 1/requestId: want r1, got r2",
		"no shutdown":      "provider: want a shutdown request, got none",
		"status":           "exit status: want 0, got exit status 1",
	} {
		t.Run(change, func(t *testing.T) {
			t.Setenv("REPEAT_CHANGE", change)
			differences, err := Runner{Binary: self(t), Provider: providerCommand(t)}.Run(loadSession(t, "provider-headers"), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.ReplaceAll(strings.Join(differences, "\n"), `"`, ""); !strings.Contains(text, says) {
				t.Errorf("differences:\n%s\nwant one that says %q", text, says)
			}
		})
	}
}

// A program that serves nothing is a start that failed, not an error.
func TestRunnerNoServer(t *testing.T) {
	s := loadSession(t, "provider-headers")
	differences, err := Runner{Binary: "/bin/false", Provider: providerCommand(t)}.Run(s, t.TempDir())
	if err != nil || len(differences) != 1 || !strings.HasPrefix(differences[0], "start: want a URL line") {
		t.Errorf("got %q, %v", differences, err)
	}
	startup := loadSession(t, "startup-bad-seed")
	differences, err = Runner{Binary: "/bin/false", Provider: providerCommand(t)}.Run(startup, t.TempDir())
	if err != nil || len(differences) != 2 || !strings.Contains(differences[0], "--seed") {
		t.Errorf("a refusal that names nothing: %q, %v", differences, err)
	}
}

func TestSameJSON(t *testing.T) {
	exact := &Session{contract: "says: declared text", given: map[string]bool{"from the provider": true}, strict: true}
	loose := &Session{given: map[string]bool{}}
	double := &Session{given: map[string]bool{}, double: true}
	for _, c := range []struct {
		s         *Session
		want, got string
		fault     string // "" is none
	}{
		{exact, `{"a":1}`, `{"a":1}`, ""},
		{exact, ``, ``, ""},
		{exact, ``, `{}`, "want , got {}"},
		{exact, `{"a":1,"b":2}`, `{"b":2,"a":1}`, "equal as values, not as bytes"},
		{loose, `{"a":1,"b":2}`, `{"b":2,"a":1}`, ""},
		{exact, `[1.0]`, `[1]`, "equal as values, not as bytes"},
		{loose, `[1.0]`, `[1]`, ""},
		{loose, `[9007199254740993]`, `[9007199254740992]`, "/0: want 9007199254740993, got 9007199254740992"},
		{double, `[9007199254740993]`, `[9007199254740992]`, ""},
		{loose, `{"a":{"b":[1,2]}}`, `{"a":{"b":[1,3]}}`, "/a/b/1: want 2, got 3"},
		{loose, `[1]`, `[1,2]`, " (length): want 1, got 2"},
		{loose, `{"a":1}`, `{}`, "/a: want 1, got (absent)"},
		{loose, `{}`, `{"a":null}`, "/a: want (absent), got null"},
		{loose, `true`, `1`, "want true, got 1"},
		{exact, `{"message":"own"}`, `{"message":"other"}`, ""},
		{exact, `{"message":"own"}`, `{"message":" "}`, "/message"},
		{exact, `{"message":"own"}`, `{"message":5}`, "/message"},
		{exact, `{"message":"declared text"}`, `{"message":"other"}`, "/message"},
		{exact, `{"message":"from the provider"}`, `{"message":"other"}`, "/message"},
		{exact, `{"title":"own"}`, `{"title":"other"}`, "/title"},
		{exact, `{"warnings":["a","b"]}`, `{"warnings":["x","y"]}`, ""},
		{exact, `{"warnings":["a","b"]}`, `{"warnings":["x"]}`, "/warnings (length)"},
		{exact, `{"warnings":["a"]}`, `{"warnings":[""]}`, "/warnings/0"},
		{exact, `{"transportError":"declared text"}`, `{"transportError":"x"}`, ""},
	} {
		f := &faults{Session: c.s}
		f.sameJSON("here", c.want, c.got)
		got := strings.Join(f.list, "\n")
		if (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%s and %s: %q, want %q", c.want, c.got, got, c.fault)
		}
	}
}

func TestSameLines(t *testing.T) {
	for _, c := range []struct{ want, got, fault string }{
		{"1\n2\n", "1\n2\n", ""},
		{"1\n2\n", "1\n", "lines: want 2, got 1"},
		{"1\n", "1", "each line ends in one"},
		{"1\n", "1\r\n", "each line ends in one"},
		{"1\n2\n", "1\n\n2\n", "no blank lines"},
		{"", "", ""},
		{"", "1\n", "lines: want 0, got 1"},
	} {
		f := &faults{Session: &Session{given: map[string]bool{}}}
		f.sameLines("line", c.want, c.got)
		got := strings.Join(f.list, "\n")
		if (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%q and %q: %q, want %q", c.want, c.got, got, c.fault)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"bad --seed x", "--seed", true}, {"exit 3.", "3", true}, {"exit 33", "3", false}, {"33 and 3", "3", true},
		{"version", "version", true}, {"versions", "version", false}, {"x_3", "3", false}, {"é3", "3", false}, {"", "3", false},
	} {
		if got := names(c.text, c.name); got != c.want {
			t.Errorf("names(%q, %q) = %v", c.text, c.name, got)
		}
	}
}

// The directives of a script, without a host.
func TestServeScript(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "session.json")
	script := `{"provider":{"protocolVersion":7,"answers":[{"ok":true,"n":1.50},
		{"$laterMs":30,"$answer":"late"},{"$stderr":"oh","$noise":["noise"],"$rawLine":"raw {{id}}"},
		{"$rpcError":{"code":-1}},{"$delayMs":1},{"$answer":2,"$exitAfter":4}]}}`
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a": 1.0}}` + "\n"
	for _, id := range []string{"2", "3", "4", "5", "6", "7"} {
		in += `{"jsonrpc":"2.0","id":` + id + `,"method":"invoke","params": {"b" : [1, 2.50]} }` + "\n"
	}
	var out, stderr bytes.Buffer
	if code := ServeScript(file, dir, strings.NewReader(in), &out, &stderr); code != 4 {
		t.Errorf("exit status %d, want 4 (%s)", code, stderr.String())
	}
	want := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":7}}
{"jsonrpc":"2.0","id":2,"result":{"ok":true,"n":1.50}}
noise
raw 4
{"jsonrpc":"2.0","id":5,"error":{"code":-1}}
{"jsonrpc":"2.0","id":6,"result":null}
{"jsonrpc":"2.0","id":7,"result":2}
{"jsonrpc":"2.0","id":3,"result":"late"}
`
	if out.String() != want || stderr.String() != "oh\n" {
		t.Errorf("stdout:\n%s\nwant:\n%s\nstderr: %s", out.String(), want, stderr.String())
	}
	for name, want := range map[string]string{"initialize.json": `{"a": 1.0}`, "invokes.jsonl": strings.Repeat(`{"b" : [1, 2.50]}`+"\n", 6)} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	out.Reset()
	if code := ServeScript(file, dir, strings.NewReader(`{"id":1,"method":"shutdown"}`+"\n"), &out, &stderr); code != 0 {
		t.Errorf("exit status %d after shutdown", code)
	}
	if _, err := os.Stat(filepath.Join(dir, "shutdown")); err != nil {
		t.Error(err)
	}
	if code := ServeScript(file, dir, strings.NewReader("no json\n"), &out, &stderr); code == 0 {
		t.Error("a line that is no JSON is taken")
	}
}
