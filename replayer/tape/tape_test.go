package tape_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/replayer/tape"
)

const real = "../testdata/real/"

// Each recording loads with all its entries, or says why it does not.
func TestRealRecordings(t *testing.T) {
	want := map[string]string{
		"govcr1/fastly-kv-batch-ndjson.yaml":                      "go-vcr 1: 1",
		"govcr1/fastly-newrelic-form-400.yaml":                    "go-vcr 1: 1",
		"govcr1/linodego-TestMonitorMetricDefinitions_Get.yaml":   "go-vcr 1: 2",
		"govcr1/upcloud-compresseddirectuploadstorageimport.yaml": "go-vcr 1: 6",
		"govcr1/upcloud-routerlabelsandfilters.yaml":              "go-vcr 1: 8",
		"govcr2/dd-idp-multipart-400.yaml":                        "go-vcr 2: 1",
		"govcr2/dd-logs-retry-429.yaml":                           "go-vcr 2: 4",
		"govcr2/dd-pipelines-pages.yaml":                          "go-vcr 2: 2",
		"govcr2/fantasy-bedrock-eventstream.yaml":                 "go-vcr 2: 1",
		"govcr2/fantasy-llamacpp-sse.yaml":                        "go-vcr 2: 1",
		"govcr2/govcr-middleware.yaml":                            "go-vcr 2: 4",
		"govcr2/scw-empty.yaml":                                   "go-vcr 2: 0",
		"har/haralyzer-missing_page.har":                          "request.url is missing: it stands inside request.postData",
		"har/haralyzer-missing_pageref.har":                       "request.url is missing: it stands inside request.postData (and 1 more)",
		"har/haralyzer-single_entry.har":                          "HAR: 1",
		"har/m2s-form_data_har.har":                               "HAR: 1",
		"har/m2s-headers_and_params_har.har":                      "HAR: 1",
		"har/mitm-broken.har":                                     "line 5, column 1",
		"har/mitm-corrupted-gzip.har":                             "HAR: 1",
		"har/mitm-head-content-length.har":                        "HAR: 1",
		"har/mitm-insomnia.har":                                   "HAR: 1",
		"har/mitm-postdata.har":                                   "HAR: 1",
		"har/mitm-with-bom.har":                                   "HAR: 1",
		"rubyvcr/dd-pipelines-pages.yml":                          "Ruby VCR: 2",
		"rubyvcr/dd-zip-export.yml":                               "Ruby VCR: 3",
		"rubyvcr/octokit-205.json":                                "Ruby VCR: 1",
		"rubyvcr/octokit-302.json":                                "Ruby VCR: 1",
		"rubyvcr/octokit-head.json":                               "Ruby VCR: 1",
		"rubyvcr/octokit-multipart.json":                          "Ruby VCR: 1",
		"vcrpy/dd-case-emoji.yaml":                                "VCR.py: 1",
		"vcrpy/dd-pipelines-pages.yaml":                           "VCR.py: 2",
		"vcrpy/vcrpy-gzip-requests.yaml":                          "VCR.py: 1",
		"vcrpy/vcrpy-httpx-old.yaml":                              "VCR.py: 1",
		"vcrpy/vcrpy-new-json.json":                               "VCR.py: 1",
		"vcrpy/vcrpy-new-yaml.yaml":                               "VCR.py: 1",
		"vcrpy/vcrpy-old-json.json":                               "VCR.py: 1",
		"vcrpy/vcrpy-old-yaml.yaml":                               "VCR.py: 1",
		"vcrpy/vcrpy-redirect.yaml":                               "VCR.py: 2",
	}
	files, err := filepath.Glob(real + "*/*.*")
	if err != nil || len(files) != len(want) {
		t.Fatalf("found %d recordings, want %d (%v)", len(files), len(want), err)
	}
	for _, file := range files {
		name := filepath.ToSlash(strings.TrimPrefix(filepath.ToSlash(file), real))
		got, err := tape.LoadFile(file)
		if err != nil {
			if !strings.Contains(err.Error(), want[name]) || strings.Contains(want[name], ": ") && strings.HasPrefix(want[name], "go-vcr") {
				t.Errorf("%s: %v, want %q", name, err, want[name])
			}
			continue
		}
		if sum := string(got.Format) + ": " + itoa(len(got.Interactions)); sum != want[name] {
			t.Errorf("%s: %s, want %s", name, sum, want[name])
		}
	}
}

