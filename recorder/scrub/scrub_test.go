package scrub

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// corpus are made-up tokens in the shapes of real ones; they are put together here
// so that no scanner takes this file for a leak.
func corpus() map[string]string {
	const a = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
	long := a + a + a
	hex := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	return map[string]string{
		"AWS key":         "AK" + "IA" + "J7QP2M4XW9ZK3T6B",
		"AWS session key": "AS" + "IA" + "J7QP2M4XW9ZK3T6B",
		"GitHub":          "gh" + "p_" + long[:36],
		"GitHub app":      "gh" + "s_" + long[:36],
		"GitHub fine":     "github" + "_pat_" + long[:22] + "_" + long[:59],
		"GitLab":          "gl" + "pat-" + long[:20],
		"Slack bot":       "xox" + "b-123456789012-1234567890123-" + long[:24],
		"Slack app":       "xa" + "pp-1-A012345-1234567890-" + hex,
		"Slack webhook":   "https://hooks.slack" + ".com/services/T01234567/B01234567/" + long[:24],
		"Stripe":          "sk" + "_live_" + long[:24],
		"Stripe test":     "sk" + "_test_" + long[:24],
		"Stripe webhook":  "wh" + "sec_" + long[:32],
		"Google":          "AI" + "za" + long[:35],
		"Google OAuth":    "ya" + "29." + long[:60],
		"OpenAI":          "sk" + "-proj-" + long[:48],
		"Anthropic":       "sk" + "-ant-api03-" + long[:60],
		"npm":             "np" + "m_" + long[:36],
		"PyPI":            "pypi" + "-AgEIcHlwaS5vcmc" + long[:50],
		"DigitalOcean":    "dop" + "_v1_" + hex,
		"SendGrid":        "S" + "G." + long[:22] + "." + long[:43],
		"Mailgun":         "key" + "-" + hex[:32],
		"Twilio":          "S" + "K" + hex[:32],
		"Shopify":         "shp" + "at_" + hex[:32],
		"Hugging Face":    "h" + "f_" + long[:34],
		"Vault":           "hv" + "s." + long[:24],
		"Telegram":        "1234567890:AA" + long[:33],
		"JWT":             "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + long[:43],
		"private key":     "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEow" + long + "\n" + long + "\n-----END RSA PRIVATE" + " KEY-----",
		"userinfo":        "postgres://app:" + long[:16] + "@db.example.com/app",
		"bearer":          "Bearer " + long[:40],
		"basic":           "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+long[:12])),
	}
}

// needle is the part of a token that may be found nowhere.
func needle(token string) string {
	token = strings.TrimSuffix(strings.TrimSuffix(token, "\n-----END RSA PRIVATE KEY-----"), "@db.example.com/app")
	return token[len(token)-12:]
}

