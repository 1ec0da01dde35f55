package surface_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim/surface"
)

// patience bounds what would hang.
const patience = 30 * time.Second

// send opens a connection and says something on it, "" for nothing.
func (r *running) send(t *testing.T, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answered reads the status of an answer.
func answered(t *testing.T, conn net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

const getCall = "GET /u/1 HTTP/1.1\r\nHost: x\r\n\r\n"

// A reset waits for calls. A client that does not end its body, and one that does
// not take its answer, must not keep it, and so everybody behind it, waiting.
func TestResetBesideStuckClients(t *testing.T) {
	const large = 8 << 20 // more than a socket holds
	asked := make(chan struct{})
	p := func(req *provider.Request) (*provider.Response, error) {
		if string(req.Params.Path.Get("id")) == `"large"` {
			close(asked)
			return provider.ResultJSON([]byte(`"` + strings.Repeat("x", large) + `"`)), nil
		}
		return echo(req)
	}
	var resets int
	admin := &surface.Admin{Reset: func(context.Context) error { resets++; return nil }}
	r := start(t, p, nil, func(h http.Handler) http.Handler { return admin.Wrap(h.(*surface.Handler)) })
	r.send(t, "PUT /u/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{\"half\":")
	r.send(t, "PUT /u/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"ha")
	r.send(t, "GET /u/large HTTP/1.1\r\nHost: x\r\n\r\n")
	<-asked
	client := &http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	resp, err := client.Post(r.url+surface.AdminPrefix+"reset", "", nil)
	if err != nil {
		t.Fatalf("reset: %v", err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent || resets != 1 {
		t.Errorf("reset: status %d, %d resets; want 204 and one", resp.StatusCode, resets)
	}
	if resp, _ := r.do(t, "GET", "/u/1", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("after the reset: status %d, want 200", resp.StatusCode)
	}
}

// A reset whose client has gone before its turn does nothing; one that began is
// not left half done.
func TestResetOfGoneClient(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	var ended []error
	admin := &surface.Admin{Reset: func(ctx context.Context) error {
		leave()
		ended = append(ended, ctx.Err())
		return nil
	}}
	_, h := handle(t, contract, nil, echo)
	reset := func() int {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost"+surface.AdminPrefix+"reset", nil)
		r.RemoteAddr = "127.0.0.1:1"
		admin.Wrap(h.(*surface.Handler)).ServeHTTP(w, r)
		return w.Code
	}
	if got := []int{reset(), reset()}; got[0] != http.StatusNoContent || got[1] != http.StatusConflict {
		t.Errorf("a client that leaves meanwhile, one that left before: %v, want 204 and 409", got)
	}
	if len(ended) != 1 || ended[0] != nil {
		t.Errorf("resets that ran, with the end of their context: %v, want one without", ended)
	}
}

// The same over a socket: the client of a reset that waits for a call is watched.
func TestResetOfClientThatLeaves(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	p := func(req *provider.Request) (*provider.Response, error) {
		close(asked)
		<-release
		return echo(req)
	}
	left, ended := make(chan struct{}), make(chan struct{})
	var resets int
	admin := &surface.Admin{Reset: func(context.Context) error { resets++; return nil }}
	r := start(t, p, nil, func(h http.Handler) http.Handler {
		inner := admin.Wrap(h.(*surface.Handler))
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, surface.AdminPrefix) {
				context.AfterFunc(r.Context(), func() { close(left) })
				defer close(ended)
			}
			inner.ServeHTTP(w, r)
		})
	})
	call := r.send(t, getCall)
	<-asked
	reset := r.send(t, "POST "+surface.AdminPrefix+"reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
	reset.Close()
	select {
	case <-left:
	case <-time.After(patience):
		t.Error("nobody noticed that the client of the reset has gone")
	}
	close(release)
	if got := answered(t, call); got != http.StatusOK {
		t.Errorf("the call: status %d, want 200", got)
	}
	<-ended
	if resets != 0 {
		t.Errorf("%d resets, want none", resets)
	}
}

// lines gets what is logged.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// Clients that hold connections and ask for nothing keep nobody out.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	const most = 8
	said := make(lines, 100)
	r, h := handle(t, contract, nil, echo)
	r.listen(t, h, &surface.ServerOptions{MaxConns: most, ErrorLog: log.New(said, "", 0)})
	asked := r.send(t, getCall)
	if got := answered(t, asked); got != http.StatusOK {
		t.Fatalf("status %d, want 200", got)
	}
	for range most {
		r.send(t, "")
		r.send(t, "GET /u/1 HTTP/1.1\r\nHost: x\r\nX-Half")
		if got := answered(t, r.send(t, getCall)); got != http.StatusOK {
			t.Fatalf("status %d, want 200", got)
		}
	}
	if n, err := asked.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("the connection that was idle for longest: %d bytes, %v; want its end", n, err)
	}
	if len(said) != 1 {
		t.Errorf("%d lines were said, the first %q; want one", len(said), <-said)
	}
}

// Where all connections are busy a new one waits for its turn.
func TestBusyConnectionsStay(t *testing.T) {
	const most = 2
	asked, release := make(chan struct{}, 3*most), make(chan struct{})
	p := func(req *provider.Request) (*provider.Response, error) {
		asked <- struct{}{}
		<-release
		return echo(req)
	}
	r, h := handle(t, contract, nil, p)
	r.listen(t, h, &surface.ServerOptions{MaxConns: most, ErrorLog: log.New(io.Discard, "", 0)})
	conns := make([]net.Conn, 3*most)
	for i := range conns {
		conns[i] = r.send(t, getCall)
	}
	for range most {
		<-asked
	}
	var all sync.WaitGroup
	statuses := make([]int, len(conns))
	for i, conn := range conns {
		all.Go(func() { statuses[i] = answered(t, conn) })
	}
	close(release)
	all.Wait()
	if got, want := fmt.Sprint(statuses), "[200 200 200 200 200 200]"; got != want {
		t.Errorf("statuses %s, want %s", got, want)
	}
}

// A body arrives whole, whatever its length and however it was announced.
func TestBodiesOfEveryLength(t *testing.T) {
	r := start(t, echo, nil, nil)
	const room = 64 << 10 // what a body gets on its length alone
	for _, n := range []int{2, room - 1, room, room + 1, 4*room - 1, 4 * room, 4*room + 1, 1 << 20} {
		body := `"` + strings.Repeat("x", n-2) + `"`
		want := `{"id":"1","body":` + body + `}`
		for _, header := range [][]string{{"Content-Type", "application/json"}, {"Content-Type", "application/json", "Expect", "100-continue"}} {
			if _, got := r.do(t, "PUT", "/u/1", body, header...); got != want {
				t.Errorf("a body of %d bytes: %d bytes are answered, want %d", n, len(got), len(want))
			}
		}
	}
}