func itoa(n int) string { return string(canon.NewInt(int64(n)).AppendJSON(nil)) }

// The same scenario recorded by three libraries is the same traffic.
func TestTwins(t *testing.T) {
	var first *tape.Tape
	for _, name := range []string{"govcr2/dd-pipelines-pages.yaml", "vcrpy/dd-pipelines-pages.yaml", "rubyvcr/dd-pipelines-pages.yml"} {
		got := load(t, name)
		if first == nil {
			first = got
			continue
		}
		for i, it := range got.Interactions {
			want := first.Interactions[i]
			if it.Request.Method != want.Request.Method || it.Request.URL != want.Request.URL {
				t.Errorf("%s #%d: %s %s, want %s %s", name, i, it.Request.Method, it.Request.URL, want.Request.Method, want.Request.URL)
			}
			if it.Response.Status != want.Response.Status || !bytes.Equal(it.Response.Body, want.Response.Body) {
				t.Errorf("%s #%d: the answers differ", name, i)
			}
		}
	}
}

func load(t *testing.T, name string) *tape.Tape {
	t.Helper()
	got, err := tape.LoadFile(real + name)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestOldAndNewVCRpyAreEqual(t *testing.T) {
	want := load(t, "vcrpy/vcrpy-new-yaml.yaml").Interactions[0]
	for _, name := range []string{"vcrpy/vcrpy-old-yaml.yaml", "vcrpy/vcrpy-old-json.json", "vcrpy/vcrpy-new-json.json"} {
		got := load(t, name).Interactions[0]
		if got.Request.URL != want.Request.URL || string(got.Response.Body) != string(want.Response.Body) || got.Response.Status != 200 {
			t.Errorf("%s: %s %d %q", name, got.Request.URL, got.Response.Status, got.Response.Body)
		}
		if v := got.Response.Header.Get("Content-Length"); v != "32" {
			t.Errorf("%s: Content-Length %q, want 32", name, v)
		}
		if v := got.Request.Header.Get("accept-encoding"); v != "gzip, deflate, compress" {
			t.Errorf("%s: Accept-Encoding %q", name, v)
		}
	}
}

func TestBodies(t *testing.T) {
	gz := load(t, "vcrpy/vcrpy-gzip-requests.yaml").Interactions[0].Response
	plain, err := gz.Content()
	if err != nil || !bytes.Contains(plain, []byte(`"gzipped":true`)) {
		t.Errorf("gzip under !!binary: %q, %v", plain, err)
	}
	if wire, err := gz.Wire(); err != nil || !bytes.Equal(wire, gz.Body) {
		t.Errorf("bytes stored as they were on the wire changed (%v)", err)
	}
	httpx := load(t, "vcrpy/vcrpy-httpx-old.yaml").Interactions[0].Response
	if plain, err := httpx.Content(); err != nil || !bytes.Equal(plain, httpx.Body) {
		t.Errorf("a body stored plain under Content-Encoding: gzip: %q, %v", plain, err)
	}
	wire, err := httpx.Wire()
	if err != nil || !bytes.HasPrefix(wire, []byte{0x1f, 0x8b}) {
		t.Errorf("a body stored plain is not encoded for the wire: %q, %v", wire, err)
	}
	broken := load(t, "har/mitm-corrupted-gzip.har").Interactions[0].Response
	if _, err := broken.Content(); err == nil {
		t.Error("a corrupt gzip body decoded")
	}
	if wire, err := broken.Wire(); err != nil || !bytes.Equal(wire, broken.Body) || len(wire) != 24 {
		t.Errorf("a corrupt gzip body is served as %q, %v", wire, err)
	}
}

func TestCodingsRoundTrip(t *testing.T) {
	body := []byte(strings.Repeat("{\"a\": 1, \"b\": [true, null]}\n", 200))
	for _, coding := range []string{"gzip", "x-gzip", "deflate", "br", "zstd", "gzip, br", "identity", "unheard-of"} {
		h := tape.Header{{Name: "content-encoding", Value: coding}}
		stored := tape.Response{Header: h, Body: body}
		wire, err := stored.Wire()
		if err != nil {
			t.Fatal(coding, err)
		}
		again, _ := stored.Wire()
		if !bytes.Equal(wire, again) {
			t.Errorf("%s: two encodings differ", coding)
		}
		plain, err := (&tape.Response{Header: h, Body: wire}).Content()
		if err != nil || !bytes.Equal(plain, body) {
			t.Errorf("%s: does not decode to what was encoded (%v)", coding, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {" \n", "the file is empty"},
		"no recording":   {"openapi: 3.0.0\npaths: {}\n", "no recording: found a mapping at the top with the keys openapi, paths"},
		"text":           {"hello", `no recording: found "hello"`},
		"version":        {"version: 3\ninteractions: []\n", "a go-vcr cassette of version 3, want 1 or 2"},
		"no version":     {"interactions:\n- request: {url: http://a/}\n", "without a version"},
		"not a list":     {"version: 1\ninteractions: 5\n", `interactions is "5", want a list`},
		"bad code":       {"version: 1\ninteractions:\n- request: {url: http://a/}\n  response: {code: many}\n", `entry 0 (line 3): response.code is "many", want a whole number`},
		"bad binary":     {"version: 1\ninteractions:\n- request: {url: http://a/}\n  response: {code: 200, body: !!binary '*'}\n", "response.body is no base64"},
		"alias of self":  {"version: 1\ninteractions: &a\n- *a\n", "contains itself"},
		"bad YAML":       {"version: 1\n\tinteractions: []\n", "line 2"},
		"bad JSON":       {"{\"log\": [}", "line 1, column 10"},
		"no entries":     {`{"log": {}}`, "a HAR without log.entries"},
		"upgrade":        {`{"log":{"entries":[{"request":{"method":"GET","url":"http://a/"},"response":{"status":101}}]}}`, "status 101: an upgraded connection"},
		"foreign schema": {`{"schema":"anvil.provider.recording/v1","request":{},"answer":{"ok":true}}` + "\n" + `{"schema":"x"}` + "\n", `line 2: the schema is "x"`},
	} {
		_, err := tape.Parse("tape", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "tape: ") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestOneBadEntryIsNamedAndTheOthersLoad(t *testing.T) {
	got, err := tape.Parse("t", []byte("version: 1\ninteractions:\n"+
		"- request: {method: GET, url: http://a/1}\n  response: {code: 200}\n"+
		"- request: {method: GET}\n  response: {code: 200}\n"+
		"- request: {method: GET, url: http://a/2}\n  response: {code: 204}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Interactions) != 2 || got.Interactions[1].Position != 2 {
		t.Errorf("loaded %d interactions", len(got.Interactions))
	}
	if len(got.Skipped) != 1 || got.Skipped[0].String() != "entry 1 (line 5): the request has no URL" {
		t.Errorf("skipped: %v", got.Skipped)
	}
}

func TestFailuresAreRecorded(t *testing.T) {
	got, err := tape.Parse("t", []byte("version: 2\ninteractions:\n- request: {url: http://a/}\n  response: {code: 0, status: 'dial tcp: i/o timeout'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := got.Interactions[0].Failure
	if f == nil || !f.Timeout() || f.Error() != "recorded failure: dial tcp: i/o timeout" {
		t.Errorf("failure: %v", f)
	}
}

func TestLines(t *testing.T) {
	const recording = `{"schema":"anvil.provider.recording/v1","request":{"requestId":"r1","operationId":"a"},"answer":{"ok":true,"result":1.10}}
{"schema":"anvil.provider.recording/v1","request":{"requestId":"r2","operationId":"a"},"error":{"code":"upstream_timeout","message":"late"}}
{"schema":"anvil.provider.recording/v1","request":{"requ`
	got, err := tape.Parse("t", []byte(recording))
	if err != nil {
		t.Fatal(err)
	}
	if got.Format != tape.Provider || len(got.Interactions) != 2 || string(got.Interactions[0].Call.Answer) != `{"ok":true,"result":1.10}` {
		t.Errorf("recording: %+v", got)
	}
	if f := got.Interactions[1].Failure; f == nil || !f.Timeout() {
		t.Errorf("the error is %v", f)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0].String(), "cut off") {
		t.Errorf("notes: %v", got.Notes)
	}

	const call = `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","request":{"method":"POST","path":"/t","query":{"a b":["1","2"]},"headers":{"x-a":"1"},"body":{"n":1.0}},"normalized":{"operationId":"t"},"provider":{"ok":true,"result":{"id":1}},"status":201,"response":{"id":1},"headers":{"X-Total":"3"}}` + "\n"
	got, err = tape.Parse("t", []byte(call))
	if err != nil {
		t.Fatal(err)
	}
	it := got.Interactions[0]
	if it.Request.URL != "/t?a+b=1&a+b=2" || string(it.Request.Body) != `{"n":1.0}` || it.Response.Status != 201 ||
		it.Response.Header.Get("x-total") != "3" || string(it.Response.Body) != `{"id":1}` || it.Call == nil {
		t.Errorf("trace: %+v", it)
	}
}

func TestLoadFolder(t *testing.T) {
	got, err := tape.Load(real + "vcrpy")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 9 || filepath.Base(got[0].Name) != "dd-case-emoji.yaml" || filepath.Base(got[8].Name) != "vcrpy-redirect.yaml" {
		t.Errorf("the folder gave %d tapes", len(got))
	}
	if _, err := tape.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "holds no recording") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := tape.Load("nowhere.yaml"); err == nil {
		t.Error("a missing file loaded")
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(real + "*/*.*")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 8<<10 {
			f.Add(data)
		}
	}
	f.Add([]byte(`{"schema":"anvil.provider.recording/v1","request":{},"answer":{"ok":true}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := tape.Parse("fuzz", data)
		if err != nil {
			return
		}
		for _, it := range got.Interactions {
			if it.Call == nil && (it.Request.Method == "" || it.Request.URL == "") {
				t.Fatalf("an interaction without a request: %+v", it)
			}
			plain, err := it.Response.Content()
			if err == nil && len(plain) < 1<<16 {
				if _, err := (&tape.Response{Header: it.Response.Header, Body: plain}).Wire(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// What a recorder notes beside go-vcr's format, behind passed end markers.
func TestNotedBesideTheFormat(t *testing.T) {
	got, err := tape.Parse("t", []byte(`---
version: 1
interactions:
- request:
    body: ""
    form: {}
    headers:
      Accept:
      - '*/*'
    url: http://a/
    method: GET
  response:
    body: plain
    headers:
      X-Request-Id:
      - "1"
    status: 200 OK
    code: 200
    duration: 1ms
    encoding:
    - gzip
    names:
    - x-REQUEST-id
    trailer:
      X-Sum:
      - "9"
    transfer: sse
    informational:
    - code: 103
      headers:
        Link:
        - </a>
#..
- request:
    url: http://b/
    method: GET
  response:
    code: 0
    status: 'read: connection reset'
    failure: timeout
    cut: the connection broke
...
- request:
    url: http://unfinished/
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Interactions) != 2 || len(got.Skipped) != 0 {
		t.Fatalf("%d interactions, skipped %v", len(got.Interactions), got.Skipped)
	}
	r := got.Interactions[0].Response
	if !r.Plain || r.Header.Get("Content-Encoding") != "gzip" || r.Header[0].Name != "x-REQUEST-id" || !r.Stream ||
		r.Trailer.Get("x-sum") != "9" || len(r.Early) != 1 || r.Early[0].Status != 103 || r.Early[0].Header.Get("link") != "</a>" {
		t.Errorf("%+v", r)
	}
	if wire, err := r.Wire(); err != nil || !bytes.HasPrefix(wire, []byte{0x1f, 0x8b}) {
		t.Errorf("not encoded again: %q, %v", wire, err)
	}
	if f := got.Interactions[1].Failure; f == nil || !f.Timeout() || got.Interactions[1].Response.Cut == "" {
		t.Errorf("%+v", got.Interactions[1])
	}
}
