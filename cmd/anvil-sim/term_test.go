package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// A server that is told to end in the middle of its work answers what it took,
// traces what it answered, and writes its state whole.
func TestTermUnderLoad(t *testing.T) {
	fixture, err := filepath.Abs(chinook)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	traceFile, state := filepath.Join(dir, "t.jsonl"), filepath.Join(dir, "state.db")
	p := serve(t, "--fixtures", fixture, "--trace", traceFile, "--save-state", state)
	var answered, created atomic.Int64
	var all sync.WaitGroup
	enough := make(chan struct{}, 1)
	for i := range 32 {
		all.Go(func() {
			for k := 0; ; k++ {
				status, broken := create(t, p.url, fmt.Sprintf("artist %d %d", i, k))
				if broken {
					return
				}
				if status == 201 {
					created.Add(1)
				}
				if answered.Add(1) == 200 {
					enough <- struct{}{}
				}
			}
		})
	}
	<-enough
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit %d, want 0\n%s", code, p.stderr.String())
	}
	all.Wait()
	lines := traceLines(t, traceFile)
	if lines != answered.Load() {
		t.Errorf("%d lines in the trace, want one for each of %d answers", lines, answered.Load())
	}
	db, err := sql.Open("sqlite3", state)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows int64
	if err := db.QueryRow("SELECT count(*) FROM Artist WHERE Name LIKE 'artist %'").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != created.Load() {
		t.Errorf("%d rows in the saved state, want the %d that were answered 201", rows, created.Load())
	}
}

// create posts an artist. It is broken when the server had gone before it took
// the call; an answer that breaks off in the middle is a failure of the test.
func create(t *testing.T, url, name string) (status int, broken bool) {
	began := false
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotFirstResponseByte: func() { began = true }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/Artist", strings.NewReader(`{"Name":"`+name+`"}`))
	if err != nil {
		t.Error(err)
		return 0, true
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if began {
			t.Errorf("an answer that breaks off: %v", err)
		}
		return 0, true
	}
	defer resp.Body.Close()
	var body map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		t.Errorf("status %d, and the body breaks off: %v", resp.StatusCode, err)
	}
	return resp.StatusCode, false
}

// traceLines counts the lines of a trace, each of which is whole.
func traceLines(t *testing.T, file string) (n int64) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		n++
		if !json.Valid(line) || line[len(line)-1] != '\n' {
			t.Errorf("line %d is not whole: %.200s", n, line)
		}
	}
	return n
}

// Without a folder to stand in, a server goes on, and says which state is lost.
func TestVanishedFolder(t *testing.T) {
	fixture, err := filepath.Abs(chinook)
	if err != nil {
		t.Fatal(err)
	}
	p := serve(t, "--fixtures", fixture, "--trace", "t.jsonl", "--save-state", "state.db")
	if err := os.RemoveAll(p.cmd.Dir); err != nil {
		t.Fatal(err)
	}
	if status, body, err := get(p.url + "/Artist/1"); err != nil || status != 200 {
		t.Errorf("got %d %s %v, want 200", status, body, err)
	}
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 2 {
		t.Errorf("exit %d, want 2: the state is lost\n%s", code, p.stderr.String())
	}
	const want = "anvil-sim: save state state.db: cannot write in the folder .: no such file or directory\n"
	if said := p.stderr.String(); !strings.Contains(said, want) {
		t.Errorf("got\n%s\nwant in it\n%s", said, want)
	}
}

// Clients that do not behave hold nobody else up: half a request, half a body, a
// header that does not end, what is no HTTP, and those that never say a word.
func TestBadClients(t *testing.T) {
	contract := filepath.Join(t.TempDir(), "air.yaml")
	writeContract(t, contract)
	p := serve(t, "--contract", contract)
	host := strings.TrimPrefix(p.url, "http://")
	flood := "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-Flood: "+strings.Repeat("x", 8000)+"\r\n", 300)
	for _, bad := range []struct {
		sent  string
		count int
		want  string // the first bytes that come back; "": none are waited for
	}{
		{"", 300, ""},
		{"GET /t/1 HTTP/1.1\r\nHost: x\r\nX-Half", 50, ""},
		{"POST /t/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{\"half\":", 50, ""},
		{"POST /t/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 20, "HTTP/1.1 4"},
		{flood, 10, "HTTP/1.1 431"},
		{"\x16\x03\x01\x00\xa5\x01\x00\r\n\r\n", 20, "HTTP/1.1 400"},
		{"GET /t/1 HTTP/1.1\r\nHost: x\r\n\r\n\x00\x00garbage\r\n\r\n", 20, "HTTP/1.1 200"},
	} {
		for range bad.count {
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			// The server may close while the flood is on its way.
			_, _ = conn.Write([]byte(bad.sent))
			if bad.want == "" {
				continue
			}
			line, err := bufio.NewReader(conn).ReadString('\n')
			if bad.sent == flood && err != nil {
				continue // the answer is lost when the connection is reset
			}
			if err != nil || !strings.HasPrefix(line, bad.want) {
				t.Errorf("%.60q is answered %q, %v; want %q", bad.sent, line, err, bad.want)
			}
		}
	}
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range 20 {
				if status, body, err := get(p.url + "/t/1"); err != nil || status != 200 {
					t.Errorf("beside bad clients: %d %s %v, want 200", status, body, err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.wait()
}
