package stdio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/anvil-sim/anvil/internal/ndjson"
	"github.com/anvil-sim/anvil/provider"
)

// A conn is the protocol over two streams: ids, pending calls, deadlines.
type conn struct {
	out     io.Writer
	timeout time.Duration
	warn    func(string)
	calls   sync.Pool // of *call

	wake     chan struct{} // there is something to write
	writeErr chan struct{} // closed when writing failed
	over     chan struct{} // closed when state.err is set

	mu sync.Mutex
	st state // touched inside update alone
}

// A state is all that changes in a conn.
type state struct {
	last    uint64           // id of the last request
	pending map[uint64]*call // requests that wait for their answer
	queue   []outgoing       // requests that were not written yet
	closing bool             // only shutdown may be asked
	err     error            // why nothing can be asked any more
}

// An outgoing is a request to write. It does not point to its call, which may be
// retired and used for another request before the writer comes to it.
type outgoing struct {
	id     uint64
	method string
	params []byte
}

// A call waits for one answer. Who takes it out of state.pending sends exactly
// one answer, or is its owner and sends none.
type call struct {
	done  chan answer // of capacity 1
	timer *time.Timer
}

// An answer is how a request was retired: with a result, a JSON-RPC error,
// neither (a malformed answer), or without an answer (err).
type answer struct {
	result  []byte
	failure *provider.RPCError
	err     error
}

func newCall() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &call{done: make(chan answer, 1), timer: t}
}

func newConn(out io.Writer, timeout time.Duration, warn func(string)) *conn {
	return &conn{
		out: out, timeout: timeout, warn: warn,
		calls:    sync.Pool{New: newCall},
		wake:     make(chan struct{}, 1),
		writeErr: make(chan struct{}),
		over:     make(chan struct{}),
		st:       state{pending: map[uint64]*call{}},
	}
}

func (c *conn) update(f func(*state)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.st)
}

func unavailable(format string, args ...any) *provider.TransportError {
	return &provider.TransportError{Code: provider.UpstreamUnavailable, Message: fmt.Sprintf(format, args...)}
}

// ask sends a request and waits for its retirement. params must not change until
// the end of the conn: a request that is given up may still be written.
func (c *conn) ask(ctx context.Context, method string, params []byte) answer {
	w := c.calls.Get().(*call)
	id, err := c.enqueue(w, method, params)
	if err != nil {
		c.calls.Put(w)
		return answer{err: err}
	}
	select {
	case c.wake <- struct{}{}:
	default: // the writer was told already
	}
	w.timer.Reset(c.timeout)
	var a answer
	select {
	case a = <-w.done:
	case <-w.timer.C:
		a = c.giveUp(w, id, &provider.TransportError{Code: provider.UpstreamTimeout, Message: fmt.Sprintf(
			"State provider did not answer '%s' (id %d) within %d ms", method, id, c.timeout.Milliseconds())})
	case <-ctx.Done():
		a = c.giveUp(w, id, ended(ctx, method, id))
	}
	w.timer.Stop()
	c.calls.Put(w)
	return a
}

// ended is the error of a call whose context ended.
func ended(ctx context.Context, method string, id uint64) error {
	e := unavailable("the call ended before the state provider answered '%s' (id %d): %v", method, id, context.Cause(ctx))
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Code = provider.UpstreamTimeout
	}
	return e
}

func (c *conn) enqueue(w *call, method string, params []byte) (id uint64, err error) {
	c.update(func(s *state) {
		switch {
		case s.err != nil:
			err = s.err
			return
		case s.closing && method != provider.MethodShutdown:
			err = unavailable("State provider is being shut down")
			return
		}
		s.last++
		id = s.last
		s.pending[id] = w
		s.queue = append(s.queue, outgoing{id, method, params})
	})
	return id, err
}

// giveUp retires a call without an answer, unless its answer is on the way.
func (c *conn) giveUp(w *call, id uint64, err error) answer {
	if c.retire(id) == nil {
		return <-w.done
	}
	return answer{err: err}
}

// retire takes a call out of the pending ones; nil when it was retired before.
func (c *conn) retire(id uint64) (w *call) {
	c.update(func(s *state) {
		if w = s.pending[id]; w != nil {
			delete(s.pending, id)
		}
	})
	return w
}

// refuse makes every further request but shutdown fail.
func (c *conn) refuse() { c.update(func(s *state) { s.closing = true }) }

// fail ends the conn: every pending and later call gets err. The first err stays.
func (c *conn) fail(err error) {
	var orphans map[uint64]*call
	c.update(func(s *state) {
		if s.err != nil {
			return
		}
		s.err = err
		orphans, s.pending, s.queue = s.pending, map[uint64]*call{}, nil
		close(c.over)
	})
	for _, w := range orphans {
		w.done <- answer{err: err}
	}
}

const (
	batchSize = 64 << 10 // what a pipe holds
	keepBatch = 1 << 20  // a batch over this is not kept for the next one
)

// write writes queued requests, those that came together in one write, until the
// conn ends or writing fails.
func (c *conn) write() {
	var queue []outgoing
	var batch []byte
	for {
		select {
		case <-c.wake:
		case <-c.over:
			return
		}
		if c.crowded() {
			runtime.Gosched() // calls that are about to ask share the write
		}
		queue = c.takeQueue(queue)
		for i, o := range queue {
			batch = provider.AppendRequest(batch, o.id, o.method, o.params)
			if len(batch) < batchSize && i < len(queue)-1 {
				continue
			}
			if _, err := c.out.Write(batch); err != nil {
				close(c.writeErr)
				return
			}
			batch = batch[:0]
		}
		if cap(batch) > keepBatch {
			batch = nil
		}
		clear(queue) // lets go of the params
	}
}

// crowded tells whether more calls are under way than those that are queued.
func (c *conn) crowded() (yes bool) {
	c.update(func(s *state) { yes = len(s.pending) > len(s.queue) })
	return yes
}

// takeQueue returns the queued requests that are still pending, in the room of
// an older queue.
func (c *conn) takeQueue(room []outgoing) []outgoing {
	c.update(func(s *state) {
		s.queue, room = room[:0], s.queue
		kept := room[:0]
		for _, o := range room {
			if s.pending[o.id] != nil {
				kept = append(kept, o)
			}
		}
		room = kept
	})
	return room
}

// read takes answers until the stream ends (nil) or cannot be read on.
func (c *conn) read(lines *ndjson.Reader) error {
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		c.take(line.Bytes)
	}
}

// quoted is how much of a noise line a warning shows, in characters.
const quoted = 200

// take retires the call that a line answers. A line that answers none (unknown
// or late id, notification, an array) is ignored; one that is no JSON gets a
// warning.
func (c *conn) take(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	m, err := provider.ParseMessage(line)
	if err != nil {
		c.warn(fmt.Sprintf("ignored a line on the state provider's stdout (%v): %s", err, firstRunes(line, quoted)))
		return
	}
	id, ok := m.NumericID()
	if !ok {
		return
	}
	if w := c.retire(id); w != nil {
		w.done <- answer{result: m.Result, failure: m.Failure()}
	}
}
