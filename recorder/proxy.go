package recorder

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/anvil-sim/anvil/internal/crowd"
	"github.com/anvil-sim/anvil/recorder/vcr"
)

// ErrMiss says that a tape holds no answer to a request.
var ErrMiss = errors.New("the tape holds no such request")

// ProxyOptions say where a proxy forwards to.
type ProxyOptions struct {
	// Target is the API: http or https, a host, perhaps a base path that is put before
	// each request's path. Required.
	Target *url.URL
	// Replay is asked before a request goes out; an error that wraps ErrMiss lets it go
	// out, unless Closed is set. Nil is never asked. This makes auto and replay.
	Replay http.RoundTripper
	// Closed lets nothing go out: a miss is answered 503 with X-Anvil-Miss.
	Closed bool
	// Timeout bounds connecting, and the wait for an answer's header. 0 is no bound.
	Timeout time.Duration
	// TLS are further settings for targets with https; nil is the system's.
	TLS *tls.Config
	// Via finds a proxy on the way to the target, as http.Transport.Proxy does.
	Via func(*http.Request) (*url.URL, error)
	// RewriteBodies rewrites links to the target in JSON, XML and text on their way to
	// the client, whose answer then comes without content coding. Without it such
	// bodies pass unchanged and are counted in Proxy.Links.
	RewriteBodies bool
	// MaxConns is how many connections of clients may be open; 0 is any number. Each
	// may want another one to the target. Idle ones make room for new ones, those that
	// are idle for longest first; where none is idle, new ones wait.
	MaxConns int
	// ErrorLog gets what goes wrong with connections; nil is the standard logger.
	ErrorLog *log.Logger
}

// A Proxy forwards requests to a target and records the exchanges. The client's
// side is plain HTTP, on which the target's side is mirrored: streams are passed on
// as they come, 1xx answers and trailers too. Links to the target in the headers of
// answers are rewritten to lead to the proxy; the tape keeps the original.
type Proxy struct {
	rec    *Recorder
	opts   ProxyOptions
	base   string // the target's path, without a slash at its end
	origin string // scheme, host and base
	client http.RoundTripper
	close  func()
	links  counter
	busy   sync.WaitGroup
}

// NewProxy makes a proxy; the error says what is wrong with the target.
func NewProxy(rec *Recorder, opts ProxyOptions) (*Proxy, error) {
	t := opts.Target
	switch {
	case t == nil || t.Host == "" || t.Scheme != "http" && t.Scheme != "https":
		return nil, fmt.Errorf("the target is %q, want a URL with http or https and a host, such as https://api.example.com", fmt.Sprint(t))
	case t.RawQuery != "" || t.Fragment != "" || t.User != nil:
		return nil, errors.New("the target has a query, a fragment or a user, want scheme, host and perhaps a path")
	}
	base := strings.TrimSuffix(t.EscapedPath(), "/")
	client := upstream(&opts)
	return &Proxy{rec: rec, opts: opts, base: base, origin: t.Scheme + "://" + t.Host + base, client: client, close: client.CloseIdleConnections}, nil
}

// Links is how many answers had links to the target in a body that was not
// rewritten: a client that follows one goes past the recorder.
func (p *Proxy) Links() int { return p.links.value() }

// Serve answers on a listener until ctx ends; exchanges that are under way then have
// grace to end.
func (p *Proxy) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	bounded := crowd.Listen(l, &crowd.Options{
		Most: p.opts.MaxConns,
		Say:  func(text string) { cmp.Or(p.opts.ErrorLog, log.Default()).Print(text) },
	})
	srv := &http.Server{
		Handler: bounded.Rotate(p), ConnContext: withConn, ConnState: crowd.NoteState, Protocols: &protocols,
		ReadHeaderTimeout: time.Minute, ErrorLog: p.opts.ErrorLog,
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(headListener{bounded}) }()
	defer p.close()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := srv.Shutdown(wait)
	if err != nil {
		err = srv.Close() // streams do not end by themselves
	}
	p.busy.Wait() // what they kept goes to the tape
	return err
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p.busy.Add(1)
	defer p.busy.Done()
	if req.Method == http.MethodConnect {
		refuse(w, http.StatusNotImplemented, "this is a proxy for one target, not for CONNECT: use its URL as the API's base URL")
		return
	}
	if p.opts.Replay != nil && p.replay(w, req) {
		return
	}
	p.forward(w, req)
}

