package stdio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/provider"
)

func begin(t *testing.T, opts Options) *Process {
	t.Helper()
	p, err := Start(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func initParams() *provider.InitializeParams {
	return &provider.InitializeParams{
		ProtocolVersion: 1, Simulator: provider.Implementation{Name: "test", Version: "0"},
		ServiceID: "tickets", CapabilityID: "tickets", Seed: 1,
	}
}

// ready starts a provider and initializes it.
func ready(t *testing.T, opts Options) *Process {
	t.Helper()
	p := begin(t, opts)
	if _, err := p.Initialize(context.Background(), initParams()); err != nil {
		t.Fatal(err)
	}
	return p
}

func request(n int) *provider.Request {
	return &provider.Request{
		RequestID: fmt.Sprintf("r%d", n), CapabilityID: "tickets", OperationID: "tickets.get",
		ToolName: "tickets_get", Kind: provider.KindRead, Action: "get", Method: "GET", PathTemplate: "/tickets/{id}",
	}
}

// transport wants a TransportError of a code whose message has every part.
func transport(t *testing.T, err error, code provider.Code, parts ...string) {
	t.Helper()
	var te *provider.TransportError
	if !errors.As(err, &te) {
		t.Fatalf("got %T %v, want a TransportError", err, err)
	}
	if te.Code != code {
		t.Errorf("got code %s (%s), want %s", te.Code, te.Message, code)
	}
	for _, part := range parts {
		if !strings.Contains(te.Message, part) {
			t.Errorf("the message %q does not name %q", te.Message, part)
		}
	}
}

func wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("waited 20 s for %s", what)
	}
}

