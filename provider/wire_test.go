package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// recorded are requests as a simulator sent them, byte for byte.
func recorded(tb testing.TB) [][]byte {
	tb.Helper()
	text, err := os.ReadFile("testdata/invokes.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(lines) < 20 {
		tb.Fatalf("only %d recorded requests", len(lines))
	}
	return lines
}

func TestRecordedRequestsRoundTrip(t *testing.T) {
	for _, line := range recorded(t) {
		r, err := DecodeRequest(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if diff := cmp.Diff(string(line), string(r.AppendJSON(nil))); diff != "" {
			t.Error(diff)
		}
		if frozen := r.Freeze(); !bytes.Equal(frozen, line) || &frozen[0] != &r.Freeze()[0] {
			t.Errorf("frozen as %s", frozen)
		}
	}
}

func TestDecodeRequestTakesAnySpelling(t *testing.T) {
	const odd = ` { "idempotencyKey":"k", "later":{"a":[1]}, "page":{"size":2.0,"more":1,"cursor":"c"},
		"principal":{"scopes":["b","a"],"role":"admin","id":"x"}, "params":{"query":{"n":1.10,"a":{"z":1,"a":2}}, "matrix":{}},
		"body":{"10":1,"2":[1, 2]}, "kind":"list", "operationId":"é\u00e9", "Method":"no", "tenantId":null, "resource":"t",
		"kind":"search" }`
	r, err := DecodeRequest([]byte(odd))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"requestId":"","capabilityId":"","operationId":"éé","toolName":"","kind":"search","action":"","resource":"t",` +
		`"method":"","pathTemplate":"","params":{"path":{},"query":{"n":1.10,"a":{"z":1,"a":2}},"header":{},"cookie":{}},` +
		`"body":{"10":1,"2":[1,2]},"page":{"cursor":"c","size":2},"principal":{"id":"x","role":"admin","scopes":["b","a"]},` +
		`"tenantId":null,"idempotencyKey":"k"}`
	if diff := cmp.Diff(want, string(r.AppendJSON(nil))); diff != "" {
		t.Error(diff)
	}
	if got := string(r.Params.Query.Get("n")); got != "1.10" || r.Params.Query.Get("N") != nil {
		t.Errorf("Get: %s", got)
	}
	var again Request
	if err := json.Unmarshal([]byte(odd), &again); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(again)
	if err != nil || string(out) != want {
		t.Errorf("encoding/json: %s, %v", out, err)
	}
}

func TestDecodeRequestErrors(t *testing.T) {
	for in, want := range map[string]string{
		``:                               "the text ends",
		`[]`:                             "the value is [], want an object",
		`{"kind":null}`:                  "/kind is null, want a string",
		`{"resource":1}`:                 "/resource is 1, want a string or null",
		`{"params":[]}`:                  "/params is [], want an object",
		`{"params":{"path":null}}`:       "/params/path is null, want an object",
		`{"page":{}}`:                    "/page/size is absent",
		`{"page":{"size":0}}`:            "/page/size is 0, want an integer from 1",
		`{"page":{"size":1.5}}`:          "/page/size is 1.5",
		`{"page":{"size":1e99}}`:         "/page/size is 1e99",
		`{"page":{"size":1,"cursor":2}}`: "/page/cursor is 2",
		`{"principal":"admin"}`:          `/principal is "admin"`,
		`{"principal":{"scopes":[1]}}`:   "/principal/scopes is 1",
		`{"principal":{"scopes":"a"}}`:   "/principal/scopes",
		"{\"body\":\"\xff\"}":            "not UTF-8",
		`{"toolName":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: "...",
	} {
		_, err := DecodeRequest([]byte(in))
		if err == nil || !strings.HasPrefix(err.Error(), "request: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %q", in, err, want)
		}
	}
}

