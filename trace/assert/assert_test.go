package assert

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/output"
)

// calls writes a run from short notes, one call a line: METHOD path[?k=v] status
// [answer] [;header=value]. GET of a path without an id is a list.
func calls(t testing.TB, notes string) string {
	t.Helper()
	var b strings.Builder
	seq := 0
	for note := range strings.Lines(notes) {
		if note = strings.TrimSpace(note); note == "" {
			continue
		}
		seq++
		note, head, _ := strings.Cut(note, " ;")
		f := strings.SplitN(note, " ", 4)
		for len(f) < 4 {
			f = append(f, "null")
		}
		path, query, _ := strings.Cut(f[1], "?")
		q := "{}"
		if k, v, ok := strings.Cut(query, "="); ok {
			q = fmt.Sprintf(`{"%s":["%s"]}`, k, v)
		}
		parts := strings.Split(strings.Trim(path, "/"), "/")
		kind, op, params := "mutation", map[string]string{"POST": "create", "PATCH": "update", "DELETE": "delete"}[f[0]], "{}"
		if len(parts) > 1 {
			params = fmt.Sprintf(`{"id":"%s"}`, parts[1])
		}
		if f[0] == "GET" {
			if kind, op = "list", "list"; len(parts) > 1 {
				kind, op = "read", "get"
			}
		}
		e := trace.Entry{Seq: seq, RequestID: fmt.Sprint("r", seq), Transport: "http", Response: []byte(f[3])}
		tool, id := parts[0]+"_"+op, parts[0]+"."+op
		e.Tool, e.Operation = &tool, &id
		fmt.Sscan(f[2], &e.Status)
		e.Request = fmt.Appendf(nil, `{"method":"%s","path":"%s","query":%s,"headers":{%s},"body":null}`, f[0], path, q, headerNote(head, "request"))
		e.Normalized = fmt.Appendf(nil, `{"kind":"%s","params":{"path":%s}}`, kind, params)
		e.Result = []byte(`{"ok":true}`)
		if e.Status >= 400 {
			code := map[int]string{404: "not_found", 409: "conflict", 429: "rate_limited"}[e.Status]
			e.Result = fmt.Appendf(nil, `{"ok":false,"error":{"code":"%s"}}`, code)
		}
		if h := headerNote(head, "answer"); h != "" {
			e.Headers = []byte("{" + h + "}")
		}
		b.Write(e.AppendLine(nil))
	}
	return b.String()
}

func headerNote(note, side string) string {
	k, v, ok := strings.Cut(note, "=")
	if !ok || (k == "retry-after") != (side == "answer") {
		return ""
	}
	return fmt.Sprintf(`"%s":"%s"`, k, v)
}

const prologue = "schema: " + Schema + "\nrules:\n"

func judge(t *testing.T, facts Facts, rules, run string) (*output.Result, string) {
	t.Helper()
	s, err := New(facts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Read("rules.yaml", []byte(rules)); err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(context.Background(), trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)}, "")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := output.WriteText(&out, res, false); err != nil {
		t.Fatal(err)
	}
	return res, out.String()
}

const sample = `
	GET /t 200 {"items":[{"id":"1"},{"id":"2"}],"next":"2"}
	POST /t 201 {"id":"3","v":1.50}
	GET /t/3 200 {"id":"3","v":1.5,"tags":["a","b","c"]}
	PATCH /t/3 409 {"error":"stale"}
	GET /t/9 404 {"error":"none"}
	PATCH /t/3 200 {"id":"3","v":2}`

