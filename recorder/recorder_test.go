package recorder

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/dnaeon/go-vcr/v2/cassette"
	vcrrecorder "github.com/dnaeon/go-vcr/v2/recorder"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// encode makes a body in a content coding; raw is deflate without zlib around it.
func encode(t testing.TB, coding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, _ = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// api is a server with what recorders get wrong.
func api(t testing.TB) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /plain", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Twice"] = []string{"b", "a"}
		w.Header()["x-ODD-case"] = []string{"1"}
		fmt.Fprintf(w, `{"proto":%d,"query":%q}`, r.ProtoMajor, r.URL.RawQuery)
	})
	for _, c := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		mux.HandleFunc("GET /coded/"+c, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", strings.Replace(c, "raw", "deflate", 1))
			_, _ = w.Write(encode(t, c, `{"coding":"`+c+`","text":"`+strings.Repeat("é", 2000)+`"}`))
		})
	}
	mux.HandleFunc("GET /liar", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, "not gzip")
	})
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		w.Header().Set("X-Sum", r.Trailer.Get("Sum"))
		w.WriteHeader(201)
		_, _ = w.Write(body)
	})
	mux.HandleFunc("GET /binary", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write([]byte{0, 1, 2, 255, 254, '\n', 0x80})
	})
	mux.HandleFunc("GET /moved", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://"+r.Host+"/plain?moved")
		w.Header().Set("Link", "<http://"+r.Host+"/plain?page=2>; rel=next")
		w.WriteHeader(302)
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
			_ = http.NewResponseController(w).Flush()
		}
	})
	mux.HandleFunc("GET /trailers", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Checksum")
		fmt.Fprint(w, "body")
		_ = http.NewResponseController(w).Flush()
		w.Header().Set("X-Checksum", "abc")
	})
	mux.HandleFunc("GET /early", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.WriteHeader(204)
	})
	mux.HandleFunc("GET /broken", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "only this")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "cookie-secret-1", Domain: "api.test", Secure: true})
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":%q,"for":%q}`, "body-secret-1", r.Header.Get("Authorization"))
	})
	return mux
}