func TestServedProviderAnswers(t *testing.T) {
	p := ready(t, as("serve", ""))
	var wg sync.WaitGroup
	for n := range 500 {
		wg.Go(func() {
			req := request(n)
			r, err := p.Invoke(context.Background(), req)
			if err != nil {
				t.Error(err)
				return
			}
			if diff := cmp.Diff(string(req.AppendJSON(nil)), string(r.Result)); diff != "" {
				t.Error(diff)
			}
		})
	}
	wg.Wait()

	paged := request(1)
	paged.Page = &provider.Page{Size: 3}
	r, err := p.Invoke(context.Background(), paged)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(r.Raw), `{"ok":true,"items":["r1"],"nextCursor":"next"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	gone := request(7)
	gone.Kind = provider.KindDelete
	r, err = p.Invoke(context.Background(), gone)
	if err != nil || r.OK || r.Error.Code != provider.NotFound || *r.Error.Message != "no r7" {
		t.Errorf("got %+v, %v, want a domain error", r, err)
	}

	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := p.Err(); err != nil {
		t.Errorf("Err after Close: %v", err)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the provider exited with %d, want 0", code)
	}
	_, err = p.Invoke(context.Background(), request(1))
	transport(t, err, provider.UpstreamUnavailable, "shut down")
}

const initLine = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}` + "\n"

func TestAnswersToInitialize(t *testing.T) {
	for name, tc := range map[string]struct {
		say  string
		want []string // parts of the error, none for success
	}{
		"version 1":         {say: initLine},
		"unknown keys":      {say: `{"id":1.0,"x":[],"result":{"later":{},"protocolVersion":1},"jsonrpc":"2.0"}` + "\n"},
		"version 2":         {say: `{"id":1,"result":{"protocolVersion":2}}` + "\n", want: []string{"version 2", "version 1"}},
		"no version":        {say: `{"id":1,"result":{}}` + "\n", want: []string{"/protocolVersion is absent"}},
		"text version":      {say: `{"id":1,"result":{"protocolVersion":"1"}}` + "\n", want: []string{`/protocolVersion is "1"`}},
		"null":              {say: `{"id":1,"result":null}` + "\n", want: []string{"null", "an object"}},
		"neither":           {say: `{"id":1}` + "\n", want: []string{"neither"}},
		"refusal":           {say: `{"id":1,"error":{"code":-32001,"message":"built for another contract"}}` + "\n", want: []string{"refused", "-32001", "built for another contract"}},
		"refusal, odd":      {say: `{"id":1,"result":1,"error":"no"}` + "\n", want: []string{"refused", `"no"`}},
		"exits":             {say: "{{then exit 7}}", want: []string{"exit code 7", "fatal: out of rows"}},
		"key in wrong case": {say: `{"Id":1,"RESULT":{"protocolVersion":1}}` + "\n{{then exit 9}}", want: []string{"exit code 9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := begin(t, as("raw", tc.say))
			got, err := p.Initialize(context.Background(), initParams())
			if len(tc.want) == 0 {
				if err != nil || got.ProtocolVersion != 1 {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not name %q", err, part)
				}
			}
		})
	}
}

func TestCommandThatIsNotThere(t *testing.T) {
	p := begin(t, Options{Command: "echo starting >&2; anvil-no-such-command"})
	wait(t, p.Done(), "the death") // before initialize: no broken pipe may be told
	_, err := p.Initialize(context.Background(), initParams())
	transport(t, err, provider.UpstreamUnavailable, "exit code 127", "starting", "anvil-no-such-command")
	if p.Err() == nil || strings.Contains(p.Err().Error(), "pipe") {
		t.Errorf("Err: %v", p.Err())
	}
}

func TestRawAnswers(t *testing.T) {
	huge := strings.Repeat("0123456789", 1<<20)
	for name, tc := range map[string]struct {
		say       string // after the answer to initialize
		want      string // Raw of the answer
		malformed string // part of the error
		dead      []string
		failed    []string // parts of a JSON-RPC error
		warned    []string
	}{
		"plain":        {say: `{"id":{{id}},"result":{"ok":true}}`, want: `{"ok":true}`},
		"spelling":     {say: ` { "result" : {"ok":true , "result":[1.10,1e400,"\u00e9\/"]}, "id" : {{id}} } `, want: `{"ok":true,"result":[1.10,1e400,"é/"]}`},
		"carriage":     {say: `{"id":{{id}},"result":{"ok":true}}` + "\r", want: `{"ok":true}`},
		"id 2.0":       {say: `{"id":{{id}}.0,"result":{"ok":true}}`, want: `{"ok":true}`},
		"id 0.1e1":     {say: `{"id":0.1e1,"result":{"ok":true}}`, want: `{"ok":true}`},
		"huge":         {say: `{"id":{{id}},"result":{"ok":true,"result":"{{huge}}"}}`, want: `{"ok":true,"result":"` + huge + `"}`},
		"false error":  {say: `{"id":{{id}},"error":0,"result":{"ok":true}}`, want: `{"ok":true}`},
		"null error":   {say: `{"id":{{id}},"error":null,"result":{"ok":true}}`, want: `{"ok":true}`},
		"other ids":    {say: `{"id":"{{id}}","result":1}` + "\n" + `{"id":99,"result":1}` + "\n" + `{"id":null,"result":1}` + "\n[]\n3\n\n" + `{"method":"log","params":1}` + "\n" + `{"id":{{id}},"result":{"ok":true}}`, want: `{"ok":true}`},
		"noise":        {say: "listening on :80\n" + strings.Repeat("é", 300) + "\n" + `{"id":{{id}},"result":{"ok":true}}`, want: `{"ok":true}`, warned: []string{"listening on :80", strings.Repeat("é", 200)}},
		"not a number": {say: `{"id":{{id}},"result":{"ok":true,"result":NaN}}` + "\n" + `{"id":{{id}},"result":{"ok":true}}`, want: `{"ok":true}`, warned: []string{"NaN"}},
		"text":         {say: `{"id":{{id}},"result":"text"}`, want: `"text"`, malformed: "boolean 'ok'"},
		"null":         {say: `{"id":{{id}},"result":null}`, want: `null`, malformed: "boolean 'ok'"},
		"neither":      {say: `{"id":{{id}}}`, malformed: "'result' or an 'error'"},
		"error":        {say: `{"id":{{id}},"error":{"code":-32603,"message":"boom"},"result":{"ok":true}}`, failed: []string{"-32603", "boom"}},
		"error text":   {say: `{"id":{{id}},"error":"boom"}`, failed: []string{"boom"}},
		"exit":         {say: "{{then exit 3}}", dead: []string{"State provider exited (exit code 3). Last stderr: fatal: out of rows"}},
		"answer, exit": {say: `{"id":{{id}},"result":{"ok":true}}` + "\n{{then exit 3}}", want: `{"ok":true}`, dead: []string{"exit code 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var warned []string
			opts := as("raw", tc.say+"\n")
			if strings.HasSuffix(tc.say, "}}") && strings.Contains(tc.say, "{{then") {
				opts = as("raw", tc.say)
			}
			opts.Warn = func(s string) { warned = append(warned, s) }
			p := begin(t, opts)
			r, err := p.Invoke(context.Background(), request(1)) // has id 1
			var malformed *provider.MalformedError
			switch {
			case tc.malformed != "":
				if !errors.As(err, &malformed) || !strings.Contains(err.Error(), tc.malformed) {
					t.Errorf("got %T %v, want a MalformedError with %q", err, err, tc.malformed)
				}
			case tc.failed != nil:
				transport(t, err, provider.UpstreamUnavailable, tc.failed...)
			case tc.want == "":
				transport(t, err, provider.UpstreamUnavailable, tc.dead...)
			case err != nil:
				t.Error(err)
			}
			var raw string
			if r != nil {
				raw = string(r.Raw)
			}
			if raw != tc.want {
				t.Errorf("got %.200s, want %.200s", raw, tc.want)
			}
			if len(warned) != len(tc.warned) {
				t.Errorf("warnings: %q", warned)
			}
			for i, w := range tc.warned {
				if i < len(warned) && (!strings.HasSuffix(warned[i], ": "+w) && !strings.Contains(warned[i], "NaN")) {
					t.Errorf("warning %q does not end in %q", warned[i], w)
				}
			}
			if tc.dead != nil {
				wait(t, p.Done(), "the death")
				transport(t, p.Err(), provider.UpstreamUnavailable, tc.dead...)
				_, err = p.Invoke(context.Background(), request(2))
				transport(t, err, provider.UpstreamUnavailable, tc.dead...)
			}
		})
	}
}

func TestLineOverTheLimit(t *testing.T) {
	opts := as("raw", `{"id":{{id}},"result":{"ok":true,"result":"{{huge}}"}}`+"\n")
	opts.MaxLine = 1 << 20
	p := begin(t, opts)
	_, err := p.Invoke(context.Background(), request(1))
	transport(t, err, provider.UpstreamUnavailable, "more than 1048576 bytes", "line 1")
	wait(t, p.Done(), "the end of the session")
	transport(t, p.Err(), provider.UpstreamUnavailable, "more than 1048576 bytes")
}

func TestAnswersOutOfOrder(t *testing.T) {
	const n = 64
	p := ready(t, as("reversed", fmt.Sprint(n)))
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r, err := p.Invoke(context.Background(), request(i))
			if err != nil {
				t.Error(err)
			} else if want := fmt.Sprintf(`"r%d"`, i); string(r.Result) != want {
				t.Errorf("got %s, want %s", r.Result, want)
			}
		})
	}
	wg.Wait()
}

