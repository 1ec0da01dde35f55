// Package stdio is the host of a state provider that runs as a process: it
// starts the provider, asks it over its stdin and stdout (JSON-RPC 2.0, one
// message a line), and ends it.
//
// Requests are pipelined: any number of calls of [Process.Invoke] may be in
// flight, and answers come in any order. A call is retired exactly once: by its
// answer, its deadline, the end of its context, or the death of the provider.
package stdio

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/anvil-sim/anvil/internal/ndjson"
	"github.com/anvil-sim/anvil/provider"
)

// Options say which provider to start and how to treat it.
type Options struct {
	// Command is run by "sh -c". Required.
	Command string
	// Env is added to this process's environment, KEY=VALUE each; a later one
	// wins.
	Env []string
	// PathAppend are folders that are added to the end of the child's PATH.
	PathAppend []string
	// Timeout is the deadline of each request. 0 is 30 s.
	Timeout time.Duration
	// MaxLine is the longest answer line in bytes; a longer one ends the session.
	// 0 is 64 MiB.
	MaxLine int
	// Stderr gets what the provider writes to its stderr, as it is. Nil drops it.
	Stderr io.Writer
	// Warn gets one line of text for each thing that was ignored and should not
	// have been there: stdout lines that are no JSON. It is called by one goroutine
	// at a time. Nil drops them.
	Warn func(string)

	bounds bounds // zero values are the defaults; tests shorten them
}

// bounds are the waits of this package other than the deadline of a request.
type bounds struct {
	answer time.Duration // for the answer to shutdown
	term   time.Duration // from closing stdin to SIGTERM
	force  time.Duration // from SIGTERM to SIGKILL
	heeded time.Duration // the same for a provider that answered shutdown
	linger time.Duration // for a provider that closed a pipe to exit
	drain  time.Duration // for the end of the pipes, after the provider exited
	kill   time.Duration // from SIGKILL to giving up
}

// The specification gives term: "terminates a provider that is still running
// 2 seconds later".
func (b bounds) withDefaults() bounds {
	for _, f := range []struct {
		d *time.Duration
		v time.Duration
	}{
		{&b.answer, 5 * time.Second},
		{&b.term, 2 * time.Second},
		{&b.force, 2 * time.Second},
		{&b.heeded, 10 * time.Second},
		{&b.linger, 5 * time.Second},
		{&b.drain, 250 * time.Millisecond},
		{&b.kill, 2 * time.Second},
	} {
		if *f.d == 0 {
			*f.d = f.v
		}
	}
	return b
}

const (
	defaultTimeout = 30 * time.Second
	defaultMaxLine = 64 << 20
)

// A Process is a running provider. Its methods may be called by several
// goroutines at once.
type Process struct {
	cmd    *exec.Cmd
	conn   *conn
	bounds bounds

	stdin          *os.File
	stdout, stderr *os.File
	tail           *tail

	exited  chan struct{} // the child was waited for
	read    chan struct{} // stdout was read to its end; readErr is set
	logged  chan struct{} // stderr was read to its end
	closing chan struct{} // Close began
	forced  chan struct{} // Close sent SIGKILL
	done    chan struct{} // nothing of the provider is left; death is set

	readErr error // nil when stdout ended
	death   error // nil when Close ended the provider

	closeOnce sync.Once
	closeErr  error
}

var _ provider.Provider = (*Process)(nil)

// Start starts a provider in a process group of its own. ctx bounds the starting
// alone: the process runs until it exits by itself or [Process.Close] ends it.
func Start(ctx context.Context, opts Options) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start the provider: %w", err)
	}
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.MaxLine <= 0 {
		opts.MaxLine = defaultMaxLine
	}
	if opts.Stderr == nil {
		opts.Stderr = io.Discard
	}
	if opts.Warn == nil {
		opts.Warn = func(string) {}
	}
	p := &Process{
		bounds:  opts.bounds.withDefaults(),
		tail:    new(tail),
		exited:  make(chan struct{}),
		read:    make(chan struct{}),
		logged:  make(chan struct{}),
		closing: make(chan struct{}),
		forced:  make(chan struct{}),
		done:    make(chan struct{}),
	}
	if err := p.start(opts); err != nil {
		return nil, fmt.Errorf("start the provider: %w", err)
	}
	p.conn = newConn(p.stdin, opts.Timeout, opts.Warn)
	go p.wait()
	go p.log(opts.Stderr)
	go p.readAnswers(opts.MaxLine)
	go p.conn.write()
	go p.supervise()
	return p, nil
}

