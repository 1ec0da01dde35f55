package recorder

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/recorder/vcr"
)

// secrets are made-up tokens, put together so that no scanner minds this file.
func secrets() []string {
	const a = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
	long := a + a + a
	return []string{
		"AK" + "IA" + "J7QP2M4XW9ZK3T6B", "gh" + "p_" + long[:36], "gl" + "pat-" + long[:20], "xox" + "b-123456789012-" + long[:24], "sk" + "_live_" + long[:24],
		"AI" + "za" + long[:35], "sk" + "-ant-api03-" + long[:60], "np" + "m_" + long[:36], "S" + "G." + long[:22] + "." + long[:43],
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + long[:43],
	}
}

// No secret is in any file that a recording makes, while it runs and after.
func TestNoSecretInAnyFile(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Echo", r.Header.Get("X-Note"))
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		http.SetCookie(w, &http.Cookie{Name: "s", Value: r.URL.Query().Get("v")})
		_, _ = w.Write(body)
	}))
	defer srv.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "tape.yaml")
	rec := open(t, path, &Options{TempDir: dir, Random: strings.NewReader(strings.Repeat("k", 1<<16))})
	base, _ := proxy(t, rec, srv.URL, ProxyOptions{})
	client := rawClient(t)
	none := func(when string) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range secrets() {
				if bytes.Contains(data, []byte(s[len(s)-12:])) {
					t.Errorf("%s: %s holds %s", when, filepath.Base(f), s)
				}
			}
		}
	}
	all := secrets()
	quoted, _ := json.Marshal(all)
	var form bytes.Buffer
	mp := multipart.NewWriter(&form)
	query, at := url.Values{"v": {all[0]}}, base+"/p"
	for _, s := range all {
		_ = mp.WriteField("file", s)
		query.Add("x", s)
		at += "/" + url.PathEscape(s)
	}
	_ = mp.Close()
	for kind, body := range map[string]string{
		"application/json": `{"a":` + string(quoted) + `}`, "application/x-www-form-urlencoded": query.Encode(), mp.FormDataContentType(): form.String(),
		"text/plain": `{"pad":"` + strings.Repeat("lorem ipsum, ", 800_000) + `","tokens":` + string(quoted) + `}`, // scrubbed in windows
	} {
		req, err := http.NewRequest("POST", at+"?"+query.Encode(), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		req.Header.Set("X-Note", "see "+strings.Join(all, " and "))
		req.SetBasicAuth("user", all[1])
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		echo, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(echo) != body {
			t.Fatalf("the client did not get its body back: %v", err)
		}
	}
	none("while recording")
	closed(t, rec)
	none("after the end")
	if n := len(load(t, path)); n != 4 {
		t.Errorf("%d interactions", n)
	}
}

// A body of 100 MB passes through, is on the tape, and is not held in memory.
func TestLargeBody(t *testing.T) {
	const size = 100 << 20
	block := bytes.Repeat([]byte("0123456789abcdef\x00\xff"), 4096)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(size))
		for left := size; left > 0; left -= len(block) {
			_, _ = w.Write(block[:min(left, len(block))])
		}
	}))
	defer srv.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "tape.yaml")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rec := open(t, path, &Options{TempDir: dir, Random: strings.NewReader(strings.Repeat("k", 1<<12))})
	base, _ := proxy(t, rec, srv.URL, ProxyOptions{})
	resp, err := rawClient(t).Get(base + "/big")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err != nil || n != size {
		t.Fatalf("%d bytes, %v", n, err)
	}
	closed(t, rec)
	runtime.ReadMemStats(&after)
	if info, err := os.Stat(path); err != nil || info.Size() < size*4/3 {
		t.Fatalf("the tape is short: %v, %v", info, err)
	}
	// What the runtime took from the system never shrinks: it is the peak.
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}

func TestMaxBody(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Repeat("x", 5000)) }))
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "tape.yaml")
	rec := open(t, path, &Options{MaxBody: 1000})
	resp, err := (&http.Client{Transport: &Transport{Recorder: rec}}).Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err != nil || len(body) != 5000 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	closed(t, rec)
	if got := load(t, path)[0].Response.Body; len(got) != 1000 {
		t.Errorf("%d bytes on the tape", len(got))
	}
	if data, _ := os.ReadFile(path); !strings.Contains(string(data), "cut: 'the first 1000 of 5000 bytes were kept'") {
		t.Errorf("no note:\n%s", data)
	}
}

