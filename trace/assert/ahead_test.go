package assert

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/output"
)

// everyRule is of each kind, with what makes calls be asked more or less of.
const everyRule = prologue + `  - {count: any, at_least: 3}
  - {count: {operation: t.get, status: 404}, at_most: 1, per: id}
  - {count: {tool: t_nothing, status: 5xx}, exactly: 0}
  - {count: {kind: list, where: "size(response.items) > 1"}, exactly: 1, per: list}
  - {every: {status: 404}, have: {/response/error: {regexp: "^no"}, /result/ok: {equal: false}}}
  - {every: {operation: t.get}, is: "response.n < 3", have: {/response/n: {absent: true}}}
  - {any: {operation: t.get}, is: "response.n == 2"}
  - {any: {operation: t.list}, have: {/response/items: {subset: [{id: "9"}]}}}
  - {none: {status: 5xx}}
  - {none: t.delete, is: "response.gone == 1"}
  - {sequence: [t.list, {operation: t.get, status: 200}, t.update]}
  - {sequence: [t.create, t.get], gaps: false}
  - {sequence: [{kind: read, where: "response.n > 0"}, t.update], same: id}
  - {never: {kind: mutation}, after: {status: 409}, same: id}
  - {never: t.get, after: t.delete, same: "request.path"}
  - {each: {operation: t.create, status: 2xx}, followed_by: t.get, within: 3}
  - {each: t.update, preceded_by: {operation: t.get, where: "response.n == 1"}, same: target}
  - {each: t.get, followed_by: t.list, same: call}
  - {no_errors: true, except: [{code: not_found, where: "response.error != 'x'"}, {status: 429}]}
  - {budget: {calls: 5, pages: 1, bytes: 100}}
  - {budget: {bytes: 10}, of: {kind: read}}
  - {coverage: [t.list, t.get, t.purge], at_least: 70%}
`

// verdict is all that a set says of a run, judged line by line or by workers.
func verdict(t testing.TB, run string, ahead bool) string {
	t.Helper()
	set, err := New(Facts{})
	if err == nil {
		err = set.Read("rules.yaml", []byte(everyRule+"pack: [client]\n"))
	}
	if err != nil {
		t.Fatal(err)
	}
	in := trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)}
	var res *output.Result
	if ahead {
		res, err = set.Run(t.Context(), in, "all")
	} else {
		set.name = in.Name
		var side trace.Side
		if side, err = trace.Assert(t.Context(), in, "all", set); err == nil {
			res = set.Result()
			res.Facts = append([]string{"run: " + side.String()}, res.Facts...)
		}
	}
	if err != nil {
		return err.Error()
	}
	var b bytes.Buffer
	if err := output.WriteText(&b, res, false); err != nil {
		t.Fatal(err)
	}
	if err := output.WriteJSON(&b, res); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// notes are calls that the rules treat differently.
var notes = []string{"GET /t 200 {\"items\":[{\"id\":\"1\"},{\"id\":\"2\"}]}", "GET /t?after=2 200 {\"items\":[{\"id\":\"9\"}]}", "GET /t/1 200 {\"n\":1}", "GET /t/2 200 {\"n\":2}",
	"GET /t/3 404 {\"error\":\"no 3\"}", "GET /t/4 404 {\"error\":4}", "POST /t 201 {\"id\":\"5\"}", "POST /t 409 {}", "PATCH /t/1 200 {\"n\":3}", "PATCH /t/1 409 {}", "DELETE /t/2 200 {\"gone\":0}",
	"GET /t/9?token=x 429 null ;answer:retry-after=1", "GET /t/9?token=x 503 {}", "GET /t/sk_live_0123456789ab 500 \"x\""}

// breaks spoil a line in a way of their own.
var breaks = [][2]string{{`"transport":`, `"transport"`}, {`"status":`, `"status" :`}, {`"status":`, `"st\u0061tus":`}, {`"response":`, `"response":[}`}, {`"response":`, `"response":{"n":1`},
	{`"response":{`, `"response":{"n":01,`}, {`"kind":"`, `"kind":"\u0072`}, {`"operationId"`, `"operationId":"t.get","operationId"`}, {`"result":{`, `"result":{"ok":tru,`}, {`}}`, `}`}}

// runOf writes a run of what each byte says.
func runOf(t testing.TB, program []byte) string {
	t.Helper()
	var b strings.Builder
	for i, c := range program {
		line := strings.Replace(calls(t, notes[int(c)%len(notes)]), `"seq":1,"requestId":"r1"`, fmt.Sprintf(`"seq":%d,"requestId":"r%d"`, i+1, i+1), 1)
		if k := int(c) / len(notes); k > 5 { // most are whole
			line = strings.Replace(line, breaks[k%len(breaks)][0], breaks[k%len(breaks)][1], 1)
		}
		b.WriteString(line)
	}
	return b.String()
}

// FuzzAhead: a run that workers look at ahead is judged as it is line by line, with
// the same errors; so is each beginning of it.
func FuzzAhead(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})
	f.Add([]byte{13, 12, 12, 12, 12, 11, 11, 10, 9, 8, 7, 6, 6, 6, 2, 2, 2, 0, 1, 0, 1, 3, 2})
	f.Add([]byte{6, 2, 6, 4, 4, 4, 7, 8})
	for k := range breaks {
		for c := range notes {
			if v := (k+10)*len(notes) + c; v < 256 {
				f.Add([]byte{0, 2, byte(v), 3, 4})
			}
		}
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 60 {
			program = program[:60]
		}
		run := runOf(t, program)
		if got, want := verdict(t, run, true), verdict(t, run, false); got != want {
			t.Errorf("%v by workers:\n%s\nline by line:\n%s", program, got, want)
		}
	})
}

// Many blocks that several workers look at give one verdict, at any number of them.
func TestAheadOfManyBlocks(t *testing.T) {
	var program []byte
	for i := range 1800 {
		program = append(program, byte(i*i%len(notes)))
	}
	for i, run := range []string{runOf(t, program), runOf(t, append(append(program[:1500:1500], byte(len(notes)*10)), program...))} {
		want := verdict(t, run, false)
		for _, procs := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(procs)
			if got := verdict(t, run, true); got != want {
				t.Errorf("run %d, %d procs:\n%s\nline by line:\n%s", i, procs, got, want)
			}
			runtime.GOMAXPROCS(before)
		}
	}
}
