package surface

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// net/http answers a request whose target it cannot parse (GET /users/%zz) with
// its own 400 before any handler runs. Such a call must be numbered and traced,
// so the connection replaces a bad target by one that parses and hands the
// original to the handler.
//
// Only the first line of a request is looked at, and only where a request is
// known to begin: on a new connection, and after net/http has gone idle. A client
// that pipelines gets net/http's answer for a bad target in the middle of a
// pipeline. HTTP/2 has no request line: there a bad target ends its stream.
//
// While a handler runs, net/http watches its client with a read of a single byte,
// to end the request's context when the client goes. Calls outlive their clients
// (see callContext), and the watching costs each call a goroutine that is woken, a
// read and two deadlines. So that read gets nothing, and no error, at once. Control
// requests are watched: a reset whose client has gone is not begun. So are, by
// watch, the clients of answers that are slow on purpose.
//
// For each request net/http sets up to six deadlines of reading, most of which are
// replaced before anything is read. The connection gets the one that counts.

// maxRequestLine is how much of a request line is held back to see its end.
const maxRequestLine = maxHeaderBytes

// placeholder stands for a target that net/http cannot parse.
const placeholder = "/"

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// follow tells a connection where net/http is with it.
func follow(c net.Conn, state http.ConnState) {
	tc, ok := c.(*targetConn)
	if !ok {
		return
	}
	switch state {
	case http.StateNew:
		tc.begin(headerTimeout)
	case http.StateIdle:
		tc.begin(idleTimeout)
	case http.StateActive:
		tc.answer()
	}
}

// rawTarget is the request target as the client sent it.
func rawTarget(r *http.Request) string {
	if c, ok := r.Context().Value(connKey{}).(*targetConn); ok {
		if t, replaced := c.take(); replaced {
			return t
		}
	}
	if r.RequestURI != "" {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

// overTLS reports whether a request came by a TLS connection that is hidden from
// net/http.
func overTLS(r *http.Request) bool {
	c, ok := r.Context().Value(connKey{}).(*targetConn)
	return ok && c.tls
}

type targetConn struct {
	net.Conn

	tls  bool      // Conn is a TLS connection, which net/http does not see
	home *listener // nil: the connection is never parked

	mu       sync.Mutex
	fresh    bool   // a request begins with the next byte from the network
	control  bool   // the last request line asked for a control endpoint
	unwatch  bool   // a request was read, and net/http has not watched its client yet
	held     []byte // read from the network, not yet given on
	ready    bool   // held is checked and may be given on
	original string
	replaced bool

	reading  bool      // a read is under way
	deadline time.Time // of reading, as it was asked for
	applied  time.Time // as the connection has it
	parking  parking
	closed   bool
}

// NetConn is the connection below, as of a tls.Conn.
func (c *targetConn) NetConn() net.Conn { return c.Conn }

// SetReadDeadline implements net.Conn. Unless a read is under way, the deadline is
// kept for the next one.
func (c *targetConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	if !c.reading {
		return nil
	}
	return c.applyDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *targetConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.Conn.SetWriteDeadline(t))
}

func (c *targetConn) applyDeadline(t time.Time) error {
	if t.Equal(c.applied) {
		return nil
	}
	c.applied = t
	return c.Conn.SetReadDeadline(t)
}

// receive reads from the network. Where the connection may be parked it does not
// wait for long, and then has net/http see its end. No clock is looked at: when
// the silence began, net/http's deadline tells.
func (c *targetConn) receive(p []byte, park bool) (int, error) {
	c.mu.Lock()
	deadline := c.deadline
	until := deadline
	if park {
		until = deadline.Add(parkAfter - c.parking.wait)
	}
	err := c.applyDeadline(until)
	c.reading = err == nil
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	if park && n == 0 && isTimeout(err) && c.deadline.Equal(deadline) {
		c.parking.begun = true
		err = io.EOF
	}
	return n, err
}

// begin marks that the next byte from the network begins a request, for which
// net/http waits so long.
func (c *targetConn) begin(wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unwatch = false
	c.parking.wait = wait
	if len(c.held) == 0 {
		c.fresh = true
	}
}

// answer marks that the head of a request was read. Its body may be to come.
func (c *targetConn) answer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unwatch = !c.control
}

func (c *targetConn) take() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.original, c.replaced
	c.original, c.replaced = "", false
	return t, ok
}