func TestLateAnswerIsDiscarded(t *testing.T) {
	said := make(lines, 16)
	opts := as("late", "")
	opts.Stderr = said
	opts.Warn = func(s string) { t.Error(s) }
	p := ready(t, opts)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-said // the provider holds the first call
		cancel()
	}()
	_, err := p.Invoke(ctx, request(1))
	transport(t, err, provider.UpstreamUnavailable, "'invoke' (id 2)", "canceled")
	r, err := p.Invoke(context.Background(), request(2))
	if err != nil || string(r.Result) != `"in time"` {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestTimeout(t *testing.T) {
	for _, role := range []string{"silent", "deaf"} {
		t.Run(role, func(t *testing.T) {
			opts := as(role, "")
			opts.Timeout = 50 * time.Millisecond
			opts.bounds.term, opts.bounds.force = 50*time.Millisecond, 50*time.Millisecond
			p := begin(t, opts)
			big := request(1)
			big.Body = []byte(`"` + strings.Repeat("x", 1<<20) + `"`) // more than a pipe holds
			for range 3 {
				_, err := p.Invoke(context.Background(), big)
				transport(t, err, provider.UpstreamTimeout, "within 50 ms")
			}
			if n := len(p.conn.st.queue); n > 3 {
				t.Errorf("%d requests are queued", n)
			}
		})
	}
}

func TestKilledDuringManyCalls(t *testing.T) {
	const n = 64
	said := make(lines, 16)
	opts := as("hold", fmt.Sprint(n))
	opts.Stderr = said
	p := ready(t, opts)
	errs := make(chan error, n)
	for i := range n {
		go func() {
			_, err := p.Invoke(context.Background(), request(i))
			errs <- err
		}()
	}
	var pid int
	if _, err := fmt.Sscanf(<-said, "holding %d", &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range n {
		transport(t, <-errs, provider.UpstreamUnavailable, "signal SIGKILL", fmt.Sprintf("holding %d", pid))
	}
	wait(t, p.Done(), "the death")
	transport(t, p.Err(), provider.UpstreamUnavailable, "signal SIGKILL")
	if len(p.conn.st.pending) != 0 {
		t.Errorf("%d calls are pending", len(p.conn.st.pending))
	}
}

// lines is a writer that passes on what it gets.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

func TestShellTellsTheSignal(t *testing.T) {
	opts := as("hold", "1")
	said := make(lines, 16)
	opts.Stderr = said
	opts.Command = strings.TrimPrefix(opts.Command, "exec ") + "; exit $?"
	p := ready(t, opts)
	go p.Invoke(context.Background(), request(1))
	var pid int
	fmt.Sscanf(<-said, "holding %d", &pid)
	syscall.Kill(pid, syscall.SIGTERM)
	wait(t, p.Done(), "the death")
	transport(t, p.Err(), provider.UpstreamUnavailable, "exit code 143, as by signal SIGTERM")
}

func TestClosedPipes(t *testing.T) {
	for role, want := range map[string]string{"closes-in": "closed its stdin", "closes-out": "closed its stdout"} {
		t.Run(role, func(t *testing.T) {
			opts := as(role, "")
			opts.bounds.linger = 50 * time.Millisecond
			p := ready(t, opts)
			_, err := p.Invoke(context.Background(), request(1))
			transport(t, err, provider.UpstreamUnavailable, want)
			wait(t, p.Done(), "the end")
		})
	}
}

// watch makes a fifo; alive returns once somebody holds it, gone once nobody does.
func watch(t *testing.T) (path string, alive, gone func()) {
	path = filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	born, dead := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(dead)
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		f.Read(make([]byte, 1))
		close(born)
		io.Copy(io.Discard, f)
	}()
	return path, func() { wait(t, born, "the process") }, func() { wait(t, dead, "the process's end") }
}

func TestProviderThatNeverExits(t *testing.T) {
	fifo, alive, gone := watch(t)
	opts := as("never-exits", fifo)
	opts.bounds.term, opts.bounds.force, opts.bounds.heeded = 100*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond
	p := ready(t, opts)
	alive()
	began := time.Now()
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("ended after %v, before both rungs", took)
	}
	gone()
	if got := describe(p.cmd.ProcessState); got != "signal SIGKILL" {
		t.Errorf("ended by %s", got)
	}
	if p.Err() != nil || !p.Killed() {
		t.Errorf("Err: %v, killed %v", p.Err(), p.Killed())
	}
}