func TestRules(t *testing.T) {
	tests := []struct {
		rule string
		want string // part of the text when it fails, "" when it holds
	}{
		{`{count: {operation: t.create}, exactly: 1}`, ""},
		{`{count: {operation: t.create}, exactly: 2}`, "1 call(s) match operation t.create, want exactly 2"},
		{`{count: t.get, at_least: 2, at_most: 2}`, ""},
		{`{count: {operation: t.get, status: 200}, at_least: 2}`, "nearest: call 5: t_get, GET /t/9 -> 404 not_found (run.jsonl:5), but its status is another"},
		{`{count: {status: 4xx}, at_most: 1}`, "run.jsonl:5: 2 call(s) match status 4xx, want at most 1"},
		{`{count: {tool: "t_*"}, exactly: 6}`, ""},
		{`{count: {kind: mutation}, at_most: 2, per: id}`, `run.jsonl:6: call 6: t_update, PATCH /t/3 -> 200 is call 3 for "3", want at most 2`},
		{`{every: {kind: list}, is: "size(response.items) <= 2"}`, ""},
		{`{every: {kind: list}, is: "size(response.items) <= 1"}`, "not so: size(response.items) <= 1"},
		{`{every: {operation: t.get}, is: "response.v == 1.5"}`, "no such key: v"},
		{`{any: {operation: t.update}, is: "response.v == 2"}`, ""},
		{`{any: {operation: t.update}, is: "response.v == 3"}`, "nearest: call 4: t_update, PATCH /t/3 -> 409 conflict"},
		{`{none: {operation: t.delete}}`, ""},
		{`{none: {code: conflict}}`, "run.jsonl:4: call 4: t_update"},
		{`{none: any, is: "response.nope == 1"}`, "no call has what it asks for"},
		{`{count: {where: "response.nope == 1"}, exactly: 0}`, "no call has what it asks for"},
		{`{every: {operation: t.get, status: 200}, have: {/response: {subset: {id: "3", tags: [a, c]}}}}`, ""},
		{`{every: {operation: t.get, status: 200}, have: {/response: {subset: {tags: [c, a]}}}}`, `/response/tags: no element is "a"`},
		{`{every: {operation: t.get, status: 200}, have: {/response/v: {equal: 1.50}}}`, ""},
		{`{every: {operation: t.get, status: 200}, have: {/response/v: {equal: 1.51}}}`, "/response/v: found 1.5, want 1.51"},
		{`{every: {operation: t.get, status: 200}, have: {/request/path: {regexp: "^/t/[0-9]+$"}}}`, ""},
		{`{every: {operation: t.get, status: 200}, have: {/response/id: {regexp: "^[a-z]+$"}}}`, `/response/id: found "3", want a text that matches ^[a-z]+$`},
		{`{every: {operation: t.get, status: 200}, have: {/response: {schema: {type: object, required: [id]}}}}`, ""},
		{`{every: {operation: t.get, status: 200}, have: {/response: {schema: {properties: {id: {type: integer}}}}}}`, "/response: at '/id': got string, want integer"},
		{`{every: any, have: {/headers: {absent: true}}}`, ""},
		{`{sequence: [t.list, t.create, t.update]}`, ""},
		{`{sequence: [t.create, t.list]}`, "step 2 of 2 is missing: no call that matches t.list comes later"},
		{`{sequence: [t.create, t.get], gaps: false}`, ""},
		{`{sequence: [t.create, t.update], gaps: false}`, "step 2 of 2 is missing: no call that matches t.update comes next"},
		{`{sequence: [t.create, t.get, t.update], same: id}`, ""},
		{`{sequence: [t.delete, t.get]}`, "the sequence does not begin"},
		{`{never: {kind: mutation}, after: {status: 409}, same: id}`, "after: call 4: t_update, PATCH /t/3 -> 409 conflict (run.jsonl:4)"},
		{`{never: {kind: list}, after: {status: 409}}`, ""},
		{`{each: {operation: t.create}, followed_by: {operation: t.get}, same: id}`, ""},
		{`{each: {operation: t.create}, followed_by: {operation: t.get}, same: id, within: 1}`, ""},
		{`{each: {operation: t.create}, followed_by: {operation: t.update}, same: id, within: 1}`, "follows within 1 call(s) for \"3\""},
		{`{each: {operation: t.create}, followed_by: {operation: t.delete}, same: id}`, `no call that matches operation t.delete follows for "3"`},
		{`{each: {operation: t.update}, preceded_by: {operation: t.get}, same: id}`, ""},
		{`{each: {operation: t.get}, preceded_by: {kind: mutation}, same: "request.path"}`, "comes before it for \"/t/3\""},
		{`{no_errors: true}`, "run.jsonl:5: call 5: t_get, GET /t/9 -> 404 not_found"},
		{`{no_errors: true, except: [{code: conflict}, {status: 404, operation: t.get}]}`, ""},
		{`{budget: {calls: 6, pages: 1, bytes: 1000}}`, ""},
		{`{budget: {calls: 5, pages: 0}}`, "reached by: call 6"},
		{`{budget: {bytes: 10}, of: {operation: t.get}}`, "bytes, want at most 10"},
		{`{coverage: [t.list, t.get]}`, ""},
		{`{coverage: contract}`, "not called: t.delete"},
		{`{coverage: contract, at_least: 60%}`, ""},
		{`{state: abc}`, ""},
		{`{state: abd}`, "the state's digest is abc, want abd"},
		{`{at_most_changed: [t]}`, ""},
		{`{at_most_changed: []}`, "the table t changed, and only nothing may"},
	}
	run := calls(t, sample)
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			facts := Facts{State: "abc", Changed: []string{"t"}}
			if strings.Contains(tt.rule, "coverage: contract") {
				facts.Operations = []string{"t.list", "t.get", "t.delete"}
			}
			res, text := judge(t, facts, prologue+"  - "+tt.rule+"\n", run)
			if res.Failed() != (tt.want != "") || !strings.Contains(text, tt.want) {
				t.Errorf("got\n%s", text)
			}
			if tt.want != "" && !strings.Contains(text, "(rules.yaml:3)") {
				t.Errorf("does not say where the rule stands:\n%s", text)
			}
		})
	}
}