// Read implements net.Conn.
func (c *targetConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	if len(p) == 1 && c.unwatch {
		// Nearly always the watching. Should it be the last byte of net/http's buffer,
		// that asks again, and gets it.
		c.unwatch = false
		c.mu.Unlock()
		return 0, nil
	}
	if n, ok := c.give(p); ok {
		c.mu.Unlock()
		return n, nil
	}
	fresh, park := c.fresh, c.mayPark(p)
	c.mu.Unlock()
	if !fresh {
		return c.receive(p, false)
	}
	return c.readLine(p, park)
}

// give hands on what is held and checked.
func (c *targetConn) give(p []byte) (int, bool) {
	if !c.ready || len(c.held) == 0 {
		return 0, false
	}
	n := copy(p, c.held)
	if c.held = c.held[n:]; len(c.held) == 0 {
		c.held, c.ready = nil, false
	}
	return n, true
}

// readLine reads until the request line is whole, checks it, and gives it on.
// An error (a deadline that net/http sets to stop its watching, too) keeps what
// is held for the next Read.
func (c *targetConn) readLine(p []byte, park bool) (int, error) {
	buf := p
	if len(buf) < 512 {
		buf = make([]byte, 4096)
	}
	for {
		n, err := c.receive(buf, park)
		park = false
		c.mu.Lock()
		if len(c.held) == 0 && n > 0 && len(buf) == len(p) && lineIsFine(buf[:n]) {
			c.fresh, c.control = false, asksControl(buf[:n])
			c.mu.Unlock()
			return n, err
		}
		c.held = append(c.held, buf[:n]...)
		if end := bytes.IndexByte(c.held, '\n'); end >= 0 || len(c.held) > maxRequestLine || err != nil && !isTimeout(err) {
			if end >= 0 {
				c.mend(end)
			}
			c.fresh, c.ready, c.control = false, true, asksControl(c.held)
			if given, ok := c.give(p); ok {
				c.mu.Unlock()
				return given, nil
			}
		}
		c.mu.Unlock()
		if err != nil {
			return 0, err
		}
	}
}

func isTimeout(err error) bool {
	ne, ok := err.(net.Error)
	return ok && ne.Timeout()
}

// lineIsFine reports whether b begins with a whole request line whose target
// net/http parses. Plain targets, nearly all, are told without parsing.
func lineIsFine(b []byte) bool {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return false
	}
	from, to, ok := targetOf(b[:end])
	return !ok || parses(b[from:to])
}

// asksControl reports whether a request line asks for a control endpoint.
func asksControl(line []byte) bool {
	from := bytes.IndexByte(line, ' ') + 1
	return bytes.HasPrefix(line[from:], []byte(AdminPrefix))
}

// targetOf finds the target of a request line between its first and its last
// space.
func targetOf(line []byte) (from, to int, ok bool) {
	from = bytes.IndexByte(line, ' ') + 1
	to = bytes.LastIndexByte(line, ' ')
	return from, to, from > 0 && to > from
}

func parses(target []byte) bool {
	plain := len(target) > 0 && target[0] == '/'
	for _, c := range target {
		plain = plain && c > ' ' && c < 0x7F && c != '%'
	}
	if plain {
		return true
	}
	_, err := url.ParseRequestURI(string(target))
	return err == nil && bytes.IndexByte(target, ' ') < 0
}

// mend replaces the target of the held request line when net/http would refuse
// it.
func (c *targetConn) mend(end int) {
	from, to, ok := targetOf(c.held[:end])
	if !ok || parses(c.held[from:to]) || bytes.HasPrefix(c.held, []byte("CONNECT ")) {
		return
	}
	c.original, c.replaced = string(c.held[from:to]), true
	rest := append([]byte(placeholder), c.held[to:]...)
	c.held = append(c.held[:from:from], rest...)
}

// watch closes gone when the client goes, until stop is called, of a connection
// whose request is being answered. What the client sends meanwhile is kept.
func (c *targetConn) watch() (gone chan struct{}, stop func()) {
	gone, done := make(chan struct{}), make(chan struct{})
	c.mu.Lock()
	ahead := len(c.held) > 0 // and it is not read over
	c.mu.Unlock()
	if ahead {
		return gone, func() {}
	}
	go func() {
		defer close(done)
		b := make([]byte, 1)
		n, err := c.receive(b, false)
		c.mu.Lock()
		defer c.mu.Unlock()
		if n > 0 {
			c.held, c.ready = b, true
		} else if err != nil && !isTimeout(err) {
			close(gone)
		}
	}()
	return gone, func() {
		c.mu.Lock()
		deadline := c.deadline
		c.mu.Unlock()
		_ = c.SetReadDeadline(time.Unix(1, 0)) // ends the read
		<-done
		_ = c.SetReadDeadline(deadline)
	}
}
