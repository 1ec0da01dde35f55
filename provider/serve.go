package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/ndjson"
)

// ServeOptions change how [Serve] works; the zero value is ready to use.
type ServeOptions struct {
	// Workers is how many invokes are answered at once; further ones wait.
	// 0 is 64; 1 answers one after the other, in order.
	Workers int
	// MaxLine is the longest request line in bytes; a longer one ends Serve with
	// an error. 0 is 64 MiB.
	MaxLine int
	// Log gets what has no other place: the stack of a panic. A provider process
	// sets it to os.Stderr, which the simulator passes on. Nil drops it.
	Log io.Writer
}

const (
	defaultWorkers = 64
	defaultMaxLine = 64 << 20
)

// Serve answers the simulator's requests: it reads one JSON-RPC message a line
// from in and writes one answer a line to out, which nothing else may write to
// (log to stderr). It ends when the simulator sends `shutdown`, when in ends
// (both nil), or when ctx is done (its error). Invokes that still run then have
// their context cancelled and are waited for; a [Closer] is closed last. An error
// of in or out, of a line that is too long, or of Close is returned.
//
// Invokes run concurrently and are answered as they finish. A panic in one is
// answered with a JSON-RPC error and does not end Serve. When ctx ends first, one
// read of in stays behind until in is closed.
func Serve(ctx context.Context, p Provider, in io.Reader, out io.Writer, opts *ServeOptions) error {
	var o ServeOptions
	if opts != nil {
		o = *opts
	}
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.MaxLine <= 0 {
		o.MaxLine = defaultMaxLine
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{provider: p, log: o.Log, slots: make(chan struct{}, o.Workers)}
	s.out = newLineWriter(out)
	s.buffers.New = func() any { return new([]byte) }
	ended := make(chan ending, 1)
	go func() { ended <- s.loop(running, ndjson.NewReader(in, o.MaxLine)) }()
	var end ending
	select {
	case end = <-ended:
	case <-ctx.Done():
		end.err = ctx.Err()
	}
	s.stop()
	cancel()
	s.calls.Wait()
	return s.finish(context.WithoutCancel(ctx), end)
}

// An ending is why the reading of requests stopped.
type ending struct {
	shutdown json.RawMessage // the id of the shutdown request, nil without one
	err      error
}

// A server is one run of [Serve].
type server struct {
	provider Provider
	log      io.Writer
	slots    chan struct{}
	out      *lineWriter
	buffers  sync.Pool // of *[]byte, for answer lines
	calls    sync.WaitGroup

	mu      sync.Mutex
	stopped bool
}

// begin counts a call in; it is false once the server stops.
func (s *server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.calls.Add(1)
	}
	return !s.stopped
}

func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}

func (s *server) finish(ctx context.Context, end ending) error {
	var closing error
	if c, ok := s.provider.(Closer); ok {
		closing = s.guard(func() error { return c.Close(ctx) })
	}
	if closing != nil {
		closing = fmt.Errorf("close the provider: %w", closing)
	}
	if end.shutdown != nil {
		if closing != nil {
			s.out.fail(end.shutdown, CodeInternalError, closing.Error())
		} else {
			s.out.send(AppendResult(nil, end.shutdown, nil))
		}
	}
	return errors.Join(end.err, closing, s.out.failed())
}

// loop reads requests until there is a reason to stop.
func (s *server) loop(ctx context.Context, lines *ndjson.Reader) ending {
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return ending{}
		}
		if err != nil {
			return ending{err: fmt.Errorf("read requests: %w", err)}
		}
		if len(bytes.TrimSpace(line.Bytes)) == 0 {
			continue
		}
		m, err := ParseMessage(line.Bytes)
		if err != nil {
			s.out.fail(nil, CodeParseError, fmt.Sprintf("line %d: %v", line.Number, err))
			continue
		}
		if id := s.handle(ctx, &m); id != nil {
			return ending{shutdown: id}
		}
		if s.out.failed() != nil {
			return ending{}
		}
	}
}