func TestBadRules(t *testing.T) {
	tests := []struct{ file, want string }{
		{"", "rules.yaml: the rule file is empty"},
		{"rules: []", "rules.yaml: line 1, column 1: has no schema"},
		{"schema: x\nrules: []", `line 1, column 9: found the schema "x"`},
		{prologue + "  []", "holds no rule"},
		{prologue + "  - {cuont: any, exactly: 1}", "line 3, column 5: says no rule, want one of any, "},
		{prologue + "  - {count: any, exactly: 1, gaps: true}", `unknown key "gaps", want one of name, count, exactly`},
		{prologue + "  - {count: any}", "want exactly, or at_least and at_most"},
		{prologue + "  - {count: any, exactly: -1}", "want a whole number from 0"},
		{prologue + "  - {count: any, exactly: 1, exactly: 2}", `the key "exactly" stands twice`},
		{prologue + "  - {count: {tol: x}, exactly: 1}", `unknown key "tol"`},
		{prologue + "  - {count: {status: 9xx}, exactly: 1}", `found "9xx", want a status`},
		{prologue + "  - {count: {kind: wirte}, exactly: 1}", `found "wirte", want list, read or mutation`},
		{prologue + "  - {count: {where: 'statsu == 1'}, exactly: 1}", "undeclared reference to 'statsu'"},
		{prologue + "  - {count: any, every: any}", "a rule is one thing, found count and every"},
		{prologue + "  - {every: any}", "want is or have beside every"},
		{prologue + "  - {every: any, have: {response: {equal: 1}}}", "want a JSON Pointer"},
		{prologue + "  - {every: any, have: {/response: {regexp: '('}}}", "error parsing regexp"},
		{prologue + "  - {every: any, have: {/response: {schema: {type: 5}}}}", "the schema is no JSON Schema"},
		{prologue + "  - {every: any, have: {/response: {schema: {$ref: 'http://x/y'}}}}", "cannot refer to another file"},
		{prologue + "  - {sequence: [any]}", "found 1 steps, want 2 to 64"},
		{prologue + "  - {never: any}", "want after beside never"},
		{prologue + "  - {each: any}", "want either followed_by or preceded_by"},
		{prologue + "  - {state: abc}", "the digest of the state after the run is not given"},
		{prologue + "  - {coverage: contract}", "the operations of the contract are not given"},
		{"schema: " + Schema + "\npack: [server]", `found the pack "server", want client`},
		{"a: &a [*a]", "is larger than"},
		{"- 1", "want a mapping"},
	}
	for _, tt := range tests {
		s, err := New(Facts{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Read("rules.yaml", []byte(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.file, err, tt.want)
		}
	}
}

func TestClientPack(t *testing.T) {
	many := func(n int, format string) (out string) {
		for i := range n {
			out += fmt.Sprintf(format+"\n", i)
		}
		return out
	}
	rows := `{"items":[` + strings.TrimSuffix(many(12, `{"id":"x%d"},`), ",\n") + `]}`
	rows = strings.ReplaceAll(rows, "\n", "")
	tests := []struct{ id, run, want string }{
		{"", sample, ""},
		{"client/retry-storm", strings.Repeat("GET /t/1 503\n", 4), "for the 4th time in a row"},
		{"", strings.Repeat("GET /t/1 503\n", 3) + "GET /t/1 200 {}", ""},
		{"client/retry-after", "GET /t/1 429 null ;retry-after=5\nGET /t/1 200 {}", "Retry-After: 5"},
		{"", "GET /t/1 429 null ;retry-after=5\nGET /t/2 200 {}\nGET /t/1 200 {}", ""},
		{"client/no-key", "POST /t 201 {} ;idempotency-key=a\nPOST /t 201 {}", "call 2: t_create, POST /t -> 201 has no idempotency key"},
		{"client/duplicate-create", "POST /t 201 {\"id\":\"1\"}\nPOST /t 201 {\"id\":\"2\"}", "makes the same again"},
		{"client/unbounded-paging", many(51, `GET /t?cursor=%d 200 {"items":[]}`), "is page 51 of one list"},
		{"client/n-plus-one", "GET /t 200 " + rows + "\n" + many(10, `GET /t/x%d 200 {"id":"a"}`), "is read 10 of the rows of one list"},
		{"client/unused-page", "GET /t 200 {\"items\":[{\"id\":\"1\"}]}\nGET /t?cursor=2 200 {\"items\":[{\"id\":\"2\"}]}\nGET /t?cursor=3 200 {\"items\":[{\"id\":\"3\"}]}\nGET /t/3 200 {}", "call 2: t_list, GET /t -> 200 brought 1 row(s)"},
		{"client/secret-in-url", "GET /t?api_key=abc 200 {}", `has "api_key" in its query`},
		{"client/secret-in-url", "GET /t/ghp_0123456789abcdef 200 {}", "looks like a credential"},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			res, text := judge(t, Facts{}, "schema: "+Schema+"\npack: [client]\n", calls(t, tt.run))
			for _, c := range res.Cases {
				if (len(c.Failures) > 0) != (c.ID == tt.id) {
					t.Errorf("%s: %d failures", c.ID, len(c.Failures))
				}
			}
			if !strings.Contains(text, tt.want) {
				t.Errorf("got\n%s", text)
			}
		})
	}
}

