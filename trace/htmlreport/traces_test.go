package htmlreport

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// render makes a page of a run beside a baseline, "" for none.
func render(t testing.TB, run, baseline string) string {
	t.Helper()
	var out bytes.Buffer
	var old *trace.Input
	if baseline != "" {
		old = &trace.Input{Name: "golden.jsonl", Reader: strings.NewReader(baseline)}
	}
	if _, err := Write(context.Background(), &out, trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)}, old, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// call is one line; body is what was answered.
func call(seq int, method, path, tool string, status int, body string) string {
	return fmt.Sprintf(`{"schema":"anvil.simulator.trace/v1","seq":%d,"requestId":"r%[1]d","transport":"http","tool":%[2]q,"operationId":%[3]q,`+
		`"request":{"method":%[4]q,"path":%[5]q,"query":{},"headers":{"accept":"application/json"},"body":null},`+
		`"normalized":{"requestId":"r%[1]d","kind":"read","params":{"path":{},"query":{}},"principal":{"id":"admin"},"tenantId":null},`+
		`"provider":{"ok":%[6]t,"result":%[7]s},"result":{"ok":%[6]t,"output":%[7]s},"status":%[8]d,"response":%[7]s}`+"\n",
		seq, tool, strings.ReplaceAll(tool, "_", "."), method, path, status < 400, body, status)
}

// manyCalls makes a run of n calls, of which every 10th creates and every 100th
// fails, and a baseline: call 5 answers otherwise, the run lacks a call before
// its call 1000, and its last call is one more.
func manyCalls(n int) (run, baseline string) {
	var a, b strings.Builder
	at := func(i int, state string) string {
		body := fmt.Sprintf(`{"id":"T-%d","subject":"needle %[1]d","state":%q,"tags":["a","b"],"score":1.10,"big":9007199254740993}`, i, state)
		switch {
		case i%100 == 99:
			return call(i, "GET", fmt.Sprintf("/v1/tickets/T-%d", i), "tickets_get", 404, fmt.Sprintf(`{"error":{"code":"not_found","message":"No ticket T-%d"}}`, i))
		case i%10 == 0:
			return call(i, "POST", "/v1/tickets", "tickets_create", 201, body)
		}
		return call(i, "GET", fmt.Sprintf("/v1/tickets/T-%d", i), "tickets_get", 200, body)
	}
	for i := 1; i <= n; i++ {
		if i == 5 {
			a.WriteString(at(i, "closed"))
			b.WriteString(at(i, "open"))
			continue
		}
		if i == 1000 {
			b.WriteString(call(1000, "DELETE", "/v1/tickets/T-1", "tickets_delete", 204, "null"))
		}
		a.WriteString(at(i, "open"))
		if i == n {
			continue
		}
		line := at(i, "open")
		if i >= 1000 {
			line = strings.Replace(line, fmt.Sprintf(`"seq":%d,"requestId":"r%[1]d"`, i), fmt.Sprintf(`"seq":%d,"requestId":"r%[1]d"`, i+1), 1)
			line = strings.Replace(line, fmt.Sprintf(`"normalized":{"requestId":"r%d"`, i), fmt.Sprintf(`"normalized":{"requestId":"r%d"`, i+1), 1)
		}
		b.WriteString(line)
	}
	return a.String(), b.String()
}

// everyChange makes a run and a baseline with each kind of change.
func everyChange() (run, baseline string) {
	a := []string{
		call(1, "GET", "/v1/tickets", "tickets_list", 200, `{"items":[{"id":"T-1","state":"open"},{"id":"T-2","state":"open"}],"next":null}`),
		call(2, "GET", "/v1/tickets/T-1", "tickets_get", 200, `{"id":"T-1","state":"open"}`),
		call(3, "PATCH", "/v1/tickets/T-1", "tickets_update", 200, `{"id":"T-1","subject":"Printer on the third floor does not answer","state":"open","owner":{"name":"Ada","mail":"ada@example.com"},"tags":["hardware","urgent"],"seen":9007199254740993,"cost":1.10}`),
		call(4, "GET", "/v1/comments", "comments_list", 200, `{"items":[]}`),
		call(5, "DELETE", "/v1/tickets/T-9", "tickets_delete", 204, `null`),
		call(6, "GET", "/v1/users/U-1", "users_get", 200, `{"id":"U-1"}`),
	}
	b := []string{
		a[0],
		strings.Replace(a[3], `"seq":4`, `"seq":2`, 1),
		call(3, "PATCH", "/v1/tickets/T-1", "tickets_update", 200, `{"id":"T-1","subject":"Printer on the fourth floor does not answer","state":"closed","owner":{"name":"Ada"},"tags":["hardware","urgent","printer"],"seen":9007199254740992,"cost":1.10,"closed_by":{"name":"Grace","at":null}}`),
		strings.Replace(a[1], `"seq":2`, `"seq":4`, 1),
		call(5, "GET", "/v1/users/U-1", "users_get", 404, `{"error":{"code":"not_found","message":"No user U-1"}}`),
		call(6, "POST", "/v1/tickets", "tickets_create", 409, `{"error":{"code":"conflict","message":"T-1 is there already"}}`),
	}
	return strings.Join(b, ""), strings.Join(a, "")
}

// hostile makes traces that want to break out of the page.
func hostile() (run, baseline string) {
	evil := []string{
		`</script><script>window.pwned=1</script>`, `<img src=x onerror="window.pwned=1">`, `<!--<script>window.pwned=1`, `--><svg/onload=window.pwned=1>`,
		`javascript:window.pwned=1`, "\u202etxt.exe\u2066 \u0007\u001b[31m \u2028\u2029 \u200b", `';window.pwned=1;//`, "${window.pwned=1}", `__proto__`, `]]>`, `&lt;b&gt;`,
	}
	var members strings.Builder
	for i, s := range evil {
		if i > 0 {
			members.WriteString(",")
		}
		members.Write(canon.AppendString(nil, s))
		members.WriteString(":")
		members.Write(canon.AppendString(nil, s))
	}
	text := string(canon.AppendString(nil, strings.Join(evil, " ")))
	line := func(seq int, state string) string {
		return fmt.Sprintf(`{"schema":"anvil.simulator.trace/v1","seq":%d,"requestId":%s,"transport":%[2]s,"tool":%[2]s,"operationId":%[2]s,"request":{"method":%[2]s,"path":%[2]s,`+
			`"query":{%[3]s},"headers":{%[3]s},"body":{%[3]s}},"normalized":null,"provider":null,"result":{"ok":false,"error":{"code":%[2]s,"message":%[2]s}},"status":500,`+
			`"response":{%[3]s,"state":%[4]s,"lone":"\ud800","html":%[2]s},"warnings":[%[2]s],"x</script>":{"constructor":1,"toString":2}}`+"\n", seq, text, members.String(), state)
	}
	return line(1, text) + line(2, `"`+strings.Repeat("<b>long ", 1000)+`"`) + line(3, "1"), line(1, `"before"`) + line(2, `"<b>"`) + line(3, "1")
}