func TestCorpusEverywhere(t *testing.T) {
	for name, token := range corpus() {
		t.Run(name, func(t *testing.T) {
			quoted, err := json.Marshal(token)
			if err != nil {
				t.Fatal(err)
			}
			inner, _ := json.Marshal(`{"message":` + string(quoted) + `}`)
			places := map[string]func(*Scrubber) string{
				"header": func(s *Scrubber) string { return s.Header(http.Header{"X-Custom": {token}}).Get("X-Custom") },
				"query":  func(s *Scrubber) string { return s.URL("https://api.test/a?b=1&note=" + url.QueryEscape(token)) },
				"path":   func(s *Scrubber) string { return s.URL("https://api.test/a/" + url.PathEscape(token) + "/b") },
				"JSON": func(s *Scrubber) string {
					return string(s.Body("application/json", []byte(`{"a":[{"note":`+string(quoted)+`}]}`)))
				},
				"JSON key": func(s *Scrubber) string { return string(s.Body("application/json", []byte(`{`+string(quoted)+`:1}`))) },
				"nested JSON": func(s *Scrubber) string {
					return string(s.Body("application/json", []byte(`{"payload":`+string(inner)+`}`)))
				},
				"form": func(s *Scrubber) string {
					return string(s.Body("application/x-www-form-urlencoded", []byte("a=1&note="+url.QueryEscape(token))))
				},
				"form values": func(s *Scrubber) string { return s.Form(url.Values{"note": {token}}).Get("note") },
				"text":        func(s *Scrubber) string { return string(s.Body("text/plain", []byte("hello\n"+token+"\nbye"))) },
				"SSE": func(s *Scrubber) string {
					return string(s.Body("text/event-stream", []byte("event: x\ndata: {\"a\":"+string(quoted)+"}\n\n")))
				},
				"XML": func(s *Scrubber) string { return string(s.Body("text/xml", []byte("<a><note>"+token+"</note></a>"))) },
				"multipart": func(s *Scrubber) string {
					return string(s.Body(`multipart/form-data; boundary="xyz"`, []byte("--xyz\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n"+token+"\r\n--xyz--\r\n")))
				},
			}
			for place, scrub := range places {
				s := New(nil, nil)
				got := scrub(s)
				plain, _ := url.QueryUnescape(got)
				if strings.Contains(got, needle(token)) || strings.Contains(plain, needle(token)) {
					t.Errorf("%s: still there: %s", place, got)
				}
				if !strings.Contains(got, Placeholder+"0001") {
					t.Errorf("%s: no placeholder: %s", place, got)
				}
				if again := scrub(s); again != got {
					t.Errorf("%s: the same secret became %s, then %s", place, got, again)
				}
				if f := s.ScanText("x", []byte(got)); len(f) > 0 {
					t.Errorf("%s: the gate stops %s: %v", place, got, f)
				}
			}
			hidden := base64.StdEncoding.EncodeToString([]byte("some file with " + token + " in it"))
			if f := New(nil, nil).ScanText("body", []byte(`{"content":"`+hidden+`"}`)); len(f) == 0 {
				t.Error("the gate does not see it inside base64")
			}
			s := New(nil, nil)
			if got := s.Body("application/json", []byte(`{"content":"`+hidden+`","n":1}`)); string(got) != `{"content":"`+Placeholder+`0001","n":1}` {
				t.Errorf("inside base64: %s", got)
			}
			if f := New(nil, nil).ScanText("body", []byte("\xff\xfe binary \x00"+token+"\x00")); len(f) == 0 {
				t.Error("the gate does not see it in a binary body")
			}
		})
	}
}

