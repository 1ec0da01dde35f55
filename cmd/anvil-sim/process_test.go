package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/trace"
)

const chinook = "../../store/testdata/chinook.sqlite"

// patience bounds every wait for a process: a hang fails with evidence.
const patience = 60 * time.Second

// A process is a running anvil-sim, leader of a process group of its own.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	stderr bytes.Buffer
	exited chan error
}

// serve starts anvil-sim serve and waits for its URL.
func serve(t *testing.T, args ...string) *process {
	t.Helper()
	return start(t, exec.Command("anvil-sim", append([]string{"serve"}, args...)...))
}

// start starts a command whose first line is its URL, and waits for it.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, exited: make(chan error, 1)}
	p.cmd.Dir = t.TempDir()
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = p.cmd.Wait()
		t.Fatalf("no URL: %v\n%s", err, p.stderr.String())
	}
	p.url = strings.TrimSpace(line)
	go func() { p.exited <- p.cmd.Wait() }()
	return p
}

// wait returns the exit code.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case err := <-p.exited:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatalf("still running after %s\n%s", patience, p.stderr.String())
		return -1
	}
}

func (p *process) get(path string) (int, string) {
	p.t.Helper()
	status, body, err := get(p.url + path)
	if err != nil {
		p.t.Fatalf("GET %s: %v\n%s", path, err, p.stderr.String())
	}
	return status, body
}

func get(url string) (int, string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

func abs(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// groupLeft tells whether a process of the group still runs.
func groupLeft(pgid int) bool { return !errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH) }

// TestInterrupt sends what Ctrl-C in a terminal and a supervisor send: the
// signal to the whole foreground group, or to the program alone. The provider
// runs directly, through a shell that stays, and through one that is replaced.
func TestInterrupt(t *testing.T) {
	for _, tc := range []struct {
		name, command string
		signal        syscall.Signal
		group         bool
	}{
		{"SIGINT to the group", "anvil-sim provider sqlite %s", syscall.SIGINT, true},
		{"SIGTERM", "anvil-sim provider sqlite %s", syscall.SIGTERM, false},
		{"through a shell", `sh -c "anvil-sim provider sqlite %s; true"`, syscall.SIGINT, true},
		{"through exec", `sh -c "exec anvil-sim provider sqlite %s"`, syscall.SIGTERM, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pidFile := filepath.Join(t.TempDir(), "pid")
			p := serve(t, "--provider-cmd", "echo $$ > "+pidFile+"; "+fmt.Sprintf(tc.command, abs(t, chinook)))
			if status, body := p.get("/Genre/1"); status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			text, err := os.ReadFile(pidFile)
			if err != nil {
				t.Fatal(err)
			}
			pgid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			target := p.cmd.Process.Pid
			if tc.group {
				target = -target
			}
			if err := syscall.Kill(target, tc.signal); err != nil {
				t.Fatal(err)
			}
			if code := p.wait(); code != 0 {
				t.Errorf("exit %d, want 0\n%s", code, p.stderr.String())
			}
			if groupLeft(pgid) || groupLeft(p.cmd.Process.Pid) {
				t.Error("a process is left behind")
			}
		})
	}
}

// stall is a provider that answers initialize, then collects invokes and never
// answers them. It says where it is in files of the folder that it is given.
func stall() {
	dir := os.Args[1]
	fmt.Fprintln(os.Stderr, "stall: last words")
	err := provider.Serve(context.Background(), &stalling{dir: dir}, os.Stdin, os.Stdout, &provider.ServeOptions{Workers: 1000})
	fmt.Fprintln(os.Stderr, "stall:", err)
}

type stalling struct {
	dir string
	mu  sync.Mutex
	n   int
}

