package replayer_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// start serves tapes until the test ends.
func start(t testing.TB, o *replayer.Options, so *replayer.ServerOptions, tapes ...*tape.Tape) (*replayer.Server, *replayer.Player) {
	t.Helper()
	p, err := replayer.NewPlayer(tapes, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := replayer.Listen(t.Context(), "127.0.0.1:0", p, so)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, p
}

// exchange sends a recorded request as raw bytes and reads the answer.
func exchange(conn net.Conn, in *bufio.Reader, r *tape.Request) (*http.Response, []byte, error) {
	path := r.URL
	if i := strings.Index(path, "://"); i >= 0 {
		path = path[i+3:]
	}
	if i := strings.IndexByte(path, '/'); i >= 0 {
		path = path[i:]
	} else {
		path = "/"
	}
	path = strings.NewReplacer(" ", "%20", "<", "%3C", ">", "%3E").Replace(path)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", r.Method, path, len(r.Body))
	for _, h := range r.Header {
		switch strings.ToLower(h.Name) {
		case "host", "content-length", "connection", "transfer-encoding", "expect":
		default:
			fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
		}
	}
	b.WriteString("\r\n")
	b.Write(r.Body)
	if _, err := conn.Write(b.Bytes()); err != nil {
		return nil, nil, err
	}
	resp, err := http.ReadResponse(in, &http.Request{Method: r.Method})
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// Each recorded request, sent over a socket, gets the recorded status, header
// fields and bytes: N of N.
func TestServerPlaysByteForByte(t *testing.T) {
	n, equal := 0, 0
	for _, rec := range realTapes(t) {
		s, _ := start(t, nil, nil, rec)
		var conn net.Conn
		var in *bufio.Reader
		for _, it := range rec.Interactions {
			n++
			if conn == nil {
				var err error
				if conn, err = net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://")); err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				in = bufio.NewReader(conn)
			}
			resp, body, err := exchange(conn, in, &it.Request)
			if err != nil {
				t.Errorf("%s: %v", it.Place(), err)
				conn = nil
				continue
			}
			if bad := unlike(it, resp, body); bad != "" {
				t.Errorf("%s: %s", it.Place(), bad)
			} else {
				equal++
			}
			if resp.Close {
				conn = nil
			}
		}
	}
	if equal != n || n < 50 {
		t.Errorf("%d of %d", equal, n)
	}
}

// unlike says how an answer differs from its recording.
func unlike(it *tape.Interaction, resp *http.Response, body []byte) string {
	r := &it.Response
	want, err := r.Wire()
	if err != nil {
		want = r.Body
	}
	if it.Request.Method == "HEAD" || r.Status == 204 || r.Status == 304 {
		want = nil
	}
	switch {
	case resp.StatusCode != r.Status:
		return fmt.Sprintf("status %d, want %d", resp.StatusCode, r.Status)
	case r.Reason != "" && resp.Status != fmt.Sprintf("%d %s", r.Status, r.Reason):
		return fmt.Sprintf("status %q, want reason %q", resp.Status, r.Reason)
	case !bytes.Equal(body, want):
		return fmt.Sprintf("body of %d bytes, want %d", len(body), len(want))
	}
	wanted := http.Header{}
	for _, h := range r.Header {
		switch strings.ToLower(h.Name) {
		case "transfer-encoding", "connection", "keep-alive", "content-length", "proxy-connection", "upgrade", "trailer":
		default:
			wanted.Add(h.Name, h.Value)
		}
	}
	for name := range resp.Header {
		if name != "Connection" && name != "Content-Length" && wanted[name] == nil {
			return fmt.Sprintf("header %s was not recorded", name)
		}
	}
	for name, values := range wanted {
		if strings.Join(values, "\x00") != strings.Join(resp.Header[name], "\x00") {
			return fmt.Sprintf("header %s is %q, want %q", name, resp.Header[name], values)
		}
	}
	return ""
}

// The bytes on the wire: order and case of the header fields, reason, framing.
func TestServerWire(t *testing.T) {
	for _, c := range []struct{ name, request, answer, want string }{
		{"recorded order and case", "GET / HTTP/1.1", "status: 299 Fine by me|x-b: 1|X-A: 2|x-b: 3|Content-Length: 2||ok",
			"HTTP/1.1 299 Fine by me\r\nx-b: 1\r\nX-A: 2\r\nx-b: 3\r\nContent-Length: 2\r\n\r\nok"},
		{"no length was recorded", "GET / HTTP/1.1", "status: 200 OK||ok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		{"a length that is no longer true", "GET / HTTP/1.1", "status: 200 OK|content-length: 77||ok", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"},
		{"events one by one", "GET / HTTP/1.1", "status: 200 OK|Content-Type: text/event-stream||data: 1\n\ndata: 2\n\n",
			"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"},
		{"HEAD keeps the length", "HEAD / HTTP/1.1", "status: 200 OK|Content-Length: 77||", "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n"},
		{"no content", "GET / HTTP/1.1", "status: 204 No Content||", "HTTP/1.1 204 No Content\r\n\r\n"},
		{"an old client", "GET / HTTP/1.0", "status: 200 OK||ok", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok"},
		{"a value cannot end its line", "GET / HTTP/1.1", "status: 200 OK|X-A: 1\r\nX-B: 2|Content-Length: 0||", "HTTP/1.1 200 OK\r\nX-A: 1  X-B: 2\r\nContent-Length: 0\r\n\r\n"},
	} {
		rec := &tape.Tape{Name: "t"}
		rec.Interactions = []*tape.Interaction{{Request: tape.Request{Method: strings.Fields(c.request)[0], URL: "/"}, Response: parseAnswer(c.answer)}}
		s, _ := start(t, nil, nil, rec)
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s\r\nHost: x\r\nConnection: close\r\n\r\n", c.request)
		got, err := io.ReadAll(conn)
		conn.Close()
		text := strings.Replace(string(got), "Connection: close\r\n", "", 1)
		if want := strings.Replace(c.want, "Connection: close\r\n", "", 1); err != nil || text != want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", c.name, err, text, want)
		}
	}
}

func parseAnswer(text string) (r tape.Response) {
	head, body, _ := strings.Cut(text, "||")
	r.Body = []byte(body)
	for _, line := range strings.Split(head, "|") {
		name, value, _ := strings.Cut(line, ": ")
		if name == "status" {
			fmt.Sscanf(value, "%d", &r.Status)
			r.Reason = value[4:]
			continue
		}
		r.Header = append(r.Header, tape.Field{Name: name, Value: value})
	}
	return r
}

func TestServerMiss(t *testing.T) {
	s, p := start(t, nil, nil, tapeOf(t, "GET /a -> 1"))
	resp, err := http.Get(s.URL() + "/b")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 503 || resp.Header.Get("X-Anvil-Miss") != "not_recorded" || !bytes.HasPrefix(body, []byte(`{"error":{"code":"anvil_miss","message":"no recorded answer for GET /b`)) {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, body)
	}
	if s := p.Stats(); s.Misses != 1 || len(s.Unused) != 1 || s.Unused[0].Place() != "t #0" {
		t.Errorf("%+v", s)
	}
}

func TestServerRefusesWhatIsNoRequest(t *testing.T) {
	s, _ := start(t, nil, &replayer.ServerOptions{MaxBody: 4}, tapeOf(t, "GET /a -> 1"))
	for request, want := range map[string]string{
		"nonsense\r\n\r\n": "HTTP/1.1 400 ",
		"GET /a HTTP/1.1\r\nX: " + strings.Repeat("x", 2<<20):           "HTTP/1.1 400 ",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345": "HTTP/1.1 413 ",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, request) }()
		line, _ := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		if !strings.HasPrefix(line, want) {
			t.Errorf("%.30q: %q, want %s", request, line, want)
		}
	}
}

func TestServerContinues(t *testing.T) {
	s, _ := start(t, nil, nil, tapeOf(t, `POST /a {"x":1} -> 1`))
	req, _ := http.NewRequest("POST", s.URL()+"/a", strings.NewReader(`{"x": 1}`))
	req.Header.Set("Expect", "100-continue")
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "1" {
		t.Errorf("%s", body)
	}
}

func TestRecordedFailures(t *testing.T) {
	rec := tapeOf(t, "GET http://h/a -> 1")
	rec.Interactions[0].Failure = &tape.Failure{TimedOut: true, Message: "i/o timeout"}
	s, _ := start(t, nil, nil, rec)
	if resp, err := http.Get(s.URL() + "/a"); err == nil {
		resp.Body.Close()
		t.Errorf("a recorded failure was answered with %d", resp.StatusCode)
	}
	client := &http.Client{Transport: transport(t, nil, rec)}
	_, err := client.Get("http://h/a")
	var ue *url.Error
	if !errors.As(err, &ue) || !ue.Timeout() || !strings.Contains(err.Error(), "recorded failure: i/o timeout") {
		t.Errorf("%v", err)
	}
}

// What an answer began with comes again, and then the failure in place of its end.
func TestAnswersThatBrokeOff(t *testing.T) {
	for name, header := range map[string]tape.Header{
		"longer":  {{Name: "Content-Length", Value: "100"}},
		"whole":   {{Name: "Content-Length", Value: "4"}},
		"chunked": nil,
		"stream":  {{Name: "Content-Type", Value: "text/event-stream"}},
	} {
		t.Run(name, func(t *testing.T) {
			rec := tapeOf(t, "GET http://h/a -> half")
			rec.Interactions[0].Failure = &tape.Failure{TimedOut: true, Message: "reset"}
			r := &rec.Interactions[0].Response
			r.Cut, r.Status, r.Header = "reset", 201, header
			s, _ := start(t, nil, nil, rec)
			client := &http.Client{Transport: transport(t, nil, rec)}
			for _, get := range []func() (*http.Response, error){
				func() (*http.Response, error) { return http.Get(s.URL() + "/a") },
				func() (*http.Response, error) { return client.Get("http://h/a") },
			} {
				resp, err := get()
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != 201 || string(body) != "half" || err == nil {
					t.Errorf("%d %q %v", resp.StatusCode, body, err)
				}
			}
		})
	}
}

func transport(t testing.TB, o *replayer.Options, tapes ...*tape.Tape) *replayer.Transport {
	t.Helper()
	tr, err := replayer.NewTransport(tapes, o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Each recorded request whose URL net/http can speak gets its answer through the
// transport.
func TestTransportAnswersEachRequest(t *testing.T) {
	n, equal := 0, 0
	for _, rec := range realTapes(t) {
		tr := transport(t, nil, rec)
		for _, it := range rec.Interactions {
			req, err := http.NewRequest(it.Request.Method, it.Request.URL, bytes.NewReader(it.Request.Body))
			if err != nil || req.URL.Host == "" {
				continue // a placeholder stands in the URL
			}
			n++
			req.Header.Set("Accept-Encoding", "gzip") // the bytes as recorded
			for _, h := range it.Request.Header {
				if !strings.EqualFold(h.Name, "Accept-Encoding") {
					req.Header.Add(h.Name, h.Value)
				}
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Errorf("%s: %v", it.Place(), err)
				continue
			}
			body, err := io.ReadAll(resp.Body)
			if bad := unlike(it, resp, body); bad != "" || err != nil {
				t.Errorf("%s: %s (%v)", it.Place(), bad, err)
				continue
			}
			equal++
		}
	}
	if equal != n || n < 50 {
		t.Errorf("%d of %d", equal, n)
	}
}

func TestTransportComparesHostsAndDecodes(t *testing.T) {
	zipped := tapeOf(t, "GET https://a.example/x -> plain text")
	zipped.Interactions[0].Response.Header = tape.Header{{Name: "Content-Encoding", Value: "gzip"}, {Name: "Content-Length", Value: "11"}}
	client := &http.Client{Transport: transport(t, &replayer.Options{AfterLast: replayer.AfterRepeat}, zipped)}
	resp, err := client.Get("https://a.example:443/x")
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(resp.Body); string(body) != "plain text" || !resp.Uncompressed || resp.Header.Get("Content-Encoding") != "" {
		t.Errorf("%q %v", body, resp.Header)
	}
	_, err = client.Get("https://b.example/x")
	var miss *replayer.Miss
	if !errors.As(err, &miss) || miss.Closest[0].Differ[0].Name != "host" {
		t.Errorf("%v", err)
	}
}

func ExampleTransport() {
	rec, err := tape.Parse("users.yaml", []byte(`
version: 1
interactions:
- request:
    method: GET
    url: https://api.example.com/users/7
  response:
    code: 200
    body: '{"id":7,"name":"Ada"}'
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	tr, err := replayer.NewTransport([]*tape.Tape{rec}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: tr}
	resp, err := client.Get("https://api.example.com/users/7")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(body), err)
	_, err = client.Get("https://api.example.com/users/8")
	fmt.Println(err)
	// Output:
	// 200 {"id":7,"name":"Ada"} <nil>
	// Get "https://api.example.com/users/8": no recorded answer for GET /users/8 (host "https://api.example.com", path "/users/8"); the closest is users.yaml #0 (GET /users/7), which differs in path (asked "/users/8", recorded "/users/7")
}

func TestServerSendsEarlyAnswersAndTrailers(t *testing.T) {
	rec := tapeOf(t, "GET /a -> ok", "GET /b -> o")
	rec.Interactions[0].Response.Early = []tape.Early{{Status: 103, Header: tape.Header{{Name: "Link", Value: "</x>"}}}}
	rec.Interactions[0].Response.Trailer = tape.Header{{Name: "X-Sum", Value: "9"}}
	rec.Interactions[1].Response.Cut = "longer than the limit"
	s, _ := start(t, nil, nil, rec)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	got, err := io.ReadAll(conn)
	const want = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 9\r\n\r\nHTTP/1.1 503 "
	if err != nil || !strings.HasPrefix(string(got), want) || !strings.Contains(string(got), "X-Anvil-Miss: not_kept\r\n") {
		t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
	}
}