// What Init writes holds for the run that it was made from.
func TestInit(t *testing.T) {
	run := calls(t, sample)
	text, err := Init(context.Background(), trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)}, "")
	if err != nil {
		t.Fatal(err)
	}
	if res, out := judge(t, Facts{}, text, run); res.Failed() || len(res.Cases) < 6 {
		t.Errorf("%s\n%s", text, out)
	}
	if res, out := judge(t, Facts{}, text, run+calls(t, sample)[:0]+strings.Replace(calls(t, "GET /t/1 500 {}"), `"seq":1`, `"seq":7`, 1)); !res.Failed() {
		t.Errorf("one more call that failed:\n%s", out)
	}
}

// What Init writes holds the exact statuses, of successes and of failures.
func TestInitHoldsStatuses(t *testing.T) {
	run := calls(t, "POST /t 201 {}\nGET /t/1 200 {}\nGET /t/2 404 {}\nGET /t/3 404 {}")
	text, err := Init(t.Context(), trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)}, "")
	if err != nil {
		t.Fatal(err)
	}
	if res, out := judge(t, Facts{}, text, run); res.Failed() {
		t.Errorf("%s\n%s", text, out)
	}
	for _, change := range [][2]string{{`"status":404`, `"status":410`}, {`"status":200`, `"status":206`}, {`"status":201`, `"status":200`}, {`"status":404`, `"status":200`}} {
		other := strings.Replace(run, change[0], change[1], 1)
		if res, out := judge(t, Facts{}, text, other); other == run || !res.Failed() {
			t.Errorf("%v passes:\n%s\n%s", change, text, out)
		}
	}
}

// With a contract a rule about what it does not have is an error, not a rule that
// never fails.
func TestUnknownOperations(t *testing.T) {
	tests := []struct{ rule, want string }{
		{`{none: {operation: t.delete}}`, ""},
		{`{none: {tool: t_delete}}`, ""},
		{`{none: t_delete}`, ""},
		{`{none: {operation: t.x*}}`, ""},
		{`{count: any, at_least: 1}`, ""},
		{`{none: {operation: [t.get, t.delte]}}`, `line 3, column 24: the contract has no "t.delte"; did you mean t.delete?`},
		{`{none: {tool: t.delete}}`, `the contract has no "t.delete"`},
		{`{sequence: [t.get, t.gte]}`, `line 3, column 24: the contract has no "t.gte"; did you mean t.get or t_get?`},
		{`{coverage: [t.get, t.lits]}`, `the contract has no "t.lits"; did you mean t.list?`},
	}
	for _, tt := range tests {
		set, err := New(Facts{Operations: []string{"t.list", "t.get", "t.delete"}, Tools: []string{"t_list", "t_get", "t_delete"}})
		if err != nil {
			t.Fatal(err)
		}
		err = set.Read("rules.yaml", []byte(prologue+"  - "+tt.rule+"\n"))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.rule, err, tt.want)
		}
	}
}

