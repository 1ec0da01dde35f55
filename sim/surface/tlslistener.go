package surface

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
)

// http2Protocol is how HTTP/2 is called in a TLS handshake.
const http2Protocol = "h2"

// withProtocols is the configuration with HTTP/2 and HTTP/1.1 offered, unless it
// says itself what to offer.
func withProtocols(config *tls.Config) *tls.Config {
	config = config.Clone()
	if config.NextProtos == nil {
		config.NextProtos = []string{http2Protocol, "http/1.1"}
	}
	return config
}

// A tlsListener accepts TLS connections whose handshake is done, since only then
// is it known who reads them: net/http reads an HTTP/2 connection by itself, and
// one of HTTP/1.1 through a [targetConn]. A handshake that failed is given on
// too: net/http logs it, and tells a client that speaks plain HTTP.
type tlsListener struct {
	net.Listener
	config *tls.Config

	running  sync.Once
	accepted chan accepted
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
}

type accepted struct {
	conn net.Conn
	err  error
}

func newTLSListener(ctx context.Context, l net.Listener, config *tls.Config) *tlsListener {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &tlsListener{Listener: l, config: config, accepted: make(chan accepted), ctx: ctx, stop: stop}
}

// Accept implements net.Listener.
func (l *tlsListener) Accept() (net.Conn, error) {
	l.running.Do(func() { go l.run() })
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Handshakes that are not done end.
func (l *tlsListener) Close() error {
	l.stop()
	return l.Listener.Close()
}

// run accepts until the listener is closed. A handshake takes as long as its
// client likes, so each has its own goroutine.
func (l *tlsListener) run() {
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			go l.shake(c)
			continue
		}
		l.give(accepted{err: err})
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

func (l *tlsListener) shake(c net.Conn) {
	conn := tls.Server(c, l.config)
	ctx, cancel := context.WithTimeout(l.ctx, headerTimeout)
	defer cancel()
	err := conn.HandshakeContext(ctx)
	if err == nil && conn.ConnectionState().NegotiatedProtocol != http2Protocol {
		l.give(accepted{conn: &targetConn{Conn: conn, tls: true, fresh: true}})
		return
	}
	l.give(accepted{conn: conn})
}

// give hands on what was accepted, or closes it when nobody accepts any more.
func (l *tlsListener) give(a accepted) {
	select {
	case l.accepted <- a:
	case <-l.ctx.Done():
		if a.conn != nil {
			_ = a.conn.Close()
		}
	}
}
