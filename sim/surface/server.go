package surface

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/anvil-sim/anvil/internal/crowd"
)

// Limits of a connection. A simulator's clients are tests: generous, but a
// stuck client must not hold a connection for ever.
const (
	headerTimeout  = 30 * time.Second
	idleTimeout    = 5 * time.Minute
	bodyTimeout    = 5 * time.Minute // for a request to be whole
	stuckTimeout   = 5 * time.Minute // for a client to take a part of its answer
	maxHeaderBytes = 1 << 20
	drainTimeout   = 5 * time.Second // for calls to finish by themselves
	answerTimeout  = 2 * time.Second // for calls that were ended to be answered
)

// A Server is a listening [Handler].
type Server struct {
	listener net.Listener
	http     *http.Server
	tls      bool
	stop     func() // ends the calls in flight
}

// callsKey is where a request's context has the context of its server's calls.
type callsKey struct{}

// callContext is the context of a call: it outlives the client, and ends when
// the server has waited long enough for its calls.
func callContext(ctx context.Context) context.Context {
	if calls, ok := ctx.Value(callsKey{}).(context.Context); ok {
		return calls
	}
	return context.WithoutCancel(ctx)
}

// ServerOptions configure a [Server]. The zero value serves plain HTTP.
type ServerOptions struct {
	ErrorLog *log.Logger // of connections; nil: the standard logger
	TLS      *tls.Config // serve HTTPS, HTTP/2 too; nil: plain HTTP
	// MaxConns is how many connections may be open; 0 is any number. Idle ones make
	// room for new ones, those that are idle for longest first. Where one waits for
	// room, connections end with their next answer.
	MaxConns int
	// CrowdLeft is called, in a goroutine of its own, when of many connections (64 at
	// least) no more than a quarter are left, or have asked in the last half second.
	// Nil: nobody is told.
	CrowdLeft func()
}

// noteState tells a connection and its crowd where net/http is with it.
func noteState(c net.Conn, state http.ConnState) {
	follow(c, state)
	crowd.NoteState(c, state)
}

// Listen binds addr ("127.0.0.1:0" picks a free port). The server answers once
// Serve runs.
func Listen(ctx context.Context, addr string, h http.Handler, opts *ServerOptions) (*Server, error) {
	if opts == nil {
		opts = &ServerOptions{}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	bounded := crowd.Listen(l, &crowd.Options{
		Most: opts.MaxConns, Left: opts.CrowdLeft,
		Say: func(text string) { cmp.Or(opts.ErrorLog, log.Default()).Print(text) },
	})
	config := opts.TLS
	if config != nil {
		config = withProtocols(config)
	}
	calls, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &Server{
		stop:     stop,
		listener: newListener(ctx, bounded, config.Clone()),
		tls:      opts.TLS != nil,
		http: &http.Server{
			Handler: bounded.Rotate(h), ErrorLog: opts.ErrorLog, TLSConfig: config,
			ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
			ConnState: noteState, ConnContext: withConn,
			BaseContext: func(net.Listener) context.Context { return context.WithValue(calls, callsKey{}, calls) },
		},
	}, nil
}

// URL is where the server answers, without a trailing slash.
func (s *Server) URL() string {
	addr := s.listener.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http://"
	if s.tls {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// Serve answers until ctx ends, then lets calls in flight finish for a few
// seconds. Those that still wait for the state are then answered with
// upstream_unavailable, and every connection is closed.
func (s *Server) Serve(ctx context.Context) error {
	defer s.stop()
	done := make(chan error, 1)
	go func() { done <- s.http.Serve(s.listener) }()
	select {
	case err := <-done:
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return err
	case <-ctx.Done():
	}
	err := s.drain(ctx, drainTimeout)
	if errors.Is(err, context.DeadlineExceeded) {
		s.stop()
		err = s.drain(ctx, answerTimeout)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		return served
	}
	return err
}

func (s *Server) drain(ctx context.Context, d time.Duration) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	defer cancel()
	return s.http.Shutdown(limited)
}

// Close stops listening, ends the calls in flight and closes every connection
// at once.
func (s *Server) Close() error {
	s.stop()
	return s.http.Close()
}