func (s *stalling) Invoke(ctx context.Context, _ *provider.Request) (*provider.Response, error) {
	s.mu.Lock()
	if s.n++; s.n == 64 {
		// A named pipe: whoever reads it waits until this is written.
		_ = os.WriteFile(filepath.Join(s.dir, "full"), []byte(strconv.Itoa(os.Getpid())), 0o600)
	}
	s.mu.Unlock()
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestKillProviderUnderLoad(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := syscall.Mkfifo(full, 0o600); err != nil {
		t.Fatal(err)
	}
	contract := filepath.Join(dir, "air.yaml")
	writeContract(t, contract)
	traceFile := filepath.Join(dir, "trace.jsonl")
	p := serve(t, "--contract", contract, "--trace", traceFile, "--provider-cmd", "exec stall "+dir)

	type answer struct {
		status int
		body   string
		err    error
	}
	answers := make(chan answer, 64)
	for i := range 64 {
		go func() {
			status, body, err := get(p.url + "/t/" + strconv.Itoa(i))
			answers <- answer{status, body, err}
		}()
	}
	pid, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(string(pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 64 {
		a := <-answers
		if a.err != nil || a.status != 503 || !strings.Contains(a.body, `"code":"upstream_unavailable"`) ||
			!strings.Contains(a.body, "SIGKILL") && !strings.Contains(a.body, "signal killed") && !strings.Contains(a.body, "killed") ||
			!strings.Contains(a.body, "stall: last words") {
			t.Errorf("got %d %s %v, want 503 upstream_unavailable with the signal and the last words", a.status, a.body, a.err)
		}
	}
	if code := p.wait(); code != 1 {
		t.Errorf("exit %d, want 1\n%s", code, p.stderr.String())
	}
	text, err := os.ReadFile(traceFile)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines != 64 {
		t.Errorf("the trace has %d lines, want 64", lines)
	}
	if !strings.Contains(p.stderr.String(), "stall: last words") {
		t.Errorf("stderr lacks what the provider said: %s", p.stderr.String())
	}
}

// deaf is a provider that answers initialize and nothing after it: no call, no
// shutdown, no end of stdin, no signal that can be ignored. It reports each line
// that it gets on the named pipe that it is given.
func deaf() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	heard, err := os.OpenFile(os.Args[1], os.O_WRONLY, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "deaf:", err)
		os.Exit(3)
	}
	in := bufio.NewScanner(os.Stdin)
	for n := 0; in.Scan(); n++ {
		if n == 0 {
			fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
		}
		fmt.Fprintf(heard, "%d\n", os.Getpid())
	}
	select {}
}

// TestDeafProvider ends a server whose provider answers nothing: pending calls
// are answered and traced, a second signal cuts the waiting short, and nothing is
// left behind either way.
func TestDeafProvider(t *testing.T) {
	const calls = 8
	for _, tc := range []struct {
		name    string
		signals []syscall.Signal
	}{
		{"one signal", []syscall.Signal{syscall.SIGHUP}},
		{"two signals", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe, contract, traceFile := filepath.Join(dir, "heard"), filepath.Join(dir, "air.yaml"), filepath.Join(dir, "t.jsonl")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			writeContract(t, contract)
			heard, err := os.OpenFile(pipe, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer heard.Close()
			p := serve(t, "--contract", contract, "--trace", traceFile, "--provider-cmd", "exec deaf "+pipe)
			answers := make(chan string, calls)
			for i := range calls {
				go func() {
					status, body, err := get(p.url + "/t/" + strconv.Itoa(i))
					answers <- fmt.Sprint(status, " ", body, err)
				}()
			}
			lines := bufio.NewScanner(heard)
			pid := 0
			for range calls + 1 { // initialize, then each call
				if !lines.Scan() {
					t.Fatal(lines.Err())
				}
				if pid, err = strconv.Atoi(lines.Text()); err != nil {
					t.Fatal(err)
				}
			}
			for i, sig := range tc.signals {
				if i > 0 {
					// The first one has been taken once nobody listens any more.
					for {
						conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
						if err != nil {
							break
						}
						conn.Close()
					}
				}
				if err := p.cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
			if code := p.wait(); code != 0 {
				t.Errorf("exit %d, want 0\n%s", code, p.stderr.String())
			}
			if groupLeft(pid) {
				t.Error("the provider is left behind")
			}
			text, err := os.ReadFile(traceFile)
			if err != nil {
				t.Fatal(err)
			}
			if len(tc.signals) > 1 {
				return // whoever asks twice wants no answers
			}
			for range calls {
				if a := <-answers; !strings.HasPrefix(a, "503 ") || !strings.Contains(a, "upstream_unavailable") {
					t.Errorf("got %s, want 503 upstream_unavailable", a)
				}
			}
			if n := strings.Count(string(text), "\n"); n != calls {
				t.Errorf("the trace has %d lines, want %d", n, calls)
			}
		})
	}
}

// TestInterruptedStart ends a server that never got to serve.
func TestInterruptedStart(t *testing.T) {
	dir := t.TempDir()
	pipe, contract := filepath.Join(dir, "started"), filepath.Join(dir, "air.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	writeContract(t, contract)
	cmd := exec.Command("anvil-sim", "serve", "--contract", contract, "--provider-cmd", "echo $$ > "+pipe+"; exec sleep 600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(pipe)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), "interrupted before anything was served") {
		t.Errorf("%v, %s; want exit 0 and a word about it", err, stderr.String())
	}
	if groupLeft(pid) {
		t.Error("the provider is left behind")
	}
}

func writeContract(t *testing.T, path string) {
	t.Helper()
	const text = `
service: {id: s, version: '1', source: {kind: openapi}}
operations:
  - {id: s.t.get, canonicalName: t_get, displayName: t, sourceRef: {kind: openapi, path: '/t/{id}', method: get},
     effect: {kind: read, action: get}, input: {params: [{name: id, in: path, required: true}]}, idempotency: {mode: none},
     retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: t_get}, skill: {}, state: approved}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// page is one page of a derived contract.
type page struct {
	Items []json.RawMessage `json:"items"`
	Next  *string           `json:"next_cursor"`
	Total int               `json:"total"`
}

func (p *process) page(path string) page {
	p.t.Helper()
	status, body := p.get(path)
	var got page
	if err := json.Unmarshal([]byte(body), &got); status != 200 || err != nil {
		p.t.Fatalf("GET %s: %d %s %v", path, status, body, err)
	}
	return got
}

// TestChinook serves every table of a real database through a provider process,
// and pages through the largest one with every row once.
func TestChinook(t *testing.T) {
	t.Parallel()
	p := serve(t, "--provider-cmd", "anvil-sim provider sqlite "+abs(t, chinook))
	rows := map[string]int{
		"Album": 347, "Artist": 275, "Customer": 59, "Employee": 8, "Genre": 25, "Invoice": 412, "InvoiceLine": 2240,
		"MediaType": 5, "Playlist": 18, "PlaylistTrack": 8715, "Track": 3503,
	}
	for table, n := range rows {
		if got := p.page("/" + table + "?limit=3"); len(got.Items) != 3 || got.Total != n {
			t.Errorf("%s: %d items of %d, want 3 of %d", table, len(got.Items), got.Total, n)
		}
	}
	seen := map[string]bool{}
	for path := "/PlaylistTrack?limit=7"; path != ""; {
		got := p.page(path)
		for _, item := range got.Items {
			if seen[string(item)] {
				t.Fatalf("%s comes twice", item)
			}
			seen[string(item)] = true
		}
		path = ""
		if got.Next != nil && *got.Next != "" {
			path = "/PlaylistTrack?limit=7&cursor=" + *got.Next
		}
	}
	if len(seen) != rows["PlaylistTrack"] {
		t.Errorf("%d rows came, want %d", len(seen), rows["PlaylistTrack"])
	}
}

// callsOn makes 200 calls of every shape on a copy of the database and returns
// the trace.
func callsOn(t *testing.T, db string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	p := serve(t, "--trace", file, "--provider-cmd", "anvil-sim provider sqlite "+db)
	for i := range 50 {
		p.get(fmt.Sprintf("/Track?AlbumId=%d&limit=4", i%9))
		p.get(fmt.Sprintf("/Artist/%d", i*7))
		p.do("POST", "/Playlist", fmt.Sprintf(`{"Name":"list %d"}`, i))
		p.do("PATCH", fmt.Sprintf("/Playlist/%d", i+1), `{"Name":null}`)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.stderr.String())
	}
	return file
}

func (p *process) do(method, path, body string) {
	p.t.Helper()
	req, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode >= 500 {
		p.t.Fatalf("%s %s: %d %v", method, path, resp.StatusCode, err)
	}
}

func TestTwoRunsWriteOneTrace(t *testing.T) {
	t.Parallel()
	a, b := callsOn(t, abs(t, chinook)), callsOn(t, abs(t, chinook))
	first, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) || bytes.Count(first, []byte("\n")) != 200 {
		t.Errorf("two runs of 200 calls wrote %d and %d bytes that differ", len(first), len(second))
	}

	// One row differs.
	changed := filepath.Join(t.TempDir(), filepath.Base(chinook)) // a service is called after its file
	copyFile(t, chinook, changed)
	db, err := sql.Open("sqlite3", changed)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE Artist SET Name = 'Renamed' WHERE ArtistId = 70`); err != nil {
		t.Fatal(err)
	}
	report, err := trace.Diff(t.Context(), trace.Input{Name: a}, trace.Input{Name: callsOn(t, changed)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := report.WriteText(&text, false); err != nil {
		t.Fatal(err)
	}
	if report.Equal() || !strings.Contains(text.String(), "Renamed") || !strings.Contains(text.String(), "/response/Name") {
		t.Errorf("one row differs, the report says:\n%s", text.String())
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
