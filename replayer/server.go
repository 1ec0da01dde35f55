package replayer

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anvil-sim/anvil/internal/crowd"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// ServerOptions change how a [Server] works; the zero value is ready to use.
type ServerOptions struct {
	// Timing waits as long as the recorded exchange took before it answers.
	Timing bool
	// MaxBody is the longest request body in bytes; a longer one is a 413. 0 is
	// 1 GiB.
	MaxBody int64
	// MaxConns is how many connections may be open; 0 is any number. Idle ones make
	// room for new ones, those that are idle for longest first; where none is idle,
	// new ones wait.
	MaxConns int
	// ErrorLog is told when connections begin to make room; nil is the standard logger.
	ErrorLog *log.Logger
}

// A Server plays a recording over HTTP/1.1: status and reason, header fields in
// their order and case, body and trailers as recorded, server-sent events and
// lines of JSON one by one. Framing is the connection's own: a body whose
// recording has no Content-Length is sent in chunks. A recorded failure ends the
// connection without an answer.
//
// A miss is a 503 with the header X-Anvil-Miss, whose value is the reason, and a
// JSON body {"error": {"code": "anvil_miss", "message"}, "miss": {...}}.
type Server struct {
	player   *Player
	opts     ServerOptions
	listener *crowd.Listener
	writers  sync.Pool // of *bufio.Writer, which idle connections do without

	mu    sync.Mutex
	conns map[*serverConn]bool // true while a request is being answered
	done  bool
}

const (
	maxHead        = 1 << 20
	defaultMaxBody = 1 << 30
	shutdownGrace  = 5 * time.Second
)

// Listen binds an address, such as 127.0.0.1:0. Nil options are the zero value.
func Listen(ctx context.Context, addr string, p *Player, o *ServerOptions) (*Server, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	s := &Server{player: p, conns: map[*serverConn]bool{}}
	if o != nil {
		s.opts = *o
	}
	s.listener = crowd.Listen(l, &crowd.Options{
		Most: s.opts.MaxConns,
		Say:  func(text string) { cmp.Or(s.opts.ErrorLog, log.Default()).Print(text) },
	})
	if s.opts.MaxBody == 0 {
		s.opts.MaxBody = defaultMaxBody
	}
	return s, nil
}

// URL is where the server answers.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Serve answers until ctx ends: idle connections are closed then, and requests
// that are being answered have five seconds to end. The error is the listener's.
func (s *Server) Serve(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	ended := context.AfterFunc(ctx, func() { _ = s.listener.Close() })
	defer ended()
	var failed error
	for {
		c, err := s.listener.Accept()
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
				failed = fmt.Errorf("accept connections: %w", err)
			}
			break
		}
		sc := s.open(c)
		if sc == nil {
			continue
		}
		wg.Go(func() {
			defer s.forget(sc)
			sc.run(running)
		})
	}
	s.drain(&wg)
	return failed
}

// Close stops listening; [Server.Serve] then returns.
func (s *Server) Close() error { return s.listener.Close() }

func (s *Server) open(c net.Conn) *serverConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		_ = c.Close()
		return nil
	}
	sc := &serverConn{server: s, conn: c, limit: &io.LimitedReader{R: c}}
	sc.in = bufio.NewReader(sc.limit)
	s.conns[sc] = false
	return sc
}

func (s *Server) forget(sc *serverConn) {
	_ = sc.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, sc)
}

// busy notes whether a connection answers a request; false tells it to end.
func (s *Server) busy(sc *serverConn, busy bool) bool {
	if member := crowd.Of(sc.conn); busy {
		member.Busy()
	} else {
		member.Idle()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[sc] = busy
	return !s.done
}

func (s *Server) drain(wg *sync.WaitGroup) {
	s.closeConns(false)
	all := make(chan struct{})
	go func() { wg.Wait(); close(all) }()
	timer := time.NewTimer(shutdownGrace)
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
		s.closeConns(true)
		<-all
	}
}

func (s *Server) closeConns(busyToo bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	for sc, busy := range s.conns {
		if !busy || busyToo {
			_ = sc.conn.Close()
		}
	}
}

// A serverConn is one connection.
type serverConn struct {
	server *Server
	conn   net.Conn
	limit  *io.LimitedReader
	in     *bufio.Reader
	out    *bufio.Writer // while something is answered
}