func open(t testing.TB, path string, opts *Options) *Recorder {
	t.Helper()
	if opts == nil {
		opts = &Options{Random: rand.Reader}
	}
	if opts.Warn == nil {
		opts.Warn = func(err error) { t.Errorf("not written: %v", err) }
	}
	r, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func closed(t testing.TB, r *Recorder) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, path string) []*cassette.Interaction {
	t.Helper()
	c, err := cassette.Load(strings.TrimSuffix(path, ".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return c.Interactions
}

// proxy starts a proxy before a target and returns its URL.
func proxy(t testing.TB, r *Recorder, target string, opts ProxyOptions) (string, *Proxy) {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	opts.Target = u
	p, err := NewProxy(r, opts)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, l, 10*time.Second) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String(), p
}

// rawClient undoes nothing and follows nothing.
func rawClient(t testing.TB) *http.Client {
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

type seen struct {
	Status  int
	Header  http.Header
	Body    string
	Trailer http.Header
	Err     string
}

func get(t testing.TB, c *http.Client, method, url, kind, body string) seen {
	t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, url, in)
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("Authorization", "Bearer header-secret-1")
	resp, err := c.Do(req)
	if err != nil {
		return seen{Err: err.Error()}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	s := seen{Status: resp.StatusCode, Header: resp.Header, Body: string(text), Trailer: resp.Trailer}
	s.Header.Del("Date")
	if err != nil {
		s.Err = err.Error()
	}
	return s
}

func paths() []string {
	return []string{"/plain?a=1&a=2&b=%2f", "/coded/gzip", "/coded/deflate", "/coded/raw", "/coded/br", "/coded/zstd", "/liar", "/binary", "/events", "/trailers", "/early", "/login", "/missing"}
}

// The client sees through the proxy what it sees without it, and the tape holds it.
func TestProxyTruth(t *testing.T) {
	for _, proto := range []string{"http", "https", "h2"} {
		t.Run(proto, func(t *testing.T) {
			srv := httptest.NewUnstartedServer(api(t))
			srv.EnableHTTP2 = proto == "h2"
			if proto == "http" {
				srv.Start()
			} else {
				srv.StartTLS()
			}
			defer srv.Close()
			pool := x509.NewCertPool()
			if cert := srv.Certificate(); cert != nil {
				pool.AddCert(cert)
			}
			direct := rawClient(t)
			direct.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
			direct.Transport.(*http.Transport).ForceAttemptHTTP2 = proto == "h2"
			path := filepath.Join(t.TempDir(), "tape.yaml")
			rec := open(t, path, nil)
			base, _ := proxy(t, rec, srv.URL, ProxyOptions{TLS: &tls.Config{RootCAs: pool}})
			client := rawClient(t)
			for _, at := range paths() {
				want, got := get(t, direct, "GET", srv.URL+at, "", ""), get(t, client, "GET", base+at, "", "")
				if at == "/login" {
					want.Header.Set("Set-Cookie", "sid=cookie-secret-1")
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s:\n%s", at, diff)
				}
			}
			want, got := get(t, direct, "POST", srv.URL+"/echo", "text/plain", "hello\n"), get(t, client, "POST", base+"/echo", "text/plain", "hello\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			closed(t, rec)
			check(t, path, srv.URL)
		})
	}
}

func check(t *testing.T, path, target string) {
	t.Helper()
	list := load(t, path)
	if len(list) != len(paths())+1 {
		t.Fatalf("%d interactions, want %d", len(list), len(paths())+1)
	}
	for i, it := range list[:len(paths())] {
		if it.URL != target+paths()[i] {
			t.Errorf("interaction %d has the URL %s", i, it.URL)
		}
		if strings.HasPrefix(paths()[i], "/coded/") && (!strings.HasPrefix(it.Response.Body, `{"coding":"`) || it.Response.Headers.Get("Content-Encoding") != "") {
			t.Errorf("%s is stored in its coding: %.40q", it.URL, it.Response.Body)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"header-secret-1", "body-secret-1", "cookie-secret-1"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s is on the tape", secret)
		}
	}
	for _, note := range []string{"encoding:\n    - gzip", "encoding:\n    - zstd", "trailer:\n      X-Checksum:", "transfer: sse", "informational:\n    - code: 103", "code: 404"} {
		if !bytes.Contains(data, []byte(note)) {
			t.Errorf("the tape does not note %q", note)
		}
	}
}

// A tape replays in go-vcr's own recorder.
func TestGoVCRReplays(t *testing.T) {
	srv := httptest.NewServer(api(t))
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "tape.yaml")
	rec := open(t, path, nil)
	live := &http.Client{Transport: &Transport{Recorder: rec}}
	at := []string{"/plain?x=1", "/coded/gzip", "/binary", "/events", "/missing", "/moved"}
	var want []seen
	for _, p := range at {
		want = append(want, get(t, live, "GET", srv.URL+p, "", ""))
	}
	want = append(want, get(t, live, "POST", srv.URL+"/echo", "application/json", `{"a":1}`))
	closed(t, rec)
	srv.Close()
	theirs, err := vcrrecorder.NewAsMode(strings.TrimSuffix(path, ".yaml"), vcrrecorder.ModeReplaying, nil)
	if err != nil {
		t.Fatal(err)
	}
	taped := &http.Client{Transport: theirs}
	for i, p := range append(at, "/echo") {
		method := "GET"
		if p == "/echo" {
			method = "POST"
		}
		got := get(t, taped, method, srv.URL+p, "", "")
		if got.Status != want[i].Status || got.Body != want[i].Body {
			t.Errorf("%s: got %d %.60q, want %d %.60q", p, got.Status, got.Body, want[i].Status, want[i].Body)
		}
	}
}

// Two recordings of the same parallel traffic are one file.
func TestSecondRecordingEqual(t *testing.T) {
	srv := httptest.NewServer(api(t))
	defer srv.Close()
	record := func() string {
		path := filepath.Join(t.TempDir(), "tape.yaml")
		rec := open(t, path, nil)
		base, _ := proxy(t, rec, srv.URL, ProxyOptions{})
		client := rawClient(t)
		gate := make(chan struct{})
		var wg sync.WaitGroup
		for n := range 24 {
			wg.Go(func() {
				<-gate
				get(t, client, "POST", base+"/echo?n="+fmt.Sprint(n), "application/json", fmt.Sprintf(`{"password":"secret-number-%d","n":%d}`, n, n))
			})
		}
		close(gate)
		wg.Wait()
		get(t, client, "GET", base+"/login", "", "")
		boundary := fmt.Sprintf("b%x", path)
		var b bytes.Buffer
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--%[1]s--\r\n", boundary)
		get(t, client, "POST", base+"/echo", "multipart/form-data; boundary="+boundary, b.String())
		closed(t, rec)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := record(), record(); a != b {
		t.Error(cmp.Diff(a, b))
	}
}

func TestFailuresAreRecorded(t *testing.T) {
	srv := httptest.NewServer(api(t))
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "tape.yaml")
	rec := open(t, path, nil)
	base, _ := proxy(t, rec, srv.URL, ProxyOptions{Timeout: 200 * time.Millisecond})
	client := rawClient(t)
	if got := get(t, client, "GET", base+"/slow", "", ""); got.Status != 504 || got.Header.Get("X-Anvil-Upstream-Error") != "timeout" {
		t.Errorf("got %+v", got)
	}
	if got := get(t, client, "GET", base+"/broken", "", ""); got.Status != 200 || got.Err == "" {
		t.Errorf("got %+v", got)
	}
	srv.Close()
	if got := get(t, client, "GET", base+"/plain", "", ""); got.Status != 502 || got.Header.Get("X-Anvil-Upstream-Error") != "connection" {
		t.Errorf("got %+v", got)
	}
	closed(t, rec)
	list := load(t, path)
	if len(list) != 3 || list[0].Code != 0 || list[1].Code != 200 || list[1].Response.Body != "only this" || list[2].Code != 0 {
		t.Fatalf("got %+v", list)
	}
	if !strings.HasPrefix(list[0].Status, "timeout: ") || list[2].Status != "connection: dial: connect: connection refused" {
		t.Errorf("got %q and %q", list[0].Status, list[2].Status)
	}
	if s := rec.Summary(); s.Calls != 3 || s.Failed != 3 || s.Written != 3 {
		t.Errorf("got %+v", s)
	}
}

// Events reach the client as they come, and an abandoned stream is kept.
func TestStreamPassesOn(t *testing.T) {
	next := make(chan string)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		for e := range next {
			fmt.Fprint(w, "data: "+e+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "tape.yaml")
	rec := open(t, path, nil)
	u, _ := url.Parse(srv.URL)
	p, err := NewProxy(rec, ProxyOptions{Target: u})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(p)
	defer front.Close()
	resp, err := http.Get(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(resp.Body)
	for _, e := range []string{"one", "two"} {
		next <- e // the server sends no more until it was read
		if line, err := lines.ReadString('\n'); err != nil || line != "data: "+e+"\n" {
			t.Fatalf("got %q, %v", line, err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	close(next)
	resp.Body.Close()
	p.busy.Wait()
	closed(t, rec)
	list := load(t, path)
	if len(list) != 1 || list[0].Response.Body != "data: one\n\ndata: two\n\n" {
		t.Errorf("got %+v", list)
	}
	if data, _ := os.ReadFile(path); !strings.Contains(string(data), "cut: 'the caller left'") {
		t.Errorf("no note:\n%s", data)
	}
}

func TestLinksAndCasing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heads := make(chan string, 4)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			req := bufio.NewReader(c)
			var head strings.Builder
			for {
				line, err := req.ReadString('\n')
				if err != nil || line == "\r\n" {
					break
				}
				head.WriteString(line)
			}
			heads <- head.String()
			body := `{"next":"http://` + l.Addr().String() + `/v1/items?page=2","esc":"http:\/\/` + l.Addr().String() + `\/v1\/x"}`
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nx-lower: 1\r\nX-lower: 2\r\ncontent-type: application/json\r\nLocation: http://%s/v1/a\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", l.Addr(), len(body), body)
			c.Close()
		}
	}()
	for _, rewrite := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "tape.yaml")
		rec := open(t, path, nil)
		base, p := proxy(t, rec, "http://"+l.Addr().String()+"/v1", ProxyOptions{RewriteBodies: rewrite})
		c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET /items/%%41?q HTTP/1.1\r\nHost: %s\r\nx-my-HEADER: 1\r\nAccept: */*\r\nConnection: close\r\n\r\n", strings.TrimPrefix(base, "http://"))
		answer, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		if head := <-heads; !strings.HasPrefix(head, "GET /v1/items/%41?q HTTP/1.1\r\n") || !strings.Contains(head, "\r\nx-my-HEADER: 1\r\n") || strings.Contains(head, "User-Agent") {
			t.Errorf("the target was sent:\n%s", head)
		}
		if a := string(answer); !strings.Contains(a, "\r\nx-lower: 1\r\nx-lower: 2\r\n") || !strings.Contains(a, "\r\nLocation: "+base+"/a\r\n") {
			t.Errorf("the client was sent:\n%s", a)
		}
		if got := bytes.Contains(answer, []byte(base+"/items?page=2")) && bytes.Contains(answer, []byte(strings.ReplaceAll(base+"/x", "/", `\/`))); got != rewrite {
			t.Errorf("rewritten: %v, want %v:\n%s", got, rewrite, answer)
		}
		if got := p.Links(); (got == 1) == rewrite {
			t.Errorf("%d answers with links", got)
		}
		closed(t, rec)
		it := load(t, path)[0]
		if it.Response.Headers.Get("Location") != "http://"+l.Addr().String()+"/v1/a" || !strings.Contains(it.Response.Body, l.Addr().String()) {
			t.Errorf("the tape does not keep the original: %+v", it.Response)
		}
		if data, _ := os.ReadFile(path); !strings.Contains(string(data), "names:\n    - x-my-HEADER") || !strings.Contains(string(data), "names:\n    - x-lower") {
			t.Errorf("no names:\n%s", data)
		}
	}
}

func TestInformationalAndTrailers(t *testing.T) {
	srv := httptest.NewServer(api(t))
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "tape.yaml")
	rec := open(t, path, nil)
	base, _ := proxy(t, rec, srv.URL, ProxyOptions{})
	var codes []int
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		codes = append(codes, code)
		return nil
	}})
	req, _ := http.NewRequestWithContext(ctx, "GET", base+"/early", nil)
	resp, err := rawClient(t).Do(req)
	if err != nil || resp.StatusCode != 204 || resp.Header.Get("Link") != "" {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	if !cmp.Equal(codes, []int{103}) {
		t.Errorf("got %v", codes)
	}
	up, _ := http.NewRequest("POST", base+"/echo", struct{ io.Reader }{strings.NewReader("x")})
	up.Trailer = http.Header{"Sum": {"9"}}
	if resp, err = rawClient(t).Do(up); err != nil || resp.Header.Get("X-Sum") != "9" {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	closed(t, rec)
	if data, _ := os.ReadFile(path); !strings.Contains(string(data), "trailer:\n      Sum:\n      - '9'") {
		t.Errorf("no trailer of the request:\n%s", data)
	}
}

// HTTP/2 has trailers beside a length. A client of HTTP/1.1 gets them too.
func TestTrailerBesideALength(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Checksum")
		w.Header().Set("Content-Length", "4")
		fmt.Fprint(w, "body")
		w.Header().Set("X-Checksum", "abc")
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "tape.yaml")
	rec := open(t, path, nil)
	base, _ := proxy(t, rec, srv.URL, ProxyOptions{TLS: &tls.Config{RootCAs: srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}})
	got := get(t, rawClient(t), "GET", base+"/", "", "")
	if want := (http.Header{"X-Checksum": {"abc"}}); got.Body != "body" || !cmp.Equal(got.Trailer, want) {
		t.Errorf("got %+v", got)
	}
	closed(t, rec)
	for _, it := range load(t, path) {
		if got := it.Response.Headers.Get("Content-Length"); got != "4" {
			t.Errorf("the tape has the length %q, want the target's", got)
		}
	}
}

func TestUnwrittenExchangeIsNamed(t *testing.T) {
	srv := httptest.NewServer(api(t))
	defer srv.Close()
	var said error
	rec := open(t, filepath.Join(t.TempDir(), "tape.yaml"), &Options{Warn: func(err error) { said = err }})
	base, _ := proxy(t, rec, srv.URL, ProxyOptions{})
	closed(t, rec) // as a tape that takes no more
	if got := get(t, rawClient(t), "GET", base+"/plain", "", ""); got.Status != 200 {
		t.Fatalf("%+v", got)
	}
	if want := "GET " + srv.URL + "/plain is not on the tape: "; said == nil || !strings.HasPrefix(said.Error(), want) {
		t.Errorf("found %v, want an error that begins with %q", said, want)
	}
}