func TestByPlace(t *testing.T) {
	tests := []struct{ name, kind, in, want string }{
		{"Authorization", "header", "Bearer abc", "Bearer ANVIL-SECRET-0001"},
		{"Authorization", "header", "opaque", "ANVIL-SECRET-0001"},
		{"X-Api-Key", "header", "k", "ANVIL-SECRET-0001"},
		{"Cookie", "header", "a=1; b=2; a=1", "a=ANVIL-SECRET-0001; b=ANVIL-SECRET-0002; a=ANVIL-SECRET-0001"},
		{"Set-Cookie", "header", "sid=x; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly", "sid=ANVIL-SECRET-0001; Path=/; Expires=Fri, 01 Jan 2100 00:00:00 GMT; HttpOnly"},
		{"Date", "header", "Wed, 21 Oct 2026 07:28:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"},
		{"X-Request-Id", "header", "8c7a4f00-6b1d-4c11-9d43-0a8de1e0f201", "00000000-0000-4000-8000-000000000000"},
		{"Content-Type", "header", "multipart/form-data; boundary=7f3a", "multipart/form-data; boundary=anvil-boundary"},
		{"Link", "header", `<https://api.test/a?page=2&access_token=tok>; rel="next"`, `<https://api.test/a?page=2&access_token=ANVIL-SECRET-0001>; rel="next"`},
		{"Accept", "header", "application/json; q=0.9", "application/json; q=0.9"},
		{"", "url", "https://u:p4ssw0rd@api.test/a?api_key=k&q=a%20b+c#access_token=t", "https://ANVIL-SECRET-0001@api.test/a?api_key=ANVIL-SECRET-0002&q=a%20b+c#access_token=ANVIL-SECRET-0003"},
		{"", "url", "/a?page_token=next&token_type=bearer&X-Amz-Signature=ab12", "/a?page_token=next&token_type=bearer&X-Amz-Signature=ANVIL-SECRET-0001"},
		{"", "json", `{ "password" : "x", "n": 1.10, "deep":{"client_secret":"y","pin":1234,"ok":true}, "tokens":3 }`,
			`{ "password" : "ANVIL-SECRET-0001", "n": 1.10, "deep":{"client_secret":"ANVIL-SECRET-0002","pin":"ANVIL-SECRET-0003","ok":true}, "tokens":3 }`},
		{"", "json", `{"access_token":["a","b"],"next_page_token":"p","password":null,"secret":""}`, `{"access_token":["ANVIL-SECRET-0001","ANVIL-SECRET-0002"],"next_page_token":"p","password":null,"secret":""}`},
		{"", "json", `{"password":"p\u0061ss\n","note":"\ud800\/"}`, `{"password":"ANVIL-SECRET-0001","note":"\ud800\/"}`},
		{"", "form", "grant_type=authorization_code&code=abc&client_id=me", "grant_type=authorization_code&code=ANVIL-SECRET-0001&client_id=me"},
		{"", "form", "a=%zz&password=x%26y", "a=%zz&password=ANVIL-SECRET-0001"},
		{"", "text", "password=hunter22 and token: required", "password=ANVIL-SECRET-0001 and token: required"},
		{"", "text", "<Password>hunter22</Password><Pass>", "<Password>ANVIL-SECRET-0001</Password><Pass>"},
		{"", "text", "data: {\"api_key\":\"k1\"}\n\ndata: {\"api_key\":\"k1\"}\n\n", "data: {\"api_key\":\"ANVIL-SECRET-0001\"}\n\ndata: {\"api_key\":\"ANVIL-SECRET-0001\"}\n\n"},
		{"", "text", "call https://x.test/y?sig=a&key=b", "call https://x.test/y?sig=a&key=b"},
	}
	for _, tt := range tests {
		s := New(nil, nil)
		var got string
		switch tt.kind {
		case "header":
			got = s.Header(http.Header{tt.name: {tt.in}}).Get(tt.name)
		case "url":
			got = s.URL(tt.in)
		case "json":
			got = string(s.Body("application/json", []byte(tt.in)))
		case "form":
			got = string(s.Body("application/x-www-form-urlencoded", []byte(tt.in)))
		case "text":
			got = string(s.Body("text/plain", []byte(tt.in)))
		}
		if got != tt.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tt.kind, tt.name, got, tt.want)
		}
	}
}