// handle starts the work on one message; it returns the id of a shutdown.
func (s *server) handle(ctx context.Context, m *Message) (shutdown json.RawMessage) {
	switch {
	case m.Method == nil && (m.Result != nil || m.Error != nil):
		return nil // an answer, and nothing was asked
	case isObject(m.ID) || isArray(m.ID):
		s.out.fail(nil, CodeInvalidRequest, "the id is "+clip(m.ID)+", want a number or a string")
		return nil
	case !isString(m.Method):
		s.out.fail(m.ID, CodeInvalidRequest, "want a request object with a method")
		return nil
	case m.ID == nil:
		return nil // a notification
	}
	switch method := canon.Unquote(m.Method); method {
	case MethodInvoke:
		s.slots <- struct{}{}
		if s.begin() {
			go s.invoke(ctx, m.ID, m.Params)
		}
	case MethodInitialize:
		s.initialize(ctx, m)
	case MethodReset:
		s.reset(ctx, m)
	case MethodSnapshot:
		s.snapshot(ctx, m)
	case MethodShutdown:
		return m.ID
	default:
		s.out.fail(m.ID, CodeMethodNotFound, fmt.Sprintf("unknown method %q, known are initialize, invoke, reset, snapshot and shutdown", method))
	}
	return nil
}

// reset puts a Resetter back to its first state, once what runs has ended.
func (s *server) reset(ctx context.Context, m *Message) {
	p, ok := s.provider.(Resetter)
	if !ok {
		s.out.fail(m.ID, CodeMethodNotFound, "this provider cannot reset")
		return
	}
	var seed uint32
	if val, ok := canon.Lookup(m.Params, "seed"); ok {
		n, err := strconv.ParseUint(string(val), 10, 32)
		if err != nil {
			s.out.fail(m.ID, CodeInvalidParams, "reset: seed is "+clip(val)+", want an integer from 0 to 4294967295")
			return
		}
		seed = uint32(n)
	}
	s.calls.Wait()
	if err := s.guard(func() error { return p.Reset(ctx, seed) }); err != nil {
		s.out.failWith(m.ID, err)
		return
	}
	s.out.send(AppendResult(nil, m.ID, []byte("null")))
}

func (s *server) initialize(ctx context.Context, m *Message) {
	params, err := DecodeInitializeParams(m.Params)
	if err != nil {
		s.out.fail(m.ID, CodeInvalidParams, err.Error())
		return
	}
	result := &InitializeResult{ProtocolVersion: ProtocolVersion}
	if p, ok := s.provider.(Initializer); ok {
		err = s.guard(func() error {
			own, err := p.Initialize(ctx, params)
			if own != nil {
				result = own
			}
			return err
		})
	}
	if result.ProtocolVersion == 0 {
		result = &InitializeResult{ProtocolVersion: ProtocolVersion, Contract: result.Contract}
	}
	result = s.announce(result)
	var raw []byte
	if err == nil {
		raw, err = result.append(nil)
	}
	if err != nil {
		s.out.failWith(m.ID, err)
		return
	}
	s.out.send(AppendResult(nil, m.ID, raw))
}

func (s *server) invoke(ctx context.Context, id, params json.RawMessage) {
	defer s.calls.Done()
	defer func() { <-s.slots }()
	if !isObject(params) {
		s.out.fail(id, CodeInvalidParams, "invoke: params is "+clip(params)+", want a request object")
		return
	}
	req, err := decodeRequest(params)
	if err != nil {
		s.out.fail(id, CodeInvalidParams, err.Error())
		return
	}
	var answer *Response
	err = s.guard(func() (err error) {
		answer, err = s.provider.Invoke(ctx, req)
		return err
	})
	s.answer(id, answer, err)
}

// answer writes what Invoke returned.
func (s *server) answer(id json.RawMessage, r *Response, err error) {
	var malformed *MalformedError
	switch {
	case errors.As(err, &malformed) && malformed.Raw != nil:
		s.out.send(AppendResult(nil, id, malformed.Raw)) // the host finds the fault again
		return
	case err == nil && r == nil:
		err = errors.New("the provider returned neither an answer nor an error")
	}
	if err != nil {
		s.out.failWith(id, err)
		return
	}
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	line := appendValue(append((*buf)[:0], `{"jsonrpc":"2.0","id":`...), id)
	if line, err = r.append(append(line, `,"result":`...)); err != nil {
		s.out.failWith(id, err)
		return
	}
	line = append(line, '}', '\n')
	s.out.send(line)
	if cap(line) <= keepBuffer {
		*buf = line
	}
}

// guard turns a panic of the author's code into an error.
func (s *server) guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(s.log, "panic in the provider: %v\n%s", v, debug.Stack())
			err = fmt.Errorf("the provider panicked: %v", v)
		}
	}()
	return f()
}
