package surface

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"github.com/anvil-sim/anvil/internal/crowd"
)

// http2Protocol is how HTTP/2 is called in a TLS handshake.
const http2Protocol = "h2"

// parkAfter is how long a client says nothing before its connection is parked.
const parkAfter = 500 * time.Millisecond

// withProtocols is the configuration with HTTP/2 and HTTP/1.1 offered, unless it
// says itself what to offer.
func withProtocols(config *tls.Config) *tls.Config {
	config = config.Clone()
	if config.NextProtos == nil {
		config.NextProtos = []string{http2Protocol, "http/1.1"}
	}
	return config
}

// A listener gives net/http the connections that have something to say, those of
// HTTP/1.1 as a [targetConn].
//
// net/http holds 20 KB for each connection, its two buffers and a deep stack, also
// where nothing comes. So one whose client says nothing for a while is parked: to
// net/http it ends, and the listener keeps it. With its client's next byte net/http
// gets it anew.
//
// Of TLS only connections are given whose handshake is done, since only then is it
// known who reads them: net/http reads an HTTP/2 connection by itself. A handshake
// that failed is given on too: net/http logs it, and tells a client that speaks
// plain HTTP.
type listener struct {
	*crowd.Listener
	config *tls.Config // nil: no TLS

	running  sync.Once
	accepted chan accepted
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
}

type accepted struct {
	conn net.Conn
	err  error
}

func newListener(ctx context.Context, l *crowd.Listener, config *tls.Config) *listener {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &listener{Listener: l, config: config, accepted: make(chan accepted), ctx: ctx, stop: stop}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	l.running.Do(func() { go l.run() })
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Handshakes that are not done end, and parked
// connections.
func (l *listener) Close() error {
	l.stop()
	return l.Listener.Close()
}

// run accepts until the listener is closed. A handshake takes as long as its
// client likes, so each has its own goroutine.
func (l *listener) run() {
	for {
		c, err := l.Listener.Accept()
		switch {
		case err != nil:
			l.give(accepted{err: err})
			return
		case l.config == nil:
			l.give(accepted{conn: l.target(c)})
		default:
			go l.shake(c)
		}
	}
}

func (l *listener) shake(c net.Conn) {
	conn := tls.Server(c, l.config)
	ctx, cancel := context.WithTimeout(l.ctx, headerTimeout)
	defer cancel()
	err := conn.HandshakeContext(ctx)
	if err == nil && conn.ConnectionState().NegotiatedProtocol != http2Protocol {
		l.give(accepted{conn: l.target(conn)})
		return
	}
	l.give(accepted{conn: conn})
}

func (l *listener) target(c net.Conn) *targetConn {
	return &targetConn{Conn: c, tls: l.config != nil, fresh: true, home: l}
}

// give hands on what was accepted, or closes it when nobody accepts any more.
func (l *listener) give(a accepted) {
	select {
	case l.accepted <- a:
	case <-l.ctx.Done():
		if a.conn != nil {
			_ = a.conn.Close()
		}
	}
}

// park keeps a connection until its client says something, or until a deadline.
func (l *listener) park(c net.Conn, until time.Time) {
	if err := crowd.Of(c).Await(until); err != nil {
		_ = c.Close()
		return
	}
	l.give(accepted{conn: l.target(c)})
}

// A parking is what a connection knows to tell that its client is silent.
type parking struct {
	wait  time.Duration // from where the client may be silent to its deadline
	whole int           // the length of net/http's buffer, which is empty in the first read
	begun bool          // net/http was told that the connection ends
}

// mayPark reports whether the connection may be parked when a read into p gets
// nothing: there is nothing of a request yet, not in net/http's buffer either, all
// of which it asks for. It is of a caller that holds the lock.
func (c *targetConn) mayPark(p []byte) bool {
	if c.parking.whole == 0 {
		c.parking.whole = len(p)
	}
	return c.home != nil && c.fresh && len(c.held) == 0 && len(p) == c.parking.whole && c.parking.wait > 0 && !c.deadline.IsZero()
}

// Close implements net.Conn. A connection that is parked stays open.
func (c *targetConn) Close() error {
	c.mu.Lock()
	park, deadline := c.parking.begun && !c.closed, c.deadline
	again := c.parking.begun && c.closed
	c.closed = true
	c.mu.Unlock()
	switch {
	case again:
		return net.ErrClosed
	case park:
		go c.home.park(c.Conn, deadline)
		return nil
	}
	return c.Conn.Close()
}