// answers are what a paged request (of 3) and another one make of an answer; ""
// accepts it. The order of the faults is that of the recordings.
var answers = []struct{ raw, paged, plain string }{
	{`"text"`, "boolean 'ok'", "boolean 'ok'"},
	{`7`, "boolean 'ok'", "boolean 'ok'"},
	{`null`, "boolean 'ok'", "boolean 'ok'"},
	{`[]`, "boolean 'ok'", "boolean 'ok'"},
	{`{}`, "boolean 'ok'", "boolean 'ok'"},
	{`{"ok":"true"}`, "boolean 'ok'", "boolean 'ok'"},
	{`{"OK":true}`, "boolean 'ok'", "boolean 'ok'"},
	{`{"ok":true}`, "needs an 'items' array", ""},
	{`{"ok":true,"items":"no"}`, "needs an 'items' array", ""},
	{`{"ok":true,"items":null,"total":-1}`, "needs an 'items' array", ""},
	{`{"ok":true,"items":[1,2,3]}`, "", ""},
	{`{"ok":true,"items":[1,2,3,4]}`, "returned 4 items for a page of 3", ""},
	{`{"ok":true,"items":[1,2,3,4],"total":-1,"nextCursor":5}`, "returned 4 items", ""},
	{`{"ok":true,"items":[1],"total":-1,"nextCursor":5}`, "'total' must be a non-negative integer", ""},
	{`{"ok":true,"items":[1],"total":1.5}`, "'total' must be", ""},
	{`{"ok":true,"items":[1],"total":"3"}`, "'total' must be", ""},
	{`{"ok":true,"items":[1],"total":null}`, "'total' must be", ""},
	{`{"ok":true,"items":[1],"total":1e400}`, "'total' must be", ""},
	{`{"ok":true,"items":[1],"total":1e999999999}`, "'total' must be", ""},
	{`{"ok":true,"items":[1],"total":3.0}`, "", ""},
	{`{"ok":true,"items":[1],"total":-0}`, "", ""},
	{`{"ok":true,"items":[1],"nextCursor":5}`, "'nextCursor' must be a string or null", ""},
	{`{"ok":true,"items":[1],"nextCursor":{"a":1}}`, "'nextCursor' must be", ""},
	{`{"ok":true,"items":[],"nextCursor":null}`, "", ""},
	{`{"ok":true,"items":[],"result":1}`, "", ""},
	{`{"ok":true,"result":{"items":[1]}}`, "needs an 'items' array", ""},
	{`{"ok":true,"result":1,"error":{},"headers":null,"meta":3,"later":1}`, "needs an 'items' array", ""},
	{`{"ok":false}`, "needs 'error.code'", "needs 'error.code'"},
	{`{"ok":false,"error":"text"}`, "needs 'error.code'", "needs 'error.code'"},
	{`{"ok":false,"error":{}}`, "needs 'error.code'", "needs 'error.code'"},
	{`{"ok":false,"error":{"code":404,"status":7}}`, "needs 'error.code'", "needs 'error.code'"},
	{`{"ok":false,"error":{"code":"not_found"},"items":[1,2,3,4]}`, "", ""},
	{`{"ok":false,"error":{"code":"made_up","upstreamCode":null,"message":null,"status":null,"body":null}}`, "", ""},
	{`{"ok":false,"error":{"code":"x","status":410.0}}`, "", ""},
	{`{"ok":false,"error":{"code":"x","status":99}}`, "'error.status' is 99", "'error.status' is 99"},
	{`{"ok":false,"error":{"code":"x","status":600}}`, "'error.status' is 600", "'error.status' is 600"},
	{`{"ok":false,"error":{"code":"x","status":404.5}}`, "'error.status'", "'error.status'"},
	{`{"ok":false,"error":{"code":"x","status":"404"}}`, "'error.status'", "'error.status'"},
	{`{"ok":false,"error":{"code":"x","message":5}}`, "'error.message' is 5", "'error.message' is 5"},
	{`{"ok":false,"error":{"code":"x","upstreamCode":5}}`, "'error.upstreamCode' is 5", "'error.upstreamCode' is 5"},
}

