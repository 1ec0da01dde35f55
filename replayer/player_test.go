package replayer_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// realTapes are the recordings that load, one at least of each format.
func realTapes(t testing.TB) []*tape.Tape {
	t.Helper()
	files, err := filepath.Glob("testdata/real/*/*.*")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	var tapes []*tape.Tape
	for _, file := range files {
		if got, err := tape.LoadFile(file); err == nil {
			tapes = append(tapes, got)
		}
	}
	return tapes
}

// Every recorded request gets its own recorded answer: N of N.
func TestEachRecordedRequestGetsItsAnswer(t *testing.T) {
	for _, order := range []replayer.Order{replayer.OrderCausal, replayer.OrderStrict, replayer.OrderFree} {
		n, hits := 0, 0
		for _, rec := range realTapes(t) {
			p, err := replayer.NewPlayer([]*tape.Tape{rec}, &replayer.Options{Order: order})
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range rec.Interactions {
				n++
				got, err := p.Answer(&it.Request)
				switch {
				case err != nil:
					t.Errorf("%s: %s: %v", order, it.Place(), err)
				case got != it:
					t.Errorf("%s: %s is answered by %s", order, it.Place(), got.Place())
				default:
					hits++
				}
			}
			if s := p.Stats(); s.Used != len(rec.Interactions) || len(s.Unused) != 0 || s.Misses != 0 {
				t.Errorf("%s: %s: %+v", order, rec.Name, s)
			}
		}
		if hits != n || n < 50 {
			t.Errorf("%s: %d of %d", order, hits, n)
		}
	}
}

// tapeOf builds a tape of "METHOD URL [BODY] -> ANSWER" lines.
func tapeOf(t testing.TB, lines ...string) *tape.Tape {
	t.Helper()
	rec := &tape.Tape{Name: "t", Format: tape.GoVCR1}
	for i, line := range lines {
		call, answer, ok := strings.Cut(line, " -> ")
		words := strings.SplitN(call, " ", 3)
		if !ok || len(words) < 2 {
			t.Fatalf("bad line %q", line)
		}
		it := &tape.Interaction{Tape: "t", Position: i, Request: *request(call), Response: tape.Response{Status: 200, Body: []byte(answer)}}
		rec.Interactions = append(rec.Interactions, it)
	}
	return rec
}

// request reads "METHOD URL [BODY] [#KEY]".
func request(call string) *tape.Request {
	call, key, keyed := strings.Cut(call, " #")
	words := strings.SplitN(call, " ", 3)
	r := &tape.Request{Method: words[0], URL: words[1]}
	if len(words) == 3 {
		r.Body = []byte(words[2])
		if words[2][0] == '{' {
			r.Header = tape.Header{{Name: "Content-Type", Value: "application/json"}}
		} else {
			r.Header = tape.Header{{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}}
		}
	}
	if keyed {
		r.Header = append(r.Header, tape.Field{Name: "Idempotency-Key", Value: key})
	}
	return r
}

// ask is the answer's body, or the reason of the miss in brackets.
func ask(t testing.TB, p *replayer.Player, call string) string {
	t.Helper()
	it, err := p.Answer(request(call))
	var miss *replayer.Miss
	switch {
	case errors.As(err, &miss):
		return "[" + string(miss.Reason) + "]"
	case err != nil:
		t.Fatal(err)
	}
	return string(it.Response.Body)
}

