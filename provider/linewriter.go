package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	keepBuffer = 1 << 20 // a buffer over this is not kept for later lines
	maxPending = 4 << 20 // lines that wait for the reader of out; further senders wait
)

// A lineWriter joins the lines of concurrent senders into few writes: who finds
// no write going on writes, and takes along what others add in the meantime.
type lineWriter struct {
	out io.Writer

	mu      sync.Mutex
	room    sync.Cond // signalled after each write
	pending []byte    // whole lines
	spare   []byte
	writing bool
	err     error
}

func newLineWriter(out io.Writer) *lineWriter {
	w := &lineWriter{out: out}
	w.room.L = &w.mu
	return w
}

// send writes a line, or hands it to the sender that is writing. After a failed
// write lines are dropped.
func (w *lineWriter) send(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing && len(w.pending) > maxPending {
		w.room.Wait()
	}
	if w.err != nil {
		return
	}
	w.pending = append(w.pending, line...)
	if w.writing {
		return
	}
	w.writing = true
	for len(w.pending) > 0 && w.err == nil {
		batch := w.pending
		w.pending = w.spare[:0]
		w.mu.Unlock()
		_, err := w.out.Write(batch)
		w.mu.Lock()
		w.spare = nil
		if cap(batch) <= keepBuffer {
			w.spare = batch
		}
		if err != nil {
			w.err, w.pending = fmt.Errorf("write answers: %w", err), nil
		}
		w.room.Broadcast()
	}
	w.writing = false
}

// failed is the error of out, nil as long as it works.
func (w *lineWriter) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *lineWriter) fail(id json.RawMessage, code int, message string) {
	w.send(AppendRPCError(nil, id, &RPCError{Code: code, Message: message}))
}

// failWith answers with an error of the author: an [RPCError] as it is, any
// other as an internal error.
func (w *lineWriter) failWith(id json.RawMessage, err error) {
	var own *RPCError
	if !errors.As(err, &own) {
		own = &RPCError{Code: CodeInternalError, Message: err.Error()}
	}
	w.send(AppendRPCError(nil, id, own))
}
