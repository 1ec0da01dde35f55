package surface_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/surface"
	"github.com/anvil-sim/anvil/trace"
)

const contract = `
service: {id: shop, version: '1', source: {kind: openapi}}
operations:
  - {id: shop.u.get, canonicalName: u_get, displayName: u, sourceRef: {kind: openapi, path: '/u/{id}', method: get},
     effect: {kind: read, action: get}, input: {params: [{name: id, in: path, required: true}]},
     output: {headers: [ETag, Link]},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: u_get}, skill: {}, state: approved}
  - {id: shop.u.list, canonicalName: u_list, displayName: u, sourceRef: {kind: openapi, path: /u, method: get},
     effect: {kind: read, action: list}, input: {params: []}, output: {schema: {type: array, items: {type: object}}},
     pagination: {style: cursor, cursorParam: after},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: u_list}, skill: {}, state: approved}
  - {id: shop.u.put, canonicalName: u_put, displayName: u, sourceRef: {kind: openapi, path: '/u/{id}', method: put},
     effect: {kind: mutation, action: update}, input: {params: [{name: id, in: path, required: true}], body: {}},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: u_put}, skill: {}, state: approved}
`

type answers func(req *provider.Request) (*provider.Response, error)

func (f answers) Invoke(_ context.Context, req *provider.Request) (*provider.Response, error) {
	return f(req)
}

// echo answers with the request's path parameters and body.
func echo(req *provider.Request) (*provider.Response, error) {
	if req.Page != nil {
		return provider.PageOf([]int{1}, "n x")
	}
	body := string(req.Body)
	if body == "" {
		body = "null"
	}
	return provider.ResultJSON(fmt.Appendf(nil, `{"id":%s,"body":%s}`, req.Params.Path.Get("id"), body)), nil
}

// A running is a server on a socket with its trace in memory.
type running struct {
	url   string
	trace *bytes.Buffer
}

// start serves the contract above; wrap, when not nil, goes around its handler.
func start(t testing.TB, p answers, opts *surface.Options, wrap func(http.Handler) http.Handler) *running {
	t.Helper()
	r, h := handle(t, contract, opts, p)
	if wrap != nil {
		h = wrap(h)
	}
	r.listen(t, h, nil)
	return r
}

// startContract serves a contract from a provider, nil for the built-in store.
func startContract(t testing.TB, contract string, opts *surface.Options, p answers) *running {
	t.Helper()
	r, h := handle(t, contract, opts, p)
	r.listen(t, h, nil)
	return r
}