func player(t testing.TB, o *replayer.Options, lines ...string) *replayer.Player {
	t.Helper()
	p, err := replayer.NewPlayer([]*tape.Tape{tapeOf(t, lines...)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWhatIsEqual(t *testing.T) {
	for _, c := range []struct {
		name, recorded, asked string
		want                  string
		opts                  replayer.Options
	}{
		{"order of a query", "GET /a?x=1&y=2", "GET /a?y=2&x=1", "yes", replayer.Options{}},
		{"order of repeats", "GET /a?x=1&x=2", "GET /a?x=2&x=1", "[not_recorded]", replayer.Options{}},
		{"encoding of a query", "GET /a?x=a%20b&y=%7e", "GET /a?x=a+b&y=~", "yes", replayer.Options{}},
		{"encoding of a path", "GET /a%7Eb/%c3%a9", "GET /a~b/%C3%A9", "yes", replayer.Options{}},
		{"an encoded slash", "GET /a%2Fb", "GET /a/b", "[not_recorded]", replayer.Options{}},
		{"the host", "GET https://api.example.com/a", "GET /a", "yes", replayer.Options{}},
		{"a placeholder for the host", "GET <<HOST>>/a", "GET /a", "yes", replayer.Options{}},
		{"white space of JSON", `POST /a {"x": 1, "y": [1, 2]}`, `POST /a {"y":[1,2],"x":1.0}`, "yes", replayer.Options{}},
		{"order of an array", `POST /a {"y":[1,2]}`, `POST /a {"y":[2,1]}`, "[not_recorded]", replayer.Options{}},
		{"numbers beyond a double", `POST /a {"y":9007199254740993}`, `POST /a {"y":9007199254740992}`, "[not_recorded]", replayer.Options{}},
		{"text and number", `POST /a {"y":"1"}`, `POST /a {"y":1}`, "[not_recorded]", replayer.Options{}},
		{"order of a form", "POST /a b=1&c=2", "POST /a c=2&b=1", "yes", replayer.Options{}},
		{"a credential in the query", "GET /a?api_key=XXX&x=1", "GET /a?api_key=real&x=1", "yes", replayer.Options{}},
		{"a credential that is asked for", "GET /a?api_key=XXX", "GET /a?api_key=real", "[not_recorded]", replayer.Options{Match: []string{"query.api_key"}}},
		{"a secret that a recorder took out", `POST /a {"card":"ANVIL-SECRET-3","n":1}`, `POST /a {"card":"4111","n":1}`, "yes", replayer.Options{}},
		{"what stands beside it", `POST /a {"card":"ANVIL-SECRET-3","n":1}`, `POST /a {"card":"4111","n":2}`, "[not_recorded]", replayer.Options{}},
		{"the method", "GET /a", "HEAD /a", "[not_recorded]", replayer.Options{}},
		{"an ignored query", "GET /a?ts=1&x=1", "GET /a?ts=2&x=1", "yes", replayer.Options{Ignore: []string{"query.ts"}}},
		{"ignored for another call", "GET /a?ts=1", "GET /a?ts=2", "[not_recorded]", replayer.Options{Ignore: []string{"GET /b:query.ts"}}},
		{"ignored for this call", "GET /a?ts=1", "GET /a?ts=2", "yes", replayer.Options{Ignore: []string{"GET /a:query.ts"}}},
		{"ignored by pattern", "GET /a/7?ts=1", "GET /a/7?ts=2", "yes", replayer.Options{Ignore: []string{"GET /a/*:query.ts"}}},
		{"an ignored part of a body", `POST /a {"m":[{"at":1,"v":1}]}`, `POST /a {"m":[{"at":2,"v":1}]}`, "yes", replayer.Options{Ignore: []string{"body/m/*/at"}}},
		{"the rest of that body", `POST /a {"m":[{"at":1,"v":1}]}`, `POST /a {"m":[{"at":2,"v":2}]}`, "[not_recorded]", replayer.Options{Ignore: []string{"body/m/*/at"}}},
		{"the whole body", `POST /a {"m":1}`, `POST /a m=2`, "yes", replayer.Options{Ignore: []string{"body"}}},
		{"a header by default", "GET /a #1", "GET /a #2", "yes", replayer.Options{}},
		{"a header that is asked for", "GET /a #1", "GET /a #2", "[not_recorded]", replayer.Options{Match: []string{"header.idempotency-key"}}},
		{"the key", "GET /a #1", "GET /a #2", "[not_recorded]", replayer.Options{Match: []string{"key"}}},
		{"GraphQL by name and variables", `POST /g {"query":"query Q($a: Int) { x(a: $a) { id } }","variables":{"a":1}}`,
			`POST /g {"operationName":"Q","query":"query Q($a: Int) {\n  x(a: $a) { id name }\n}","variables":{"a":1}}`, "yes", replayer.Options{}},
		{"GraphQL with other variables", `POST /g {"query":"query Q { x }","variables":{"a":1}}`, `POST /g {"query":"query Q { x }","variables":{"a":2}}`, "[not_recorded]", replayer.Options{}},
		{"an anonymous document", `POST /g {"query":"{ x }"}`, `POST /g {"query":"{ y }"}`, "[not_recorded]", replayer.Options{}},
		{"white space of a document", `POST /g {"query":"{ x { id } }"}`, `POST /g {"query":"{\n x {\n id } }"}`, "yes", replayer.Options{}},
		{"a search for a text", `POST /g {"query":"shoes"}`, `POST /g {"query":"boots"}`, "[not_recorded]", replayer.Options{}},
	} {
		if got := ask(t, player(t, &c.opts, c.recorded+" -> yes"), c.asked); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestOrderOfAnswers(t *testing.T) {
	loop, repeat := &replayer.Options{AfterLast: replayer.AfterLoop}, &replayer.Options{AfterLast: replayer.AfterRepeat}
	strict, free := &replayer.Options{Order: replayer.OrderStrict}, &replayer.Options{Order: replayer.OrderFree}
	for _, c := range []struct {
		name string
		opts *replayer.Options
		tape []string
		asks string
	}{
		{"recorded order", nil, []string{"GET /a -> 1", "GET /a -> 2", "GET /b -> b", "GET /a -> 3"}, "a=1 a=2 b=b a=3 b=[used_up] a=[used_up]"},
		{"repeat", repeat, []string{"GET /a -> 1", "GET /a -> 2", "GET /b -> b"}, "a=1 a=2 b=b a=2 b=b a=2"},
		{"loop", loop, []string{"GET /a -> 1", "GET /a -> 2", "GET /b -> b"}, "a=1 a=2 b=b a=1 a=2 b=b a=1"},
		{"a retry takes nothing", nil, []string{"GET /a -> 1", "GET /b -> b", "GET /a -> 2"}, "a=1 a=1 b=b b=b a=2 a=2"},
		{"a retry of the last one", nil, []string{"GET /a -> 1"}, "a=1 a=1 a=1"},
		{"strict", strict, []string{"GET /a -> 1", "GET /b -> b", "GET /a -> 2"}, "b=[out_of_order] a=1 b=b a=2"},
		{"causal leaves what is independent free", nil, []string{"GET /a -> 1", "GET /b -> b", "GET /c -> c"}, "c=c a=1 b=b"},
		{"causal insists on what an answer gave", nil, []string{`POST /a -> {"id":"T-77"}`, "GET /b?id=T-77 -> b"}, `b?id=T-77=[out_of_order] POST/a={"id":"T-77"} b?id=T-77=b`},
		{"causal by the path", nil, []string{`POST /a -> {"id":4711}`, "GET /b/4711/x -> b"}, `b/4711/x=[out_of_order] POST/a={"id":4711} b/4711/x=b`},
		{"one of the makers is enough", nil, []string{`GET /l -> [{"id":"T-77"}]`, `GET /m -> {"id":"T-77"}`, "GET /b/T-77 -> b"}, `m={"id":"T-77"} b/T-77=b`},
		{"what the client knew by itself", nil, []string{`GET /b/T-77 -> {"id":"T-77"}`, `GET /c?id=T-77 -> c`}, `c?id=T-77=c`},
		{"free", free, []string{`POST /a -> {"id":"T-77"}`, "GET /b?id=T-77 -> b"}, `b?id=T-77=b`},
		{"a key is a retry", nil, []string{"POST /a #k -> 1", "GET /b -> b", "POST /a #l -> 2"}, "POST/a#k=1 b=b POST/a#k=1 POST/a#z=2 POST/a#k=1 POST/a#z=2 POST/a#y=[used_up]"},
		{"a recorded second use of a key", nil, []string{"POST /a #k -> 1", "POST /a #k -> 2"}, "POST/a#k=1 POST/a#k=2 POST/a#k=2"},
	} {
		p := player(t, c.opts, c.tape...)
		for i, step := range strings.Fields(c.asks) {
			cut := strings.LastIndex(step, "=")
			call, want := step[:cut], step[cut+1:]
			method, path := "GET", "/"+call
			if rest, ok := strings.CutPrefix(call, "POST/"); ok {
				method, path = "POST", "/"+rest
			}
			if got := ask(t, p, strings.Replace(method+" "+path, "#", " #", 1)); got != want {
				t.Errorf("%s: step %d %s: %s, want %s", c.name, i, call, got, want)
			}
		}
	}
}

func TestMissSaysWhatComesClosest(t *testing.T) {
	var told []*replayer.Miss
	p := player(t, &replayer.Options{Missed: func(m *replayer.Miss) { told = append(told, m) }},
		`POST /a {"title":"one","at":1} -> 1`,
		`POST /a {"title":"two","at":2} -> 2`,
		`POST /a {"title":"two","at":3} -> 3`,
		`POST /b {"title":"two"} -> 4`,
	)
	_, err := p.Answer(request(`POST /a {"title":"one","at":9}`))
	const want = `no recorded answer for POST /a (body/at 9, body/title "one", path "/a"); the closest is t #0 (POST /a), which differs in body/at (asked 9, recorded 1); ` +
		`--ignore 'POST /a:body/at' would accept it and makes 2 other interaction(s) ambiguous`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if len(told) != 1 || len(told[0].Closest) != 3 || told[0].Closest[2].Place != "t #2" {
		t.Fatalf("told %+v", told)
	}
	again, err := replayer.NewPlayer([]*tape.Tape{tapeOf(t, `POST /a {"title":"one","at":1} -> 1`)}, &replayer.Options{Ignore: told[0].Accept.Rules})
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, again, `POST /a {"title":"one","at":9}`); got != "1" {
		t.Errorf("the rule that was shown does not accept the request: %s", got)
	}
	json := string(told[0].AppendJSON(nil))
	for _, part := range []string{`"reason":"not_recorded"`, `"asked":"POST /a"`, `"field":"body/at","asked":"9","recorded":"1"`, `"accept":{"ignore":["POST /a:body/at"],"ambiguous":2}`} {
		if !strings.Contains(json, part) {
			t.Errorf("the JSON has no %s: %s", part, json)
		}
	}
}

func TestMissShowsTextsLineByLine(t *testing.T) {
	p := player(t, nil, "POST /a {\"x\":\"one\\ntwo\\nthree\"} -> 1")
	_, err := p.Answer(request(`POST /a {"x":"one\n2\nthree"}`))
	var miss *replayer.Miss
	if !errors.As(err, &miss) || !strings.Contains(miss.Text(), "      -two\n      +2\n") {
		t.Errorf("got %s", miss.Text())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]*replayer.Options{
		`after-last is "never", want error, repeat or loop`:               {AfterLast: "never"},
		`order is "wild", want causal, strict or free`:                    {Order: "wild"},
		`ignore rule: found "bodyx", want FIELD or OPERATION:FIELD`:       {Ignore: []string{"bodyx"}},
		`match rule: found "query.", want FIELD or OPERATION:FIELD`:       {Match: []string{"query."}},
		`match rule: found "a.b:nothing", want FIELD or OPERATION:FIELD,`: {Match: []string{"a.b:nothing"}},
	} {
		if err := o.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := (&replayer.Options{Ignore: []string{"GET /v1/x:cancel:body/a~1b", "header.X-A", "a.b:path.id"}}).Check(); err != nil {
		t.Error(err)
	}
}

// 64 clients at once get each recorded answer exactly once.
func TestManyClients(t *testing.T) {
	const clients, each = 64, 50
	var lines []string
	for c := range clients {
		for i := range each {
			lines = append(lines, fmt.Sprintf("GET /c%d/step?n=%d -> %d.%d", c, i, c, i))
		}
	}
	p := player(t, nil, lines...)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range each {
				if got := ask(t, p, fmt.Sprintf("GET /c%d/step?n=%d", c, i)); got != fmt.Sprintf("%d.%d", c, i) {
					t.Errorf("client %d step %d: %s", c, i, got)
				}
			}
		})
	}
	wg.Wait()
	if s := p.Stats(); s.Used != clients*each || s.Misses != 0 {
		t.Errorf("%d used, %d missed", s.Used, s.Misses)
	}
}

func TestProviderRecordingHoldsNoHTTP(t *testing.T) {
	rec, err := tape.Parse("t", []byte(`{"schema":"anvil.provider.recording/v1","request":{"operationId":"a"},"answer":{"ok":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replayer.NewPlayer([]*tape.Tape{rec}, nil); err == nil || !strings.Contains(err.Error(), "provider cassette") {
		t.Errorf("got %v", err)
	}
}

func FuzzRules(f *testing.F) {
	for _, seed := range []string{"query.a", "GET /a:body/x/*/y", "a.b:path", "::", "body/~0~1", "header."} {
		f.Add(seed, "GET /a?b=c", `{"x":[{"y":1}]}`)
	}
	f.Fuzz(func(t *testing.T, rule, call, body string) {
		o := &replayer.Options{Ignore: []string{rule}}
		if o.Check() != nil {
			return
		}
		method, url, _ := strings.Cut(call, " ")
		req := tape.Request{Method: method, URL: url, Body: []byte(body)}
		rec := &tape.Tape{Interactions: []*tape.Interaction{{Request: req, Response: tape.Response{Status: 200}}}}
		if method == "" {
			return
		}
		p, err := replayer.NewPlayer([]*tape.Tape{rec}, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Answer(&req); err != nil {
			t.Fatalf("a recorded request is not answered: %v", err)
		}
	})
}