// start starts the child on three pipes that this package owns: os/exec's own
// would be closed under the reader by Wait.
func (p *Process) start(opts Options) (err error) {
	p.cmd = exec.Command("sh", "-c", opts.Command)
	p.cmd.Env = childEnv(p.cmd.Environ(), opts)
	ownGroup(p.cmd)
	var theirs [3]*os.File
	defer func() {
		closeAll(theirs[:]...)
		if err != nil {
			closeAll(p.stdin, p.stdout, p.stderr)
		}
	}()
	if theirs[0], p.stdin, err = os.Pipe(); err != nil {
		return err
	}
	if p.stdout, theirs[1], err = os.Pipe(); err != nil {
		return err
	}
	if p.stderr, theirs[2], err = os.Pipe(); err != nil {
		return err
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	return p.cmd.Start()
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// childEnv is the child's environment: base, then opts.Env, then the folders at
// the end of the PATH that came out of these.
func childEnv(base []string, opts Options) []string {
	env := append(base[:len(base):len(base)], opts.Env...)
	if len(opts.PathAppend) == 0 {
		return env
	}
	var folders []string
	for _, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			folders = nil
			if path != "" {
				folders = []string{path}
			}
		}
	}
	folders = append(folders, opts.PathAppend...)
	return append(env, "PATH="+strings.Join(folders, string(os.PathListSeparator)))
}

// Initialize sends `initialize` and checks the version that the provider speaks.
// It must be called once, before the first Invoke. The error says why there is
// nothing to serve: the provider refused (with its code and message), speaks
// another version, answered something else, took too long, or died (a
// *[provider.TransportError] for the last two). The process still has to be
// closed then.
func (p *Process) Initialize(ctx context.Context, params *provider.InitializeParams) (*provider.InitializeResult, error) {
	a := p.conn.ask(ctx, provider.MethodInitialize, params.AppendJSON(nil))
	switch {
	case a.err != nil:
		return nil, a.err
	case a.failure != nil:
		return nil, fmt.Errorf("the state provider refused to start: %w", a.failure)
	case a.result == nil:
		return nil, &provider.MalformedError{Reason: "the state provider answered initialize with neither a result nor an error"}
	}
	result, err := provider.DecodeInitializeResult(a.result)
	if err != nil {
		return nil, fmt.Errorf("the state provider answered initialize: %w", err)
	}
	if v := result.ProtocolVersion; v != provider.ProtocolVersion {
		return nil, fmt.Errorf("the state provider speaks protocol version %d, want version %d", v, provider.ProtocolVersion)
	}
	return result, nil
}

// Reset asks the provider to go back to its first state. Only one that announced
// the method in its [provider.InitializeResult] understands it.
func (p *Process) Reset(ctx context.Context, seed uint32) error {
	a := p.conn.ask(ctx, provider.MethodReset, fmt.Appendf(nil, `{"seed":%d}`, seed))
	switch {
	case a.err != nil:
		return a.err
	case a.failure != nil:
		return fmt.Errorf("the state provider did not reset: %w", a.failure)
	}
	return nil
}

// Snapshot asks the provider to write its state to a file. Only one that announced
// the method in its [provider.InitializeResult] understands it.
func (p *Process) Snapshot(ctx context.Context, params *provider.SnapshotParams) error {
	a := p.conn.ask(ctx, provider.MethodSnapshot, params.AppendJSON(nil))
	switch {
	case a.err != nil:
		return a.err
	case a.failure != nil:
		return fmt.Errorf("the state provider: %w", a.failure)
	}
	return nil
}

// Invoke asks the provider one request, which it freezes. The error is a
// *[provider.TransportError] when there is no answer (the deadline passed, the
// provider died, it answered with a JSON-RPC error, ctx ended), or a
// *[provider.MalformedError] when the answer is not one that the protocol allows
// for the request; the response beside that one carries Raw when there was an
// answer at all.
func (p *Process) Invoke(ctx context.Context, req *provider.Request) (*provider.Response, error) {
	a := p.conn.ask(ctx, provider.MethodInvoke, req.Freeze())
	switch {
	case a.err != nil:
		return nil, a.err
	case a.failure != nil:
		e := unavailable("State provider could not process the request: %v", a.failure)
		e.Data = a.failure.Data
		return nil, e
	case a.result == nil:
		return nil, &provider.MalformedError{Reason: "expected a 'result' or an 'error'"}
	}
	r, err := provider.ParseCanonical(a.result)
	if err == nil {
		err = r.CheckFor(req)
	}
	return r, err
}

// Done is closed when the provider has ended, by itself or through Close, and
// every call was retired.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the provider died, with its exit code or signal and the end of
// its stderr; nil while it runs and when Close ended it.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.death
	default:
		return nil
	}
}

// ExitCode is the exit code of a provider that has ended by itself, after
// shutdown or before; -1 while it runs and when a signal ended it. A provider that
// checks something says with a code other than 0 that the answer is no.
func (p *Process) ExitCode() int {
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	default:
		return -1
	}
}

// Killed reports whether Close had to end the provider with SIGKILL: what it would
// have said in the end, its exit code too, is lost.
func (p *Process) Killed() bool { return isClosed(p.forced) }

// readAnswers reads stdout to its end, or to a line that is too long.
func (p *Process) readAnswers(maxLine int) {
	defer close(p.read)
	p.readErr = p.conn.read(ndjson.NewReader(p.stdout, maxLine))
}

// log passes stderr on and remembers its end. When the receiver fails, it is
// still read: a full pipe would stop the provider.
func (p *Process) log(to io.Writer) {
	defer close(p.logged)
	io.Copy(io.MultiWriter(p.tail, &lossy{to: to}), p.stderr)
}

func (p *Process) wait() {
	defer close(p.exited)
	p.cmd.Wait() // its error is in ProcessState
}