func TestCloseWithEndedContextKillsAtOnce(t *testing.T) {
	fifo, alive, gone := watch(t)
	opts := as("never-exits", fifo)
	opts.bounds.term = 20 * time.Second
	p := ready(t, opts)
	alive()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > p.bounds.term {
		t.Errorf("took %v", took)
	}
	gone()
}

func TestSIGTERMComesAfterStdinClosed(t *testing.T) {
	var said bytes.Buffer
	opts := as("slow-to-term", "")
	opts.Stderr = &said
	// It answered, so it has the longer time.
	opts.bounds.term, opts.bounds.force, opts.bounds.heeded = 100*time.Millisecond, time.Nanosecond, time.Minute
	p := ready(t, opts)
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, want := said.String(), "stdin ended\ngot SIGTERM\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := describe(p.cmd.ProcessState); got != "exit code 0" || p.Killed() {
		t.Errorf("ended by %s", got)
	}
}

func TestGrandchildIsEndedToo(t *testing.T) {
	for _, how := range []string{"close", "kill"} {
		t.Run(how, func(t *testing.T) {
			fifo, alive, gone := watch(t)
			opts := as("with-child", fifo)
			opts.bounds.term, opts.bounds.force, opts.bounds.heeded = 100*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond
			p := ready(t, opts)
			alive()
			if how == "kill" {
				p.cmd.Process.Kill()
				wait(t, p.Done(), "the death")
				transport(t, p.Err(), provider.UpstreamUnavailable, "signal SIGKILL")
			} else if err := p.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			gone()
		})
	}
}

// A process that left the provider's group and holds its pipes is not waited for:
// the provider itself has ended, and nothing of it is lost.
func TestStrayIsNotWaitedFor(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "end")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	opts := as("with-stray", fifo)
	opts.bounds.term, opts.bounds.heeded = time.Hour, time.Hour
	opts.bounds.answer = 10 * time.Second // the answer to shutdown comes
	p := ready(t, opts)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	wait(t, closed, "the end of Close")
	if got := describe(p.cmd.ProcessState); got != "exit code 0" || p.Killed() || p.Err() != nil {
		t.Errorf("ended by %s, killed %v, Err: %v; want a plain exit", got, p.Killed(), p.Err())
	}
	if err := os.WriteFile(fifo, []byte("."), 0); err != nil { // waits for the stray, which lives
		t.Error(err)
	}
}

func TestCloseIsSafeToRepeat(t *testing.T) {
	p := ready(t, as("serve", ""))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := p.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wait(t, p.Done(), "the end")
}

func TestCloseBeforeInitialize(t *testing.T) {
	p := begin(t, as("serve", ""))
	if err := p.Close(context.Background()); err != nil || p.Err() != nil {
		t.Errorf("Close: %v, Err: %v", err, p.Err())
	}
}

func TestEnvironment(t *testing.T) {
	opts := as("print-env", "")
	opts.Env = append(opts.Env, "EXTRA=no", "EXTRA=yes")
	opts.PathAppend = []string{"/a b", "/c"}
	p := ready(t, opts)
	r, err := p.Invoke(context.Background(), request(1))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Result); !strings.HasSuffix(got, `:/a b:/c yes"`) || !strings.Contains(got, "/bin") {
		t.Errorf("got %s", got)
	}
}

func TestStartErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Start(ctx, Options{Command: "true"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