// begin gets a writer, and end sends what it holds and gives it back.
func (c *serverConn) begin() {
	if c.out, _ = c.server.writers.Get().(*bufio.Writer); c.out == nil {
		c.out = bufio.NewWriterSize(nil, 32<<10)
	}
	c.out.Reset(c.conn)
}

func (c *serverConn) end() error {
	err := c.out.Flush()
	c.out.Reset(nil)
	c.server.writers.Put(c.out)
	c.out = nil
	return err
}

// run answers the requests of a connection one after the other.
func (c *serverConn) run(ctx context.Context) {
	for {
		c.limit.N = maxHead
		req, err := http.ReadRequest(c.in)
		if err != nil {
			c.refuse(err)
			return
		}
		c.limit.N = math.MaxInt64
		if !c.server.busy(c, true) {
			return
		}
		c.begin()
		keep := c.answer(ctx, req)
		if err := c.end(); err != nil || !keep || !c.server.busy(c, false) {
			return
		}
	}
}

// refuse answers what is no request; a connection that simply ended gets nothing.
func (c *serverConn) refuse(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) && c.limit.N > 0 {
		return
	}
	var ne net.Error
	if errors.As(err, &ne) {
		return
	}
	c.begin()
	c.plain(http.StatusBadRequest, "", "bad_request", "the request cannot be read: "+err.Error(), nil, true)
	_ = c.end()
}

// answer answers one request; false ends the connection.
func (c *serverConn) answer(ctx context.Context, req *http.Request) (keep bool) {
	if strings.EqualFold(req.Header.Get("Expect"), "100-continue") {
		_, _ = c.out.WriteString("HTTP/1.1 100 Continue\r\n\r\n")
		if c.out.Flush() != nil {
			return false
		}
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, c.server.opts.MaxBody+1))
	switch {
	case err != nil:
		return false
	case int64(len(body)) > c.server.opts.MaxBody:
		c.plain(http.StatusRequestEntityTooLarge, "", "too_large", fmt.Sprintf("the body is longer than %d bytes", c.server.opts.MaxBody), nil, true)
		return false
	}
	keep = req.ProtoAtLeast(1, 1) && !req.Close && !c.server.listener.Pressed()
	it, err := c.server.player.Answer(&tape.Request{Method: req.Method, URL: req.RequestURI, Header: fromHTTP(req.Header), Body: body})
	var miss *Miss
	if errors.As(err, &miss) {
		c.plain(http.StatusServiceUnavailable, string(miss.Reason), "anvil_miss", miss.Error(), miss, !keep)
		return keep
	}
	if c.server.opts.Timing && !wait(ctx, it.Response.Duration) {
		return false
	}
	if it.Failure != nil && !(it.BrokeOff() && req.ProtoAtLeast(1, 1) && req.Method != http.MethodHead) {
		c.abort()
		return false
	}
	return c.write(it, req, keep)
}

// wait waits for a recorded time; false when ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// abort ends a connection so that the client sees a failure and no end of file.
func (c *serverConn) abort() {
	if t, ok := crowd.Of(c.conn).NetConn().(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.conn.Close()
}

// plain writes an answer of the server's own.
func (c *serverConn) plain(status int, missed, code, message string, miss *Miss, last bool) {
	body := appendKey([]byte(`{"error":{`), "code", code)
	body = appendKey(append(body, ','), "message", message)
	body = append(body, '}')
	if miss != nil {
		body = miss.AppendJSON(append(body, `,"miss":`...))
	}
	body = append(body, '}')
	fmt.Fprintf(c.out, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", status, http.StatusText(status), len(body))
	if missed != "" {
		fmt.Fprintf(c.out, "X-Anvil-Miss: %s\r\n", missed)
	}
	if last {
		_, _ = c.out.WriteString("Connection: close\r\n")
	}
	_, _ = c.out.WriteString("\r\n")
	_, _ = c.out.Write(body)
}

// fromHTTP is a header of net/http as a tape has it, names sorted.
func fromHTTP(h http.Header) tape.Header {
	var out tape.Header
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			out = append(out, tape.Field{Name: name, Value: v})
		}
	}
	return out
}