// What is refused fails the reading of the body, and says where and what to do.
func TestTransportRefuses(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("\xff\xfe" + secrets()[1] + "\x00"))
	}))
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "tape.yaml")
	var warned error
	rec := open(t, path, &Options{Warn: func(err error) { warned = err }})
	resp, err := (&http.Client{Transport: &Transport{Recorder: rec}}).Get(srv.URL + "/a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(resp.Body)
	var refused *RefusedError
	if !errors.As(err, &refused) || len(refused.Found) != 1 || refused.Found[0].Place != "response.body" || refused.Hint() == "" || !errors.Is(warned, err) {
		t.Errorf("got %v, warned of %v", err, warned)
	}
	closed(t, rec)
	if s := rec.Summary(); s.Refused != 1 || s.Written != 0 || len(load(t, path)) != 0 {
		t.Errorf("got %+v", s)
	}
}

// A caller that has seen enough leaves a whole recording.
func TestTransportEarlyClose(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"a":1} `+strings.Repeat(" ", 9000)) }))
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "tape.yaml")
	rec := open(t, path, nil)
	resp, err := (&http.Client{Transport: &Transport{Recorder: rec}}).Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := errors.Join(json.NewDecoder(resp.Body).Decode(&v), resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	closed(t, rec)
	if list := load(t, path); len(list) != 1 || len(list[0].Response.Body) != 9008 {
		t.Errorf("got %d", len(list))
	}
}

func TestContractCounts(t *testing.T) {
	doc, err := air.Load("../cmd/anvil-sim/demo/air.yaml")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	rec := open(t, "", &Options{Contract: doc})
	base, _ := proxy(t, rec, srv.URL+"/base", ProxyOptions{})
	for _, at := range []string{"/tickets", "/tickets/1?x=1", "/elsewhere", "/tickets/1"} {
		get(t, rawClient(t), "GET", base+at, "", "")
	}
	s := rec.Summary()
	if s.Calls != 4 || s.Unknown != 4 { // the contract names no server with /base
		t.Errorf("got %+v", s)
	}
	base, _ = proxy(t, rec, srv.URL, ProxyOptions{})
	for _, at := range []string{"/tickets", "/tickets/1?x=1", "/elsewhere", "/tickets/1"} {
		get(t, rawClient(t), "GET", base+at, "", "")
	}
	if s = rec.Summary(); s.Unknown != 5 || !cmp.Equal(s.Seen, []string{"helpdesk.tickets.list", "helpdesk.tickets.get"}) || len(s.Unseen) < 5 || !strings.Contains(s.String(), "2 of ") {
		t.Errorf("got %+v", s)
	}
}

// A provider that answers, fails, or says nothing sensible.
type fake struct{}

func (fake) Invoke(_ context.Context, req *provider.Request) (*provider.Response, error) {
	switch req.OperationID {
	case "fail":
		return nil, &provider.TransportError{Code: provider.UpstreamTimeout, Message: "too slow"}
	case "domain":
		return provider.Fail(provider.NotFound, "no such thing"), nil
	}
	return provider.ResultJSON([]byte(`{"id":1.10,"api_key":"very-secret-key"}`)), nil
}

func TestProvider(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	p, err := NewProvider(fake{}, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, op := range []string{"get", "domain", "fail"} {
		resp, err := p.Invoke(context.Background(), &provider.Request{RequestID: fmt.Sprintf("r%d", i+1), OperationID: op, Kind: provider.KindRead})
		if op == "get" && (err != nil || !strings.Contains(string(resp.AppendJSON(nil)), "very-secret-key")) {
			t.Errorf("the caller got %v, %v", resp, err)
		}
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for i, want := range []string{`"answer":{"ok":true,"result":{"id":1.10,"api_key":"ANVIL-SECRET-0001"}}}`, `"answer":{"ok":false,"error":{"code":"not_found","message":"no such thing"}}}`, `"error":{"code":"upstream_timeout","message":"too slow"}}`} {
		if len(lines) != 3 || !strings.HasPrefix(lines[i], `{"schema":"`+ProviderSchema+`","request":{"requestId":"r`) || !strings.HasSuffix(lines[i], want) {
			t.Fatalf("got\n%s\nwant the end %s", data, want)
		}
	}
	if _, err := NewProvider(fake{}, path, nil); !errors.Is(err, vcr.ErrExists) {
		t.Errorf("got %v", err)
	}
	// A killed writer leaves half a line.
	if err := os.WriteFile(path, append(data, `{"schema":"anvil.pro`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err = NewProvider(fake{}, path, &Options{Append: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Invoke(context.Background(), &provider.Request{RequestID: "r4", OperationID: "get"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	data, _ = os.ReadFile(path)
	if n := strings.Count(string(data), "\n"); n != 4 || !strings.Contains(string(data), "ANVIL-SECRET-0002") {
		t.Errorf("got\n%s", data)
	}
}

// hidden are the ways in which a token is written so that a plain search of a file
// does not find it.
func hidden(token string) map[string]string {
	percent, escaped := "", ""
	for i := range len(token) {
		percent += fmt.Sprintf("%%%02x", token[i])
		escaped += fmt.Sprintf(`\u%04x`, token[i])
	}
	return map[string]string{"percent": percent, "escaped": escaped, "base64": base64.StdEncoding.EncodeToString([]byte("a key: " + token)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(token + "?>"))}
}

// A token that is written in another way is not on the tape either: it is replaced,
// or its exchange is refused.
func TestNoSecretInDisguise(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch kind := r.Header.Get("Content-Type"); kind {
		case "text/event-stream":
			w.Header().Set("Content-Type", kind)
			fmt.Fprintf(w, "event: token\ndata: %s\n\n", body)
		default:
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(body)
			_ = z.Close()
		}
	}))
	defer srv.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "tape.yaml")
	refused := 0
	rec := open(t, path, &Options{TempDir: dir, Random: strings.NewReader(strings.Repeat("k", 1<<16)), Warn: func(error) { refused++ }})
	base, _ := proxy(t, rec, srv.URL, ProxyOptions{})
	calls := 0
	send := func(target, kind, body string) {
		t.Helper()
		calls++
		if got := get(t, rawClient(t), "POST", base+target, kind, body); got.Status != 200 {
			t.Fatalf("%s: %+v", target, got)
		}
	}
	for i, token := range secrets() {
		h := hidden(token)
		send(fmt.Sprintf("/%d?q=%s", i, h["percent"]), "application/json", `{"plain":"see `+token+`"}`)
		send(fmt.Sprintf("/%d/%s", i, h["percent"]), "application/json", `{"note":"`+h["escaped"]+`"}`)
		send(fmt.Sprintf("/%d/form", i), "application/x-www-form-urlencoded", "note="+h["percent"])
		send(fmt.Sprintf("/%d/base64", i), "application/json", `{"file":"`+h["base64"]+`"}`)
		send(fmt.Sprintf("/%d/url64", i), "text/plain", h["base64url"])
		send(fmt.Sprintf("/%d/stream", i), "text/event-stream", token)
	}
	closed(t, rec)
	list := load(t, path)
	if len(list)+refused < calls || len(list) == 0 {
		t.Errorf("%d exchanges on the tape and %d refused, of %d", len(list), refused, calls)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := revealed(string(data))
	for _, s := range secrets() {
		if at := strings.Index(text, s[len(s)-12:]); at >= 0 {
			t.Errorf("%s is on the tape: %.120q", s, text[max(0, at-60):])
		}
	}
}

// A tape's failures reach the client as they did when they were recorded.
func TestRecordedFailuresArePlayed(t *testing.T) {
	played := roundTripper(func(req *http.Request) (*http.Response, error) {
		switch req.URL.Path {
		case "/slow":
			return nil, context.DeadlineExceeded
		case "/down":
			return nil, errors.New("recorded failure: reset")
		}
		body := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("recorded failure: reset")))
		return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(body)}, nil
	})
	base, _ := proxy(t, open(t, "", nil), "http://127.0.0.1:9", ProxyOptions{Replay: played, Closed: true})
	client := rawClient(t)
	if got := get(t, client, "GET", base+"/slow", "", ""); got.Status != 504 || got.Header.Get("X-Anvil-Upstream-Error") != "timeout" {
		t.Errorf("got %+v", got)
	}
	if got := get(t, client, "GET", base+"/down", "", ""); got.Status != 502 || got.Header.Get("X-Anvil-Upstream-Error") != "connection" {
		t.Errorf("got %+v", got)
	}
	if got := get(t, client, "GET", base+"/half", "", ""); got.Status != 200 || got.Err == "" {
		t.Errorf("got %+v", got)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// revealed is a text with all that is percent-encoded, escaped or base64 beside it.
func revealed(text string) string {
	var b strings.Builder
	b.WriteString(text)
	plain := regexp.MustCompile(`%[0-9a-fA-F]{2}`).ReplaceAllStringFunc(text, func(s string) string {
		raw, _ := hex.DecodeString(s[1:])
		return string(raw)
	})
	b.WriteString(plain)
	b.WriteString(regexp.MustCompile(`\\+u[0-9a-fA-F]{4}`).ReplaceAllStringFunc(text, func(s string) string {
		raw, _ := hex.DecodeString(s[len(s)-2:])
		return string(raw)
	}))
	for _, s := range regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}`).FindAllString(plain, -1) {
		for skip := range 4 {
			if raw, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(s[skip : len(s)-(len(s)-skip)%4])); err == nil {
				b.Write(raw)
			}
		}
	}
	return b.String()
}