// refuse answers by the proxy itself, in a way that no API does.
func refuse(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Anvil-Recorder", "this answer is not the target's")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "anvil-sim record: "+text+"\n")
}

// forward does one exchange with the target.
func (p *Proxy) forward(w http.ResponseWriter, req *http.Request) {
	self := "http://" + req.Host
	address, text := p.address(requestURI(req))
	x := p.rec.begin(req.Method, text, req.Header)
	conn, _ := req.Context().Value(connKey{}).(*headConn)
	if conn != nil && req.ProtoMajor == 1 {
		x.names = odd(conn.names(), x.header)
		defer conn.reset()
	}
	out := p.outgoing(x, req, address, self)
	trace := &informational{p: p, x: x, w: w, self: self}
	out = out.WithContext(httptrace.WithClientTrace(req.Context(), trace.hooks()))
	resp, err := p.client.RoundTrip(out)
	if err != nil {
		p.failed(w, req, x, err)
		return
	}
	defer resp.Body.Close()
	x.resp = snapshot(resp)
	if trace.conn != nil && resp.ProtoMajor == 1 {
		x.respNames = odd(trace.conn.names(), endToEnd(resp.Header))
	}
	p.answer(w, req, x, resp, self)
}

// requestURI is the target as the client spelled it, without an origin.
func requestURI(req *http.Request) string {
	uri := req.RequestURI
	if i := strings.Index(uri, "://"); i > 0 && !strings.HasPrefix(uri, "/") {
		uri = uri[i+3:]
		if k := strings.IndexAny(uri, "/?"); k >= 0 {
			uri = uri[k:]
		} else {
			uri = "/"
		}
	}
	if !strings.HasPrefix(uri, "/") {
		uri = "/" + uri
	}
	return uri
}

func (p *Proxy) outgoing(x *exchange, req *http.Request, address *url.URL, self string) *http.Request {
	h := endToEnd(req.Header)
	p.toTarget(h, self)
	x.header = h.Clone()
	if _, ok := h["User-Agent"]; !ok {
		h.Set("User-Agent", "") // or net/http adds its own
	}
	out := &http.Request{Method: req.Method, URL: address, Host: p.opts.Target.Host, Header: spelled(h, x.names), ContentLength: req.ContentLength, Body: http.NoBody, Trailer: req.Trailer}
	if req.ContentLength != 0 {
		out.Body = x.sent(req.Body, req.Trailer)
	}
	if te := req.Header.Get("Te"); strings.Contains(te, "trailers") {
		out.Header.Set("Te", "trailers")
	}
	return out
}

// failed answers for a target that did not.
func (p *Proxy) failed(w http.ResponseWriter, req *http.Request, x *exchange, err error) {
	if req.Context().Err() != nil {
		x.left = true
		_ = x.finish()
		return
	}
	x.failure = err
	_ = x.finish() // what went wrong was told to Warn
	kind, text := failure(err)
	w.Header().Set("X-Anvil-Upstream-Error", kind)
	refuse(w, failureStatus(kind), "no answer from "+p.opts.Target.Host+": "+text)
}

// failureStatus is what the client gets for a kind of failure.
func failureStatus(kind string) int {
	if kind == "timeout" {
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

// informational passes 1xx answers on, and notes the connection.
type informational struct {
	p    *Proxy
	x    *exchange
	w    http.ResponseWriter
	self string
	conn *headConn
}

func (i *informational) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if i.conn, _ = info.Conn.(*headConn); i.conn != nil {
				i.conn.reset()
			}
		},
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			if code == http.StatusContinue || code == http.StatusSwitchingProtocols {
				return nil // the server of the client's side says that by itself
			}
			kept := endToEnd(http.Header(header))
			i.x.informational = append(i.x.informational, vcr.Informational{Code: code, Header: kept})
			sent := kept.Clone()
			i.p.toClient(sent, i.self)
			h := i.w.Header()
			for k, v := range sent {
				h[k] = v
			}
			i.w.WriteHeader(code)
			clear(h)
			return nil
		},
	}
}
