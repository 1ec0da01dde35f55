package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// A whole run beside a simulator that does nothing.
func TestCrowd(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	args := []string{"--rounds", "1", "--idle", "20", "--bad", "1", "--for", "20ms", "--clients", "2", "--json", "--anvil-sim", self(t)}
	var out bytes.Buffer
	if err := crowdRun(t.Context(), args, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	var rep figures
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, r := range rep.Rows {
		got[r.Name] = r.Value
	}
	if got["p99 of the ordinary"] <= 0 || got["goroutines with the idle ones"] < 20 || got["a reset beside the crowd"] <= 0 {
		t.Errorf("figures %v", got)
	}
	for _, bad := range [][]string{{"--idle", "0"}, {"--bad", "0"}, {"--for", "0s"}, {"x"}, {"--none"}} {
		if err := crowdRun(t.Context(), bad, io.Discard, nil); err == nil {
			t.Errorf("crowd %q is taken", bad)
		}
	}
}

// What a crowd must not go unnoticed: another answer, a connection that is closed.
func TestCrowdNotices(t *testing.T) {
	answers := []string{"a", "a", "b"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answers[0])
		answers = answers[1:]
	}))
	defer server.Close()
	if err := compare(t.Context(), server.URL, []byte("a")); err == nil || !strings.Contains(err.Error(), `answered "b", want "a"`) {
		t.Errorf("compare: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var conns []net.Conn
	defer func() { closeConns(conns) }()
	for i := range 3 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		other, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if i == 1 {
			other.Close()
			_, _ = conn.Read(make([]byte, 1)) // the end has come
		}
	}
	if got := closedBy(conns); got != 1 {
		t.Errorf("%d connections were closed, want 1", got)
	}
}

// What a client of a mix asks follows from the seed, and has some of everything.
func TestMixPick(t *testing.T) {
	var tenants, keys, left, control int
	a, b := rand.New(rand.NewPCG(7, 1)), rand.New(rand.NewPCG(7, 1))
	for range 2000 {
		c, patience := pick(a, mixedCalls())
		other, same := pick(b, mixedCalls())
		if c.path != other.path || c.body != other.body || c.tenant != other.tenant || c.key != other.key || patience != same {
			t.Fatalf("one seed gives %v %v and %v %v", c, patience, other, same)
		}
		for n, is := range map[*int]bool{&tenants: c.tenant != "", &keys: c.key != "", &left: patience > 0, &control: strings.HasPrefix(c.path, "/__anvil/")} {
			if is {
				*n++
			}
		}
	}
	if min(tenants, keys, left, control) < 20 {
		t.Errorf("%d for tenants, %d with keys, %d given up, %d to the control endpoints; want some of each", tenants, keys, left, control)
	}
}

// A call that is given up is neither right nor wrong.
func TestMixGivesUp(t *testing.T) {
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(ended)
	}))
	defer server.Close()
	m := newMix(&soak{}, 1)
	m.giveUp(context.Background(), &http.Transport{}, server.URL, soakCall{method: "GET", path: "/"}, 50*time.Millisecond)
	<-ended
	if m.gone.Load() != 1 || m.wrong.Load() != 0 || m.calls.Load() != 0 {
		t.Errorf("given up %d, wrong %d, calls %d; want 1, 0, 0", m.gone.Load(), m.wrong.Load(), m.calls.Load())
	}
}

// A server that does not end well is an error of a soak.
func TestServedEnd(t *testing.T) {
	p, err := serve(t.Context(), os.Stderr, "sh", "-c", "trap 'exit 66' TERM; echo http://127.0.0.1:1; while :; do sleep 0.01; done")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.end(); err == nil || !strings.Contains(err.Error(), "exit code 66 after SIGTERM, want 0") {
		t.Errorf("error %v", err)
	}
}
