package recorder

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// drainTime bounds how long closing an answer early waits for its end.
const drainTime = time.Second

// A Transport is an http.RoundTripper that records what passes through it. A
// response is on the tape before its body says io.EOF; when it cannot be written
// (a *RefusedError: it still looks as if it held a secret), reading or closing the
// body fails with the reason, so that no test passes over it.
type Transport struct {
	// Recorder keeps the exchanges. Required.
	Recorder *Recorder
	// Base does the calls. Nil is http.DefaultTransport, which undoes gzip by itself.
	Base http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	x := t.Recorder.begin(req.Method, req.URL.String(), req.Header)
	if x.method == "" {
		x.method = http.MethodGet
	}
	out := req.Clone(req.Context())
	out.Trailer = req.Trailer // the caller fills it in while the body is read
	if req.Body != nil && req.Body != http.NoBody {
		out.Body = x.sent(req.Body, out.Trailer)
		out.GetBody = nil // a body that is sent twice would be kept twice
	}
	resp, err := base.RoundTrip(out)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			x.left = true
		} else {
			x.failure = err
		}
		return nil, errors.Join(err, x.finish())
	}
	x.resp = snapshot(resp)
	if resp.Body == nil || resp.Body == http.NoBody {
		if err := x.finish(); err != nil {
			return nil, err
		}
		return resp, nil
	}
	resp.Body = &received{x: x, body: resp.Body, resp: resp}
	return resp, nil
}

// snapshot keeps what the caller may change.
func snapshot(resp *http.Response) *http.Response {
	kept := *resp
	kept.Header = resp.Header.Clone()
	kept.Body = nil
	return &kept
}

// sent keeps a request's body as it is sent.
func (x *exchange) sent(body io.ReadCloser, trailer http.Header) io.ReadCloser {
	x.tee = &tee{ReadCloser: body, to: x.body, trailer: trailer}
	return x.tee
}

// A tee passes on what it reads to a spool, until it is frozen: a transport may
// still send a body when the answer is over.
type tee struct {
	io.ReadCloser
	mu      sync.Mutex
	to      *spool
	trailer http.Header
	ended   http.Header // the trailer once the body was read
	frozen  bool
}

// Read implements io.Reader.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.frozen {
		_, _ = t.to.Write(p[:n])
		if errors.Is(err, io.EOF) {
			t.ended = t.trailer.Clone()
		}
	}
	return n, err
}

// freeze ends the recording of the body and returns its trailer.
func (t *tee) freeze() http.Header {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frozen = true
	return t.ended
}

// received is the body of an answer on its way to the caller.
type received struct {
	x    *exchange
	body io.ReadCloser
	resp *http.Response
	done bool
}

// Read implements io.Reader.
func (b *received) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	_, _ = b.x.respBody.Write(p[:n])
	b.x.pieces.came(n, n == len(p))
	if err == nil || b.done {
		return n, err
	}
	return n, b.end(err)
}

// end puts the exchange on the tape.
func (b *received) end(err error) error {
	b.done = true
	b.x.resp.Trailer = b.resp.Trailer
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, context.Canceled):
		b.x.left = true
	default:
		b.x.failure = err
	}
	if refused := b.x.finish(); refused != nil {
		return refused
	}
	return err
}

// Close implements io.Closer. Of an answer whose end is near the rest is read, so
// that a caller who has seen enough leaves a whole recording.
func (b *received) Close() error {
	if b.done {
		return b.body.Close()
	}
	if transfer(b.x.resp) == "sse" {
		b.done, b.x.left = true, true
		return errors.Join(b.body.Close(), b.x.finish())
	}
	timer := time.AfterFunc(drainTime, func() { _ = b.body.Close() })
	_, err := io.Copy(io.Discard, io.LimitReader(b, wholeBody))
	stopped := timer.Stop()
	if !b.done || !stopped {
		b.done, b.x.left, b.x.failure = true, true, nil
		err = b.x.finish()
	}
	return errors.Join(err, b.body.Close())
}