func TestStateDiff(t *testing.T) {
	const none = `"rows":[],"added":0,"removed":0,"changed":0,"equal":7,"rowsA":7,"rowsB":7,"keyed":true`
	tests := []struct {
		text, want string
		bad        bool
	}{
		{`{"tables":[{"table":"a",` + none + `}],"schema":[],"equal":true}`, "", false},
		{`{"tables":[{"table":"b","added":0,"removed":0,"changed":2},{"table":"a","added":1,"removed":0,"changed":0}],"schema":[],"equal":false}`, "a b", false},
		{`{"tables":[{"table":"a",` + none + `}],"schema":[{"table":"a","side":"added","fact":"column"},{"table":"","side":"removed","fact":"view"}],"equal":false}`, "(views and triggers) a", false},
		{`{"tables":[],"schema":[],"equal":false}`, "", true},
		{`{"tables":[{"table":"a","added":1,"removed":0,"changed":0}],"schema":[],"equal":true}`, "", true},
		{`{"tables":[{"table":"a","added":1}],"schema":[],"equal":false}`, "", true},
		{`{"tables":["a"],"schema":[],"equal":false}`, "", true},
		{`{"tables":[],"schema":[1],"equal":false}`, "", true},
		{`{"tables":{"t":{"added":1}}}`, "", true},
		{``, "", true}, {`{"x":1}`, "", true}, {`[]`, "", true}, {"{}\n{", "", true},
	}
	for _, tt := range tests {
		got, err := ReadStateDiff([]byte(tt.text))
		if (err != nil) != tt.bad || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, %v", tt.text, got, err)
		}
	}
}

// What the command prints, as its own test has it, says which tables changed.
func TestStateDiffOfTheCommand(t *testing.T) {
	archive, err := txtar.ParseFile("../../cmd/anvil-sim/testdata/script/fixtures-diff.txtar")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"want.json": "t", "want-schema.json": "altered fresh gone t", "want-equal.json": ""}
	for _, f := range archive.Files {
		tables, ok := want[f.Name]
		if !ok {
			continue
		}
		delete(want, f.Name)
		got, err := ReadStateDiff(f.Data)
		if err != nil || got == nil || strings.Join(got, " ") != tables {
			t.Errorf("%s: %q, %v; want %q", f.Name, got, err, tables)
		}
	}
	if len(want) > 0 {
		t.Errorf("the script has no %v", want)
	}
}

// FuzzRead: no rule file makes the reader or a run panic, and a verdict is the
// same twice.
func FuzzRead(f *testing.F) {
	for _, rule := range []string{`{count: any, exactly: 1, per: id}`, `{every: any, have: {/response: {subset: {a: [1]}}}}`, `{sequence: [t.list, any], same: list}`,
		`{never: any, after: any, same: "request.path"}`, `{each: any, followed_by: t.get, within: 2}`, `{budget: {bytes: 1}}`, `{no_errors: true, except: any}`} {
		f.Add(prologue + "  - " + rule)
	}
	f.Add("schema: " + Schema + "\npack: [client]")
	run := calls(&testing.T{}, sample)
	f.Fuzz(func(t *testing.T, rules string) {
		if len(rules) > 4000 {
			return
		}
		verdict := func() string {
			s, err := New(Facts{State: "x", Changed: []string{}})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Read("r", []byte(rules)); err != nil {
				return err.Error()
			}
			res, err := s.Run(context.Background(), trace.Input{Name: "run", Reader: strings.NewReader(run)}, "")
			if err != nil {
				return err.Error()
			}
			var b bytes.Buffer
			if err := output.WriteJSON(&b, res); err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(b.Bytes()) {
				if !canon.Valid(line) {
					t.Fatalf("no JSON: %s", line)
				}
			}
			return b.String()
		}
		if a, b := verdict(), verdict(); a != b {
			t.Errorf("two verdicts:\n%s\n%s", a, b)
		}
	})
}

// Recorded runs of the simulator hold the rules that are made from them, and the
// pack reads them.
func TestRecordedRuns(t *testing.T) {
	files, err := filepath.Glob("../testdata/recorded/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no runs (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := Init(context.Background(), trace.Input{Name: file}, "")
			if err != nil {
				t.Fatal(err)
			}
			if res, out := judge(t, Facts{}, text, string(data)); res.Failed() {
				t.Errorf("%s\n%s", text, out)
			}
			if res, _ := judge(t, Facts{}, "schema: "+Schema+"\npack: [client]", string(data)); len(res.Cases) != 8 {
				t.Errorf("%d rules", len(res.Cases))
			}
		})
	}
}