// A secret that was seen where secrets stand is found where nothing tells it.
func TestKnownSecrets(t *testing.T) {
	s := New(nil, NewVault(6))
	s.Body("application/json", []byte(`{"session_token":"plain-session-1"}`))
	for in, want := range map[string]string{
		`{"id":"plain-session-1"}`:            `{"id":"ANVIL-SECRET-0007"}`,
		`{"self":"/s/plain-session-1/x"}`:     `{"self":"/s/ANVIL-SECRET-0007/x"}`,
		`{"id":"plain-session-12"}`:           `{"id":"plain-session-12"}`,
		`{"t":"before plain-session-1, end"}`: `{"t":"before ANVIL-SECRET-0007, end"}`,
	} {
		if got := string(s.Body("application/json", []byte(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestRules(t *testing.T) {
	rules, err := ParseRules("rules.yaml", []byte(`
headers: [X-Tenant]
query: [ref]
fields: [iban]
json: ["/users/*/ssn_last", "$.a[0].b", "/**/deep"]
patterns: ['cust_[0-9]+', 'id=(\d+);']
allow: ['^sk_test_allowed']
keep: [password]
volatile:
  headers: [ETag]
  query: [nonce]
  json: ["/meta/at", "/meta/n"]
  patterns: ['took (\d+) ms']
`))
	if err != nil {
		t.Fatal(err)
	}
	s := New(rules, nil)
	tests := []struct{ in, want string }{
		{`{"users":[{"ssn_last":"1234"}],"a":[{"b":"x"}],"b":"x"}`, `{"users":[{"ssn_last":"ANVIL-SECRET-0001"}],"a":[{"b":"ANVIL-SECRET-0002"}],"b":"x"}`},
		{`{"x":{"y":{"deep":"z"}},"IBAN":"DE1"}`, `{"x":{"y":{"deep":"ANVIL-SECRET-0003"}},"IBAN":"ANVIL-SECRET-0004"}`},
		{`{"note":"cust_77 id=5; ok","password":"kept"}`, `{"note":"ANVIL-SECRET-0005 id=ANVIL-SECRET-0006; ok","password":"kept"}`},
		{`{"meta":{"at":"2026-01-02T03:04:05Z","n":12},"t":"took 31 ms"}`, `{"meta":{"at":"1970-01-01T00:00:00Z","n":0},"t":"took 0 ms"}`},
	}
	for _, tt := range tests {
		if got := string(s.Body("application/json", []byte(tt.in))); got != tt.want {
			t.Errorf("got %s\nwant %s", got, tt.want)
		}
	}
	if got := s.URL("/a?ref=1&nonce=99"); got != "/a?ref=ANVIL-SECRET-0007&nonce=0" {
		t.Error(got)
	}
	if got := s.Header(http.Header{"X-Tenant": {"t"}, "Etag": {`W/"1"`}}); got.Get("X-Tenant") != "ANVIL-SECRET-0008" || got.Get("ETag") != volatileText {
		t.Error(got)
	}
	if got := s.String("sk" + "_test_allowedAAAAAA1"); strings.Contains(got, Placeholder) {
		t.Error(got)
	}
}

func TestRulesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"header: [a]":           "line 1: field header is no key",
		"patterns: ['(']":       "patterns: error parsing regexp",
		"patterns: ['a*']":      "matches the empty text",
		"json: [a.b]":           "want a JSON Pointer",
		"headers: {a: b}":       "line 1",
		"volatile: {json: [x]}": "volatile.json",
	} {
		_, err := ParseRules("rules.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "rules.yaml: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestScanFile(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"cassette", "version: 1\ninteractions:\n- request:\n    url: https://a.test/?api_key=abcdef123\n    headers:\n      Accept: ['*/*']\n- request:\n    headers:\n      Authorization: [Bearer REDACTED]\n  response:\n    body: '{\"password\":\"hunter22\"}'\n",
			"t:4: interaction 0: request.url: secret (\"ab\" and 7 more bytes)\nt:11: interaction 1: response.body: secret (\"hu\" and 6 more bytes)"},
		{"HAR", `{"log":{"entries":[{"request":{"headers":[{"name":"X-Api-Key","value":"0123456789"}],"queryString":[{"name":"sig","value":"abcdefgh"}]}}]}}`,
			"t: interaction 0: request.headers.0.value: secret (\"01\" and 8 more bytes)\nt: interaction 0: request.queryString.0.value: secret (\"ab\" and 6 more bytes)"},
		{"lines", "{\"a\":1}\n{\"request\":{\"params\":{\"query\":{\"access_token\":\"zzzzzz1\"}}}}\n", "t:2: interaction 1: request.params.query.access_token: secret (\"z\" and 6 more bytes)"},
		{"clean", "version: 1\ninteractions:\n- request:\n    headers:\n      Authorization: [Bearer ANVIL-SECRET-0001]\n      Cookie: ['a=ANVIL-SECRET-0002']\n  response:\n    body: 'password must be set'\n", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		found, err := ScanFile("t", []byte(tt.text), nil)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, f := range found {
			lines = append(lines, f.String())
		}
		if got := strings.Join(lines, "\n"); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	if _, err := ScanFile("t", []byte("a: 'b"), nil); err == nil {
		t.Error("a file that is no YAML was read")
	}
}

func FuzzScrub(f *testing.F) {
	for _, token := range corpus() {
		f.Add("application/json", []byte(`{"a":"`+token+`"}`))
		f.Add("text/plain", []byte(token))
	}
	f.Add("multipart/form-data; boundary=a", []byte("--a\r\nContent-Disposition: form-data; name=token\r\n\r\nx\r\n--a--"))
	f.Add("application/x-www-form-urlencoded", []byte("password=x&a=%zz"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		s := New(nil, nil)
		once := append([]byte{}, s.Body(kind, append([]byte{}, body...))...)
		if json.Valid(body) && !json.Valid(once) {
			t.Fatalf("%q was JSON and became %q", body, once)
		}
		s.URL(string(body))
		s.ScanText("x", once)
		if _, err := ScanFile("x", body, nil); err != nil {
			_ = err.Error()
		}
	})
}