func TestWhatAnAnswerMayBe(t *testing.T) {
	for _, tc := range answers {
		for want, req := range map[*string]*Request{&tc.paged: {Page: &Page{Size: 3}}, &tc.plain: {}} {
			r, err := ParseResponse([]byte(" " + tc.raw + "\n"))
			if err == nil {
				err = r.CheckFor(req)
			}
			if r == nil || string(r.Raw) != tc.raw {
				t.Errorf("%s: the answer is not kept", tc.raw)
			}
			var m *MalformedError
			switch {
			case *want == "" && err == nil:
			case !errors.As(err, &m) || *want == "" || !strings.Contains(m.Reason, *want):
				t.Errorf("%s for a page of %v: got %v, want %q", tc.raw, req.Page, err, *want)
			case string(m.Raw) != tc.raw:
				t.Errorf("%s: the error carries %s", tc.raw, m.Raw)
			}
		}
	}
}

func TestParseResponseKeepsTheSpelling(t *testing.T) {
	r, err := ParseResponse([]byte(`{"meta":{"q":1},"items":[ {"b":1.0,"a":1e3} , 9007199254740993,[]],"ok":true,"nextCursor":"","total":3,"x":"\u003c"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Response{
		OK: true, Total: new(int64),
		Items: []json.RawMessage{[]byte(`{"b":1.0,"a":1e3}`), []byte("9007199254740993"), []byte("[]")},
		Meta:  []byte(`{"q":1}`),
		Raw:   []byte(`{"meta":{"q":1},"items":[{"b":1.0,"a":1e3},9007199254740993,[]],"ok":true,"nextCursor":"","total":3,"x":"<"}`),
	}
	*want.Total = 3
	if diff := cmp.Diff(want, r, cmpopts.IgnoreUnexported(Response{})); diff != "" {
		t.Error(diff)
	}
	if got := string(r.AppendJSON([]byte("+"))); got != "+"+string(want.Raw) {
		t.Errorf("AppendJSON: %s", got)
	}
	if same, err := r.Canonical(); same != r || err != nil {
		t.Errorf("Canonical made another one: %v", err)
	}
	if _, err := ParseResponse([]byte(`{"ok":NaN}`)); err == nil || !strings.Contains(err.Error(), "byte 6") {
		t.Errorf("got %v, want the position", err)
	}
}

func TestResponsesMadeHere(t *testing.T) {
	must := func(r *Response, err error) *Response {
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	status, upstream := 410, "GONE"
	failure := Fail(NotFound, "no %s", "T-9")
	failure.Error.Status, failure.Error.UpstreamCode = &status, &upstream
	failure.Error.Body = []byte(`{ "b": 1 }`)
	total := int64(2)
	page := must(PageOf([]any{"<a>", 1, nil}, "n"))
	page.Total, page.Headers = &total, []byte("{\n\"ETag\": \"x\"}")
	for _, tc := range []struct {
		r    *Response
		want string
	}{
		{must(Result(map[string]string{"q": "<&\u2028"})), `{"ok":true,"result":{"q":"<&` + "\u2028" + `"}}`},
		{ResultJSON([]byte("[1,\n 2.50]")), `{"ok":true,"result":[1,2.50]}`},
		{ResultJSON(nil), `{"ok":true}`},
		{must(PageOf[int](nil, "")), `{"ok":true,"items":[],"nextCursor":null}`},
		{page, `{"ok":true,"items":["<a>",1,null],"nextCursor":"n","total":2,"headers":{"ETag":"x"}}`},
		{&Response{OK: true, Items: []json.RawMessage{nil}}, `{"ok":true,"items":[null],"nextCursor":null}`},
		{failure, `{"ok":false,"error":{"code":"not_found","upstreamCode":"GONE","message":"no T-9","status":410,"body":{"b":1}}}`},
		{&Response{OK: true, Meta: []byte(`{"rows" : 3}`)}, `{"ok":true,"meta":{"rows":3}}`},
	} {
		if got := string(tc.r.AppendJSON(nil)); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
		c, err := tc.r.Canonical()
		if err != nil || string(c.Raw) != tc.want {
			t.Errorf("Canonical: got %s, %v, want %s", c.Raw, err, tc.want)
		}
	}
	bad := &Response{OK: true, Items: []json.RawMessage{[]byte("1"), []byte("{")}}
	if _, err := bad.Canonical(); err == nil || !strings.Contains(err.Error(), `"items\":[1,"`) {
		t.Errorf("got %v, want the place", err)
	}
	if got, want := string(bad.AppendJSON(nil)), `{"ok":true,"items":[1,null],"nextCursor":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := Result(func() {}); err == nil {
		t.Error("a func is no JSON")
	}
	if err := (&Response{}).CheckFor(&Request{}); err == nil {
		t.Error("a failure without an error is accepted")
	}
}

func TestInitializeRoundTrip(t *testing.T) {
	const want = `{"protocolVersion":1,"simulator":{"name":"@anvil/simulator","version":"0.1.0"},"serviceId":"tickets",` +
		`"capabilityId":"tickets","contractDigest":"3f1c","surfaceDigest":null,"seed":4294967295,"operations":[` +
		`{"operationId":"tickets.tickets.list","toolName":"tickets_list_tickets","kind":"list","action":"list","resource":"ticket",` +
		`"method":"GET","pathTemplate":"/tickets","paged":true},` +
		`{"operationId":"","toolName":"","kind":"","action":"","resource":null,"method":"","pathTemplate":"","paged":false}]}`
	p, err := DecodeInitializeParams([]byte(strings.Replace(want, `"seed"`, `"later":[], "seed"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(p.AppendJSON(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for in, want := range map[string]string{
		`[]`:                                  "an object",
		`{"seed":-1}`:                         "/seed is -1",
		`{"operations":{}}`:                   "/operations is {}",
		`{"operations":[{},{"paged":"yes"}]}`: `/operations/1/paged is "yes"`,
		`{"operations":[1]}`:                  "/operations/0 is 1",
		`{"simulator":{"name":7}}`:            "/simulator/name is 7",
	} {
		if _, err := DecodeInitializeParams([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
	r, err := DecodeInitializeResult([]byte(`{"contract":{ "a":1.0 },"x":1,"protocolVersion":1.0}`))
	if err != nil || string(r.AppendJSON(nil)) != `{"protocolVersion":1,"contract":{"a":1.0}}` {
		t.Errorf("got %s, %v", r.AppendJSON(nil), err)
	}
	if _, err := DecodeInitializeResult([]byte(`{"contract":1}`)); err == nil {
		t.Error("a result without a version is accepted")
	}
}

func FuzzDecodeRequest(f *testing.F) {
	for _, line := range recorded(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := DecodeRequest(raw)
		if err != nil {
			return
		}
		once := r.AppendJSON(nil)
		again, err := DecodeRequest(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := again.AppendJSON(nil); !bytes.Equal(once, twice) {
			t.Fatalf("%s is read as %s", once, twice)
		}
	})
}

func FuzzParseResponse(f *testing.F) {
	for _, tc := range answers {
		f.Add([]byte(tc.raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		paged := &Request{Page: &Page{Size: 3}}
		r, err := ParseResponse(raw)
		if err != nil || r.CheckFor(paged) != nil {
			return
		}
		// What is accepted can be built again from its fields.
		own := *r
		own.Raw = nil
		again, err := own.Canonical()
		if err == nil {
			err = again.CheckFor(paged)
		}
		if err != nil {
			t.Fatalf("%s: %v", r.Raw, err)
		}
	})
}
