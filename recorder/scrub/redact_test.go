package scrub

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/coding"
)

// foreign are recordings of other tools with a token in each place; %s are the
// token as it stands in JSON, in YAML, in a URL, in JSON inside JSON, and gzipped.
func foreign(t *testing.T, token string) map[string]string {
	quoted, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"note":` + string(quoted) + `}`
	inner, _ := json.Marshal(body)
	zipped, err := coding.Encode([]byte(body), []string{"gzip"})
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.StdEncoding.EncodeToString(zipped)
	inURL := "https://api.test/a?note=" + url.QueryEscape(token)
	return map[string]string{
		"go-vcr": fmt.Sprintf("---\nversion: 1\ninteractions:\n- request:\n    url: %q\n    method: GET\n    headers:\n      X-Custom:\n      - %s\n  response:\n    headers: {Content-Type: [application/json], Content-Length: ['%d']}\n    body: %s\n    code: 200\n",
			inURL, quoted, len(body), inner),
		"VCR.py": fmt.Sprintf("interactions:\n- request:\n    uri: %q\n    method: GET\n    body: null\n    headers: {}\n  response:\n    headers: {Content-Encoding: [gzip], Content-Length: ['%d']}\n    body:\n      string: !!binary |\n        %s\n    status: {code: 200, message: OK}\nversion: 1\n",
			inURL, len(zipped), b64),
		"HAR": fmt.Sprintf(`{"log": {"version": "1.2", "entries": [{"request": {"method": "POST", "url": %q, "headers": [{"name": "X-Custom", "value": %s}], "cookies": [], "postData": {"mimeType": "application/json", "text": %s}},
 "response": {"status": 200, "headers": [], "content": {"text": %q, "encoding": "base64"}}}]}}`, inURL, quoted, inner, base64.StdEncoding.EncodeToString([]byte(body))),
		"provider": fmt.Sprintf(`{"schema":"anvil.provider.recording/v1","request":{"operationId":"a","params":{"query":{"note":%s}},"body":%s},"answer":{"ok":true,"data":%s}}`+"\n", quoted, body, body),
	}
}

func TestRedactCorpus(t *testing.T) {
	for name, token := range corpus() {
		for format, text := range foreign(t, token) {
			out, r, err := RedactFile("t", []byte(text), nil)
			if err != nil {
				t.Fatalf("%s in %s: %v", name, format, err)
			}
			if len(r.Left) > 0 || r.Secrets == 0 || r.Replaced < r.Secrets {
				t.Errorf("%s in %s: %+v\n%s", name, format, r, out)
			}
			if strings.Contains(string(out), needle(token)) || strings.Contains(string(out), url.QueryEscape(token)) || !strings.Contains(string(out), Placeholder+"0001") {
				t.Errorf("%s in %s:\n%s", name, format, out)
			}
			again, r, err := RedactFile("t", out, nil)
			if err != nil || !bytes.Equal(again, out) || r.Replaced != 0 {
				t.Errorf("%s in %s, a second time: %v %+v\n%s", name, format, err, r, again)
			}
		}
	}
}

// Bodies keep their codings, and lengths that were right stay right.
func TestRedactBodies(t *testing.T) {
	token := corpus()["GitHub"]
	out, _, err := RedactFile("t", []byte(foreign(t, token)["VCR.py"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Interactions []struct {
			Response struct {
				Headers map[string][]string
				Body    struct{ String string }
			}
		}
	}
	if err := yaml.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	r := doc.Interactions[0].Response
	plain, err := coding.Decode([]byte(r.Body.String), []string{"gzip"}, 1000)
	if want := `{"note":"` + Placeholder + `0001"}`; err != nil || string(plain) != want {
		t.Errorf("%v %q, want %q", err, plain, want)
	}
	if got := r.Headers["Content-Length"][0]; got != fmt.Sprint(len(r.Body.String)) {
		t.Errorf("Content-Length %s, the body has %d bytes", got, len(r.Body.String))
	}
	out, _, err = RedactFile("t", []byte(foreign(t, token)["go-vcr"]), nil)
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("Content-Length: ['%d']", len(`{"note":"ANVIL-SECRET-0001"}`))) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A secret in a body is found and counted once, not at the body's length as well.
func TestBodyAndItsLength(t *testing.T) {
	const file = "interactions:\n- request: {uri: 'http://h/', method: GET, body: null, headers: {}}\n  response:\n    headers: {Content-Length: ['24']}\n    body: {string: '{\"password\":\"tell-none\"}'}\n    status: {code: 200, message: OK}\nversion: 1\n"
	found, err := ScanFile("t", []byte(file), nil)
	if err != nil || len(found) != 1 || found[0].Place != "response.body.string" {
		t.Errorf("%v %v", found, err)
	}
	out, r, err := RedactFile("t", []byte(file), nil)
	if err != nil || r.Replaced != 1 || !strings.Contains(string(out), "['32']") {
		t.Errorf("%+v %v\n%s", r, err, out)
	}
}

func TestRedactFile(t *testing.T) {
	rules, err := ParseRules("r", []byte("headers: [X-Tenant]\njson: [/user/ssn]\nvolatile: {headers: [ETag]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, in, want string }{
		{"a secret is one before it is told, and JSON keeps its layout",
			`{"log": {"entries": [ {"request": {"url": "/who/hunter-22-hunter", "headers": [ {"name":"Authorization", "value":"Bearer hunter-22-hunter"} ]}} ]}}`,
			`{"log": {"entries": [ {"request": {"url": "/who/ANVIL-SECRET-0001", "headers": [ {"name":"Authorization", "value":"Bearer ANVIL-SECRET-0001"} ]}} ]}}`},
		{"rules", "{\"request\":{\"headers\":{\"x-tenant\":\"acme\",\"etag\":\"W/12\"},\"body\":{\"user\":{\"ssn\":\"1234\",\"n\":1}}}}\n{\"a\":1}\n",
			"{\"request\":{\"headers\":{\"x-tenant\":\"ANVIL-SECRET-0001\",\"etag\":\"ANVIL-VOLATILE\"},\"body\":{\"user\":{\"ssn\":\"ANVIL-SECRET-0002\",\"n\":1}}}}\n{\"a\":1}\n"},
		{"counted on", `[{"password": "ANVIL-SECRET-0007", "token": "secret-text-1"}]`, `[{"password": "ANVIL-SECRET-0007", "token": "ANVIL-SECRET-0008"}]`},
		{"a number", `[{"pin": 123456, "n": 1.50}]`, `[{"pin": "ANVIL-SECRET-0001", "n": 1.50}]`},
		{"nothing to hide", "a:   1  # as it was\nb: [ x ]\n", "a:   1  # as it was\nb: [ x ]\n"},
		{"multipart", `[{"request":{"headers":{"Content-Type":["multipart/form-data; boundary=xyz123"]},"body":"--xyz123\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2\r\n--xyz123--\r\n"}}]`,
			`[{"request":{"headers":{"Content-Type":["multipart/form-data; boundary=anvil-boundary"]},"body":"--anvil-boundary\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nANVIL-SECRET-0001\r\n--anvil-boundary--\r\n"}}]`},
		{"YAML", "# made by hand\nversion: 1\ninteractions:\n- request:\n    url: /a\n    headers:\n      Authorization: [token abcdefgh1]\n  response:\n    body: |\n      password=abcdefgh1\n      next\n",
			"---\n# made by hand\nversion: 1\ninteractions:\n  - request:\n      url: /a\n      headers:\n        Authorization: [token ANVIL-SECRET-0001]\n    response:\n      body: |\n        password=ANVIL-SECRET-0001\n        next\n"},
		{"empty", "", ""},
	} {
		out, r, err := RedactFile("t", []byte(c.in), rules)
		if err != nil || string(out) != c.want || len(r.Left) > 0 {
			t.Errorf("%s: %v %v\n got %s\nwant %s", c.name, err, r, out, c.want)
		}
	}
	if _, _, err := RedactFile("t", []byte("a: 'b"), nil); err == nil || !strings.Contains(err.Error(), "t: ") {
		t.Errorf("no YAML: %v", err)
	}
}

// What was redacted is a document of the same kind, and redacting it again changes
// nothing.
func FuzzRedactFile(f *testing.F) {
	f.Add([]byte(`{"log":{"entries":[{"request":{"headers":[{"name":"Cookie","value":"a=bcdefgh"}],"url":"/?token=abcdefgh"}}]}}`))
	f.Add([]byte("interactions:\n- request:\n    headers: {Authorization: [Basic YTpiYWFhYWE=]}\n  response:\n    body: !!binary /wD/\n"))
	f.Add([]byte("{\"password\":\"a b c d\"}\n{\"b\":2}\n"))
	f.Add([]byte("a: &x {token: 1234567}\nb: *x\nc: !!binary |\n  aGVsbG8=\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, _, err := RedactFile("t", data, nil)
		if err != nil {
			return
		}
		if json.Valid(data) && !json.Valid(out) {
			t.Fatalf("%q was JSON and became %q", data, out)
		}
		if _, _, err := RedactFile("t", out, nil); err != nil {
			t.Fatalf("%q became %q: %v", data, out, err)
		}
	})
}