// handle makes the handler of a contract, and what its tests look at.
func handle(t testing.TB, contract string, opts *surface.Options, p answers) (*running, http.Handler) {
	t.Helper()
	doc, err := air.Parse("c.yaml", []byte(contract))
	if err != nil {
		t.Fatal(err)
	}
	r := &running{trace: &bytes.Buffer{}}
	core := &sim.Options{Trace: trace.NewWriter(r.trace)}
	if p != nil {
		core.Provider = p
	}
	s, err := sim.New(doc, core)
	if err != nil {
		t.Fatal(err)
	}
	h, err := surface.New(s, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r, h
}

// listen serves h on a socket until the test ends.
func (r *running) listen(t testing.TB, h http.Handler, opts *surface.ServerOptions) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server, err := surface.Listen(ctx, "127.0.0.1:0", h, opts)
	if err != nil {
		t.Fatal(err)
	}
	r.url = server.URL()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func (r *running) do(t testing.TB, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}

// TestUnparsableTargets sends what net/http refuses before any handler runs, on
// one connection beside ordinary calls, in whole and in single bytes.
func TestUnparsableTargets(t *testing.T) {
	r := start(t, echo, nil, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r.sendUnparsable(t, conn)
}

// TestUnparsableTargetsOverTLS does the same by HTTPS, with HTTP/1.1.
func TestUnparsableTargetsOverTLS(t *testing.T) {
	r, config := startTLS(t)
	conn, err := tls.Dial("tcp", strings.TrimPrefix(r.url, "https://"), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r.sendUnparsable(t, conn)
}

func (r *running) sendUnparsable(t *testing.T, conn net.Conn) {
	t.Helper()
	in := bufio.NewReader(conn)
	for i, tc := range []struct {
		target, want string
		bytewise     bool
	}{
		{"/u/%zz", `{"error":{"code":"validation_error","message":"Path parameter 'id' is not valid percent-encoding."}}`, false},
		{"/u/ok", `{"id":"ok","body":null}`, false},
		{"/u/%zz", `{"error":{"code":"validation_error","message":"Path parameter 'id' is not valid percent-encoding."}}`, true},
		{"/u/still%20ok", `{"id":"still ok","body":null}`, true},
		{"/u/a b", `{"id":"a b","body":null}`, false},
		{"nowhere%", `{"error":{"code":"unsupported_operation","message":"No operation 'GET /nowhere%'."}}`, false},
		{"/u/\xff", `{"error":{"code":"validation_error","message":"Path parameter 'id' is not valid percent-encoding."}}`, false},
	} {
		text := "GET " + tc.target + " HTTP/1.1\r\nHost: x\r\n\r\n"
		pieces := []string{text}
		if tc.bytewise {
			pieces = strings.Split(text, "")
		}
		for _, p := range pieces {
			if _, err := io.WriteString(conn, p); err != nil {
				t.Fatal(err)
			}
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%s: %v", tc.target, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if id := resp.Header.Get("X-Request-Id"); string(body) != tc.want || id != fmt.Sprintf("r%d", i+1) {
			t.Errorf("%s: got %s %s, want r%d %s", tc.target, id, body, i+1, tc.want)
		}
	}
	if n := strings.Count(r.trace.String(), "\n"); n != 7 {
		t.Errorf("the trace has %d lines, want 7", n)
	}
}

// A request that comes while the one before is still answered is read whole, its
// target too, whether net/http has noticed its first byte or not.
func TestRequestBehindRequest(t *testing.T) {
	asked, resume := make(chan struct{}), make(chan struct{})
	r := start(t, func(req *provider.Request) (*provider.Response, error) {
		asked <- struct{}{}
		<-resume
		return echo(req)
	}, nil, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for range 50 {
		if _, err := io.WriteString(conn, "GET /u/1 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		<-asked
		if _, err := io.WriteString(conn, "GET /u/%zz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resume <- struct{}{}
		for _, want := range []string{`{"id":"1",`, "Path parameter 'id' is not valid percent-encoding."} {
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || !strings.Contains(string(body), want) {
				t.Fatalf("got %s, %v; want %s", body, err, want)
			}
		}
	}
	if n := strings.Count(r.trace.String(), "\n"); n != 100 {
		t.Errorf("the trace has %d lines, want 100", n)
	}
}

func TestHead(t *testing.T) {
	r := start(t, echo, nil, nil)
	_, want := r.do(t, "GET", "/u/7", "")
	resp, body := r.do(t, "HEAD", "/u/7", "")
	if resp.StatusCode != 200 || body != "" || resp.Header.Get("Content-Length") != fmt.Sprint(len(want)) {
		t.Errorf("HEAD: status %d, body %q, length %s; want 200, none, %d", resp.StatusCode, body, resp.Header.Get("Content-Length"), len(want))
	}
	if !strings.Contains(r.trace.String(), `"request":{"method":"HEAD"`) {
		t.Errorf("trace %s", r.trace.String())
	}
}

func TestBodyLimitsAndEncodings(t *testing.T) {
	r := start(t, echo, &surface.Options{MaxBody: 1 << 10}, nil)
	zipped := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, s)
		_ = z.Close()
		return b.String()
	}
	big := `"` + strings.Repeat("x", 2<<10) + `"`
	for _, tc := range []struct {
		name, body, encoding string
		status               int
		want                 string
	}{
		{"exact JSON", `{"n":1.10,"big":9007199254740993,"e":1e400,"10":0,"2":0}`, "", 200, `"body":{"n":1.10,"big":9007199254740993,"e":1e400,"10":0,"2":0}`},
		{"at the limit", `"` + strings.Repeat("x", 1<<10-2) + `"`, "", 200, `"body":"xxx`},
		{"beyond", big, "", 413, `"message":"Body too large."`},
		{"gzip", zipped(`{"z":1}`), "gzip", 200, `"body":{"z":1}`},
		{"gzip bomb", zipped(big), "gzip", 413, `"message":"Body too large."`},
		{"no gzip", `{"z":1}`, "gzip", 400, `"message":"Request body is not valid gzip."`},
		{"unknown encoding", `{"z":1}`, "br", 415, `Content-Encoding 'br' is not supported`},
		{"bad JSON", `{"a":`, "", 400, `"message":"Request body is not valid JSON: at byte 5: `},
		{"byte order mark", "\xEF\xBB\xBF{}", "", 400, `a byte order mark`},
	} {
		resp, body := r.do(t, "PUT", "/u/7", tc.body, "Content-Type", "application/json", "Content-Encoding", tc.encoding)
		if resp.StatusCode != tc.status || !strings.Contains(body, tc.want) {
			t.Errorf("%s: got %d %.200s, want %d with %s", tc.name, resp.StatusCode, body, tc.status, tc.want)
		}
	}
	if n := strings.Count(r.trace.String(), "\n"); n != 9 {
		t.Errorf("the trace has %d lines, want 9", n)
	}
}

func TestLinkHeader(t *testing.T) {
	r := start(t, echo, nil, nil)
	resp, body := r.do(t, "GET", "/u?q=a+b&after=1", "")
	if want := "<" + r.url + `/u?q=a+b&after=n+x>; rel="next"`; resp.Header.Get("Link") != want || body != "[1]" {
		t.Errorf("got %q and %s, want %q and [1]", resp.Header.Get("Link"), body, want)
	}
}

func TestPanickingProviderIsNotSilent(t *testing.T) {
	r := start(t, func(*provider.Request) (*provider.Response, error) { return nil, errors.New("gone") }, nil, nil)
	resp, body := r.do(t, "GET", "/u/7", "")
	if resp.StatusCode != 503 || !strings.Contains(body, "State provider failed: gone") {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
}

// The delay of the fault "slow" ends with its client.
func TestSlowFaultEndsWithItsClient(t *testing.T) {
	plain, plainEnded := startSlow(t, false)
	secure, secureEnded := startSlow(t, true)
	for name, tc := range map[string]struct {
		r     *running
		ended chan struct{}
		dial  func(r *running) (net.Conn, error)
	}{
		"plain": {plain, plainEnded, func(r *running) (net.Conn, error) { return net.Dial("tcp", strings.TrimPrefix(r.url, "http://")) }},
		"TLS": {secure, secureEnded, func(r *running) (net.Conn, error) {
			return tls.Dial("tcp", strings.TrimPrefix(r.url, "https://"), &tls.Config{InsecureSkipVerify: true})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, request := range []string{
				"GET /u/7 HTTP/1.1\r\nHost: x\r\nX-Anvil-Fault: slow\r\n\r\n",
				"PUT /u/7 HTTP/1.1\r\nHost: x\r\nX-Anvil-Fault: slow\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n1",
			} {
				client, err := tc.dial(tc.r)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(client, request); err != nil {
					t.Fatal(err)
				}
				<-tc.ended // began
				client.Close()
				select {
				case <-tc.ended:
				case <-time.After(patience):
					t.Fatalf("%q: the call goes on without its client", request)
				}
			}
		})
	}
}

// startSlow serves with a delay of an hour; ended gets something when a call begins
// to be delayed and when it ends.
func startSlow(t *testing.T, secure bool) (r *running, ended chan struct{}) {
	t.Helper()
	ended = make(chan struct{}, 2)
	r, h := handle(t, contract, &surface.Options{Slow: time.Hour}, func(req *provider.Request) (*provider.Response, error) {
		ended <- struct{}{}
		return echo(req)
	})
	opts := &surface.ServerOptions{}
	if secure {
		authority := httptest.NewTLSServer(nil)
		t.Cleanup(authority.Close)
		opts.TLS = &tls.Config{Certificates: authority.TLS.Certificates}
	}
	r.listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		ended <- struct{}{}
	}), opts)
	return r, ended
}

// What a client sends while its answer is slow is answered next.
func TestPipelineBehindSlowFault(t *testing.T) {
	asked := make(chan struct{}, 2)
	r := start(t, func(req *provider.Request) (*provider.Response, error) {
		asked <- struct{}{}
		return echo(req)
	}, &surface.Options{Slow: 100 * time.Millisecond}, nil)
	conn := r.send(t, "GET /u/1 HTTP/1.1\r\nHost: x\r\nX-Anvil-Fault: slow\r\n\r\n")
	<-asked
	if _, err := io.WriteString(conn, "GET /u/2 HTTP/1.1\r\nHost: x\r\n\r\nGET /u/3 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for _, id := range []string{"1", "2", "3"} {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if want := `{"id":"` + id + `","body":null}`; err != nil || string(body) != want {
			t.Errorf("got %s, %v; want %s", body, err, want)
		}
	}
}

func TestManyClients(t *testing.T) {
	r := start(t, echo, nil, nil)
	const clients, calls = 64, 20
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range calls {
				id := fmt.Sprintf("c%d-%d", c, i)
				resp, err := http.Get(r.url + "/u/" + id)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if want := `{"id":"` + id + `","body":null}`; err != nil || string(body) != want {
					t.Errorf("got %s, %v; want %s", body, err, want)
				}
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(r.trace.String()), "\n") {
		id, _, _ := strings.Cut(line[strings.Index(line, `"requestId":"`)+13:], `"`)
		seen[id] = true
	}
	if len(seen) != clients*calls {
		t.Errorf("%d distinct request ids in the trace, want %d", len(seen), clients*calls)
	}
}

func TestMissHeader(t *testing.T) {
	r := start(t, func(*provider.Request) (*provider.Response, error) {
		return nil, &provider.RPCError{Message: "no recording", Data: []byte(`{"miss":{"reason":"nothing\nrecorded \u00e9"}}`)}
	}, nil, nil)
	resp, _ := r.do(t, "GET", "/u/7", "")
	if got := resp.Header.Get("X-Anvil-Miss"); resp.StatusCode != 503 || got != "nothing recorded" {
		t.Errorf("got %d, %q; want 503 and the reason on one line", resp.StatusCode, got)
	}
	if resp, _ := r.do(t, "GET", "/nope", ""); resp.Header.Get("X-Anvil-Miss") != "" {
		t.Error("a call that reached no provider has a miss")
	}
}
