package replayer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

func contract(t testing.TB) *air.Document {
	t.Helper()
	doc, err := air.Load("testdata/tickets.air.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func newProvider(t testing.TB, o *replayer.Options, lines ...string) *replayer.Provider {
	t.Helper()
	p, err := replayer.NewProvider([]*tape.Tape{tapeOf(t, lines...)}, contract(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// normalized is a request "OPERATION [PARAMS] [body JSON] [page CURSOR SIZE] [key K]".
func normalized(t testing.TB, text string) *provider.Request {
	t.Helper()
	words := strings.Split(text, " ")
	r := &provider.Request{OperationID: words[0]}
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "body":
			r.Body = []byte(words[i+1])
			i++
		case "key":
			r.IdempotencyKey = &words[i+1]
			i++
		case "page":
			size, err := strconv.Atoi(words[i+2])
			if err != nil {
				t.Fatal(err)
			}
			r.Page = &provider.Page{Size: size}
			if words[i+1] != "-" {
				r.Page.Cursor = &words[i+1]
			}
			i += 2
		default:
			name, value, _ := strings.Cut(words[i], "=")
			in, name, _ := strings.Cut(name, ".")
			m := provider.Member{Name: name, Value: []byte(value)}
			switch in {
			case "path":
				r.Params.Path = append(r.Params.Path, m)
			case "query":
				r.Params.Query = append(r.Params.Query, m)
			case "header":
				r.Params.Header = append(r.Params.Header, m)
			}
		}
	}
	return r
}

// invoke is the answer as JSON, or the reason of the miss in brackets.
func invoke(t testing.TB, p provider.Provider, text string) string {
	t.Helper()
	resp, err := p.Invoke(context.Background(), normalized(t, text))
	var miss *replayer.Miss
	switch {
	case errors.As(err, &miss):
		return "[" + string(miss.Reason) + "]"
	case err != nil:
		t.Fatalf("%s: %v", text, err)
	}
	return string(resp.AppendJSON(nil))
}

func TestProviderMatchesOnTheContractsTerms(t *testing.T) {
	const yes = `{"ok":true,"result":"yes"}`
	for _, c := range []struct{ name, recorded, asked, want string }{
		{"server prefix and host", "GET https://api.example.com/v2/tickets/7", "tickets.get path.id=7", yes},
		{"another host without the prefix", "GET http://127.0.0.1:9/tickets/7", "tickets.get path.id=7", yes},
		{"typed path value", "GET /tickets/7", "tickets.get path.id=7.0", yes},
		{"typed boolean", "GET /tickets/7?full=true", "tickets.get path.id=7 query.full=true", yes},
		{"text that is no boolean", "GET /tickets/7?full=yes", `tickets.get path.id=7 query.full=true`, "[not_recorded]"},
		{"an undeclared parameter never reached the provider", "GET /tickets/7?utm=1", "tickets.get path.id=7", yes},
		{"a parameter more", "GET /tickets/7?full=true", "tickets.get path.id=7", "[not_recorded]"},
		{"body fields in another order, undeclared and null ones left out", `POST /tickets {"priority":1,"x":1,"title":"a"}`, `tickets.create body {"title":"a","priority":1}`, yes},
		{"a null field", `POST /tickets {"priority":null,"title":"a"}`, `tickets.create body {"title":"a"}`, yes},
		{"the credential that the contract names", `POST /tickets?api_key=x {"title":"a"}`, `tickets.create body {"title":"a"}`, yes},
		{"a key is no part", `POST /tickets {"title":"a"} #k1`, `tickets.create body {"title":"a"} key other`, yes},
		{"another body", `POST /tickets {"title":"a"}`, `tickets.create body {"title":"b"}`, "[not_recorded]"},
		{"a typed form and two parameters in one segment", "POST /forms/a.b.c n=01&tags=x&tags=y", `form.send path.name="a.b" path.format="c" body {"tags":["x","y"],"n":"01"}`, yes},
		{"a form's number", "POST /forms/a.c n=10", `form.send path.name="a" path.format="c" body {"n":10}`, yes},
	} {
		p := newProvider(t, nil, c.recorded+` -> "yes"`)
		if got := invoke(t, p, c.asked); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestProviderAnswers(t *testing.T) {
	answer := func(status int, headers tape.Header, body string) *tape.Tape {
		rec := tapeOf(t, "GET /tickets/7 -> "+body)
		rec.Interactions[0].Response.Status, rec.Interactions[0].Response.Header = status, headers
		return rec
	}
	for _, c := range []struct {
		name, body string
		status     int
		headers    tape.Header
		want       string
	}{
		{"numbers and key order", `{"b": 1.10, "a": 9007199254740993}`, 200, nil, `{"ok":true,"result":{"b":1.10,"a":9007199254740993}}`},
		{"no body", "", 204, nil, `{"ok":true}`},
		{"text", "id,name\n", 200, nil, `{"ok":true,"result":"id,name\n"}`},
		{"bytes", "\xff\xfe", 200, nil, `{"ok":true,"result":"//4="}`},
		{"a declared header", `1`, 200, tape.Header{{Name: "etag", Value: "W/1"}, {Name: "x-other", Value: "1"}}, `{"ok":true,"result":1,"headers":{"ETag":"W/1"}}`},
		{"a vendor code that the contract names", `{"error":{"code":"GONE","message":"no more"}}`, 404, nil,
			`{"ok":false,"error":{"code":"conflict","upstreamCode":"GONE","message":"no more","status":404,"body":{"error":{"code":"GONE","message":"no more"}}}}`},
		{"a declared status", `{"message":"none"}`, 404, nil, `{"ok":false,"error":{"code":"not_found","message":"none","status":404,"body":{"message":"none"}}}`},
		{"a conventional status", `{}`, 409, nil, `{"ok":false,"error":{"code":"conflict","status":409,"body":{}}}`},
		{"an unknown status", `{"errors":[{"code":"I_AM","detail":"a teapot"}]}`, 418, nil,
			`{"ok":false,"error":{"code":"unknown_upstream_error","upstreamCode":"I_AM","message":"a teapot","status":418,"body":{"errors":[{"code":"I_AM","detail":"a teapot"}]}}}`},
		{"a redirect", "", 302, nil, `{"ok":false,"error":{"code":"unknown_upstream_error","status":302}}`},
		{"a text", "Bad Gateway", 502, nil, `{"ok":false,"error":{"code":"schema_mismatch","status":502,"body":"Bad Gateway"}}`},
	} {
		p, err := replayer.NewProvider([]*tape.Tape{answer(c.status, c.headers, c.body)}, contract(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := invoke(t, p, "tickets.get path.id=7"); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestProviderFailures(t *testing.T) {
	rec := tapeOf(t, "GET /tickets/7 -> x")
	rec.Interactions[0].Failure = &tape.Failure{TimedOut: true, Message: "deadline"}
	p, err := replayer.NewProvider([]*tape.Tape{rec}, contract(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := invoke(t, p, "tickets.get path.id=7"); got != `{"ok":false,"error":{"code":"upstream_timeout","message":"deadline"}}` {
		t.Error(got)
	}
}

// A page that cannot be read is a miss when it is asked for, and no end of the rest.
func TestUnreadablePage(t *testing.T) {
	rec := tapeOf(t, `GET /tickets?limit=2 -> {"data":[1,2],"meta":{"next":""}}`, "GET /tickets/7 -> 7")
	rec.Interactions[0].Response.Header = tape.Header{{Name: "Content-Encoding", Value: "gzip"}}
	rec.Interactions[0].Response.Body = []byte("\x1f\x8bnot gzip")
	p, err := replayer.NewProvider([]*tape.Tape{rec}, contract(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := invoke(t, p, "tickets.get path.id=7"); got != `{"ok":true,"result":7}` {
		t.Error(got)
	}
	if got := invoke(t, p, "tickets.list page - 2"); got != "[not_kept]" {
		t.Error(got)
	}
}

// walk pages through a query and returns the items, and how it ended.
func walk(t *testing.T, p provider.Provider, text string, size int) string {
	t.Helper()
	cursor, seen := "-", ""
	for range 50 {
		resp, err := p.Invoke(context.Background(), normalized(t, fmt.Sprintf("%s page %s %d", text, cursor, size)))
		var miss *replayer.Miss
		switch {
		case errors.As(err, &miss):
			return seen + "[" + string(miss.Reason) + "]"
		case err != nil:
			t.Fatal(err)
		case !resp.OK:
			seen += "<" + string(resp.Error.Code) + ">"
			continue // a client that tries again
		}
		if len(resp.Items) > size {
			t.Fatalf("%d items for a page of %d", len(resp.Items), size)
		}
		for _, it := range resp.Items {
			seen += string(it)
		}
		seen += "|"
		if resp.NextCursor == nil {
			return seen
		}
		cursor = *resp.NextCursor
	}
	return seen + "[endless]"
}

func TestPages(t *testing.T) {
	cursorPages := []string{
		`GET /tickets?limit=2 -> {"data":[1,2],"meta":{"next":"c1"}}`,
		`GET /tickets?limit=2&status=open -> {"data":[8],"meta":{"next":""}}`,
		`GET /tickets?limit=2&after=c1 -> {"data":[3,4],"meta":{"next":"c2"}}`,
		`GET /tickets?limit=2&after=c2 -> {"data":[5],"meta":{}}`,
	}
	users := []string{"GET /users?per_page=3 -> [1,2,3]", "GET /users?per_page=3&page=2 -> [4,5,6]", "GET /users?per_page=3&page=3 -> [7]"}
	logs := []string{`POST /logs/search {"q":"a","count":2} -> {"rows":[1,2]}`, `POST /logs/search {"start":2,"q":"a","count":2} -> {"rows":[3]}`}
	for _, c := range []struct {
		name string
		tape []string
		asks string
		size int
		want string
	}{
		{"one by one", cursorPages, "tickets.list", 1, "1|2|3|4|5|"},
		{"other sizes", cursorPages, "tickets.list", 3, "123|45|"},
		{"all at once", cursorPages, "tickets.list query.limit=100", 100, "12345|"},
		{"another query", cursorPages, `tickets.list query.status="open"`, 2, "8|"},
		{"stops in the middle", cursorPages[:3], "tickets.list", 3, "123|4|[past_end]"},
		{"an error between pages", []string{cursorPages[0], `GET /tickets?limit=2&after=c1 -> {"error":"SLOW_DOWN"}`, cursorPages[2], cursorPages[3]}, "tickets.list", 2, "12|<rate_limited>34|5|"},
		{"page numbers", users, "users.list", 3, "123|456|7|"},
		{"page numbers, all at once", users, "users.list", 10, "1234567|"},
		{"page numbers, smaller pages", users, "users.list", 2, "12|34|56|7|"},
		{"offsets in the body", logs, `logs.search body {"q":"a"}`, 1, "1|2|3|"},
		{"offsets, one page", logs, `logs.search body {"q":"a","count":50}`, 50, "123|"},
	} {
		rec := tapeOf(t, c.tape...)
		if strings.HasPrefix(c.name, "an error") {
			rec.Interactions[1].Response.Status = 429
		}
		p, err := replayer.NewProvider([]*tape.Tape{rec}, contract(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := walk(t, p, c.asks, c.size); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPagesOfClientsThatCount(t *testing.T) {
	p := newProvider(t, nil, "GET /users?per_page=3 -> [1,2,3]", "GET /users?per_page=3&page=2 -> [4,5,6]")
	for _, c := range [][2]string{
		{"users.list query.page=1 page 1 2", `{"ok":true,"items":[1,2],"nextCursor":"2"}`},
		{"users.list query.page=3 page 3 2", `{"ok":true,"items":[5,6],"nextCursor":null}`},
		{"users.list query.page=4 page 4 2", "[past_end]"},
		{"users.list page x 2", "[bad_cursor]"},
		{"users.list page p9.1 2", "[bad_cursor]"},
	} {
		if got := invoke(t, p, c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

func TestRecordedCursorsAndMiddles(t *testing.T) {
	p := newProvider(t, nil,
		`GET /tickets?after=c7 -> {"data":[1,2],"meta":{"next":"c9"}}`,
		`GET /tickets?after=c9 -> {"data":[3],"meta":{}}`,
	)
	if got := invoke(t, p, "tickets.list page - 2"); got != "[not_recorded]" {
		t.Errorf("the first page: %s", got)
	}
	_, err := p.Invoke(context.Background(), normalized(t, "tickets.list page - 2"))
	if err == nil || !strings.Contains(err.Error(), `the first page of this query is not recorded: t #0 begins at the cursor "c7"`) {
		t.Errorf("%v", err)
	}
	if got := invoke(t, p, "tickets.list page c9 2"); got != `{"ok":true,"items":[3],"nextCursor":null}` {
		t.Errorf("a recorded cursor: %s", got)
	}
	exact := newProvider(t, &replayer.Options{Match: []string{"cursor"}},
		`GET /tickets -> {"data":[1,2],"meta":{"next":"c9"}}`, `GET /tickets?after=c9 -> {"data":[3],"meta":{}}`)
	if got := invoke(t, exact, "tickets.list page - 50"); got != `{"ok":true,"items":[1,2],"nextCursor":"c9"}` {
		t.Errorf("with --match cursor: %s", got)
	}
	if got := invoke(t, exact, "tickets.list page c9 50"); got != `{"ok":true,"items":[3],"nextCursor":null}` {
		t.Errorf("with --match cursor: %s", got)
	}
}

func TestListsAreListedAgain(t *testing.T) {
	lines := []string{
		`GET /tickets -> {"data":[1],"meta":{}}`, `POST /tickets {"title":"a"} -> {"id":2}`, `GET /tickets -> {"data":[1,2],"meta":{}}`,
	}
	p := newProvider(t, nil, lines...)
	for i, c := range [][2]string{
		{"tickets.list page - 9", `{"ok":true,"items":[1],"nextCursor":null}`},
		{"tickets.list page - 9", `{"ok":true,"items":[1],"nextCursor":null}`}, // a retry
		{`tickets.create body {"title":"a"}`, `{"ok":true,"result":{"id":2}}`},
		{"tickets.list page - 9", `{"ok":true,"items":[1,2],"nextCursor":null}`},
		{`tickets.create body {"title":"a"}`, "[used_up]"},
		{"tickets.list page - 9", "[used_up]"},
	} {
		if got := invoke(t, p, c[0]); got != c[1] {
			t.Errorf("step %d %s: %s, want %s", i, c[0], got, c[1])
		}
	}
	if s := p.Stats(); s.Used != 3 || len(s.Unused) != 0 || s.Misses != 2 {
		t.Errorf("%+v", s)
	}
}

func TestUnusedPagesAreCounted(t *testing.T) {
	p := newProvider(t, nil,
		`GET /tickets -> {"data":[1,2],"meta":{"next":"a"}}`, `GET /tickets?after=a -> {"data":[3],"meta":{}}`, "GET /tickets/7 -> 7")
	invoke(t, p, "tickets.list page - 2")
	s := p.Stats()
	if s.Interactions != 3 || s.Used != 1 || len(s.Unused) != 2 || s.Unused[0].Position != 1 {
		t.Errorf("%+v", s)
	}
}

func TestMissAtTheSeam(t *testing.T) {
	p := newProvider(t, nil, `POST /tickets {"title":"a","priority":1} -> 1`, "GET /elsewhere -> 1")
	_, err := p.Invoke(context.Background(), normalized(t, `tickets.create body {"title":"a","priority":2}`))
	var rpc *provider.RPCError
	if !errors.As(err, &rpc) || rpc.Code != replayer.CodeMiss {
		t.Fatalf("%v", err)
	}
	line := string(provider.AppendRPCError(nil, []byte("5"), rpc))
	for _, part := range []string{`"data":{"miss":{"reason":"not_recorded","asked":"tickets.create"`, `{"field":"body/priority","asked":"2","recorded":"1"}`, `"accept":{"ignore":["tickets.create:body/priority"],"ambiguous":0}`} {
		if !strings.Contains(line, part) {
			t.Errorf("no %s in %s", part, line)
		}
	}
	m, err := provider.ParseMessage([]byte(line))
	if err != nil || string(m.Failure().Data) != string(rpc.Data) {
		t.Errorf("the data does not come back: %v", err)
	}
	if apart := p.Apart(); len(apart) != 1 || apart[0].Request.URL != "/elsewhere" {
		t.Errorf("apart: %v", apart)
	}
}

func TestHTTPNeedsAContract(t *testing.T) {
	_, err := replayer.NewProvider([]*tape.Tape{tapeOf(t, "GET /a -> 1")}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "--contract") {
		t.Errorf("%v", err)
	}
}

// Every trace is a recording: each normalized request of the recorded sessions
// gets the recorded answer, with and without the contract.
func TestEachTracedCallGetsItsAnswer(t *testing.T) {
	files, err := filepath.Glob("../testdata/conformance/sessions/*/trace.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no traces", err)
	}
	n, equal := 0, 0
	for _, file := range files {
		for _, with := range []bool{true, false} {
			rec := traced(t, file)
			var doc *air.Document
			if path := filepath.Join(filepath.Dir(file), "air.yaml"); with && exists(path) {
				if doc, err = air.Load(path); err != nil {
					continue // a session about a bad contract
				}
			}
			p, err := replayer.NewProvider([]*tape.Tape{rec}, doc, nil)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			for _, it := range rec.Interactions {
				n++
				if bad := replays(p, it); bad != "" && !repaged(it) {
					t.Errorf("%s (contract: %v): %s", it.Place(), with, bad)
					continue
				}
				equal++
			}
		}
	}
	if equal != n || n < 300 {
		t.Errorf("%d of %d", equal, n)
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// traced is what a trace says of the provider seam.
func traced(t *testing.T, file string) *tape.Tape {
	rec, err := tape.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var calls []*tape.Interaction
	for _, it := range rec.Interactions {
		if it.Call != nil {
			calls = append(calls, it)
		}
	}
	rec.Interactions = calls
	return rec
}

// repaged are the two recorded answers that a page of another size cannot equal:
// one with more items than were asked for, one that continues with what another
// call of the same query got.
func repaged(it *tape.Interaction) bool {
	return strings.Contains(it.Tape, "errors-malformed-paged") || strings.Contains(it.Tape, "page-envelope-shapes")
}

func replays(p *replayer.Provider, it *tape.Interaction) string {
	req, err := provider.DecodeRequest(it.Call.Request)
	if err != nil {
		return err.Error()
	}
	got, err := p.Invoke(context.Background(), req)
	if it.Failure != nil {
		if err != nil || got.OK || *got.Error.Message != it.Failure.Message {
			return fmt.Sprintf("a failure became %v, %v", got, err)
		}
		return ""
	}
	want, malformed := provider.ParseResponse(it.Call.Answer)
	if malformed != nil {
		if err == nil || err.Error() != malformed.Error() {
			return fmt.Sprintf("%v, want %v", err, malformed)
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	same := got.OK == want.OK
	switch {
	case same && req.Page != nil && want.OK && want.Items != nil:
		same = fmt.Sprintf("%s", got.Items) == fmt.Sprintf("%s", want.Items)
	case same:
		same = string(got.AppendJSON(nil)) == string(want.AppendJSON(nil))
	}
	if !same {
		return fmt.Sprintf("asked %s: got %s, want %s", it.Call.Request, got.AppendJSON(nil), want.AppendJSON(nil))
	}
	return ""
}

func TestProviderWithManyClients(t *testing.T) {
	const clients = 64
	var lines []string
	for c := range clients {
		lines = append(lines, fmt.Sprintf(`POST /tickets {"title":"t%d"} -> {"id":%d}`, c, 10000+c), fmt.Sprintf(`GET /tickets/%d -> {"title":"t%d"}`, 10000+c, c),
			fmt.Sprintf(`GET /tickets?status=s%d -> {"data":[1,2],"meta":{"next":"n%d"}}`, c, c), fmt.Sprintf(`GET /tickets?status=s%d&after=n%d -> {"data":[3],"meta":{}}`, c, c))
	}
	p := newProvider(t, nil, lines...)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			if got := invoke(t, p, fmt.Sprintf(`tickets.create body {"title":"t%d"}`, c)); got != fmt.Sprintf(`{"ok":true,"result":{"id":%d}}`, 10000+c) {
				t.Errorf("client %d creates %s", c, got)
			}
			if got := invoke(t, p, fmt.Sprintf(`tickets.get path.id=%d`, 10000+c)); got != fmt.Sprintf(`{"ok":true,"result":{"title":"t%d"}}`, c) {
				t.Errorf("client %d gets %s", c, got)
			}
			if got := walk(t, p, fmt.Sprintf(`tickets.list query.status="s%d"`, c), 2); got != "12|3|" {
				t.Errorf("client %d lists %s", c, got)
			}
		})
	}
	wg.Wait()
	if s := p.Stats(); s.Misses != 0 || len(s.Unused) != 0 {
		t.Errorf("%d missed, %d unused", s.Misses, len(s.Unused))
	}
}
