package recorder

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/anvil-sim/anvil/internal/coding"
)

// A counter counts from several goroutines.
type counter struct{ n atomic.Int64 }

func (c *counter) add()       { c.n.Add(1) }
func (c *counter) value() int { return int(c.n.Load()) }

// answer passes the target's answer on. The exchange is on the tape before the
// client can know that the answer is over.
func (p *Proxy) answer(w http.ResponseWriter, req *http.Request, x *exchange, resp *http.Response, self string) {
	h := endToEnd(resp.Header)
	p.toClient(h, self)
	rewrite := p.opts.RewriteBodies && rewritable(h) && req.Method != http.MethodHead
	names, known := coding.Names(h.Values("Content-Encoding"))
	if rewrite = rewrite && known; rewrite {
		h.Del("Content-Encoding")
		h.Del("Content-Length")
	}
	setHeader(w.Header(), spelled(h, x.respNames), resp, req)
	declared := resp.ContentLength
	if req.Method == http.MethodHead || declared == 0 || bodyless(resp.StatusCode) {
		if !p.whole(x, resp, nil) {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(resp.StatusCode)
		return
	}
	w.WriteHeader(resp.StatusCode)
	c := http.NewResponseController(w)
	flush := func() { _ = c.Flush() }
	if declared < 0 {
		flush()
	}
	if rewrite {
		p.rewritten(w, x, resp, names, self, flush)
		return
	}
	spot := &linkSpotter{what: []byte(p.opts.Target.Scheme + "://" + p.opts.Target.Host)}
	if !rewritable(h) || len(names) > 0 {
		spot.seen = true // not looked at
	}
	looked := spot.seen
	last, err := p.pass(w, x, resp.Body, declared, spot, flush)
	if !looked && spot.seen {
		p.links.add()
	}
	if p.whole(x, resp, err) {
		_, _ = w.Write(last)
		setTrailer(w.Header(), resp.Trailer)
		return
	}
	panic(http.ErrAbortHandler) // the client sees a broken answer, as the recorder did
}

func bodyless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified || status < 200
}

// setHeader makes the answer's header the target's, nothing added. HTTP/1.1 has
// trailers behind chunks alone: there an answer with one goes without its length,
// which HTTP/2 has beside it.
func setHeader(to, from http.Header, resp *http.Response, req *http.Request) {
	for name, values := range from {
		to[name] = values
	}
	for _, name := range []string{"Date", "Content-Type"} {
		if _, ok := resp.Header[name]; !ok {
			to[name] = nil // net/http would make one up
		}
	}
	for name := range resp.Trailer {
		to.Add("Trailer", name)
	}
	if len(resp.Trailer) > 0 && req.ProtoMajor == 1 && req.ProtoMinor > 0 && req.Method != http.MethodHead {
		to.Del("Content-Length")
	}
}

func setTrailer(to, trailer http.Header) {
	for name, values := range trailer {
		to[http.TrailerPrefix+name] = values
		delete(to, name)
	}
}

// errClient says that the client is gone.
var errClient = errors.New("the client left")

// pass copies a body as it comes. The last byte of a declared length is returned
// and not written: with it the client knows that the answer is over.
func (p *Proxy) pass(w io.Writer, x *exchange, body io.Reader, declared int64, spot *linkSpotter, flush func()) (last []byte, err error) {
	buf := make([]byte, 32<<10)
	for total := int64(0); ; {
		n, err := body.Read(buf)
		if n > 0 {
			_, _ = x.respBody.Write(buf[:n])
			x.pieces.came(n, n == len(buf))
			spot.look(buf[:n])
			total += int64(n)
			part := buf[:n]
			if total == declared {
				last = []byte{part[n-1]}
				part = part[:n-1]
			}
			if _, err := w.Write(part); err != nil {
				return nil, errClient
			}
			if n < len(buf) && total != declared {
				flush() // the target has sent no more yet
			}
		}
		if err != nil {
			return last, err
		}
	}
}

// rewritten passes a body on without content coding and with its links changed.
func (p *Proxy) rewritten(w io.Writer, x *exchange, resp *http.Response, names []string, self string, flush func()) {
	src, done, err := coding.NewReader(io.TeeReader(resp.Body, x.respBody), names)
	defer done()
	if err == nil {
		links := newLinkWriter(w, p.origin, self)
		if _, err = p.pass(links, &exchange{respBody: &spool{room: &spoolRoom{}}}, src, -1, &linkSpotter{seen: true}, flush); errors.Is(err, io.EOF) {
			// A decoder may stop before the end of what it decodes.
			if _, err = io.Copy(x.respBody, resp.Body); err == nil {
				err = io.EOF
			}
			if links.flush() != nil {
				err = errClient
			}
		}
	}
	if !p.whole(x, resp, err) {
		panic(http.ErrAbortHandler)
	}
}

// whole puts the exchange on the tape and tells whether the answer was whole; nil
// and io.EOF say that it came to its end.
func (p *Proxy) whole(x *exchange, resp *http.Response, err error) bool {
	x.resp.Trailer = resp.Trailer
	switch {
	case err == nil, errors.Is(err, io.EOF):
		_ = x.finish() // why it was not written was told to Warn
		return true
	case errors.Is(err, errClient), resp.Request != nil && resp.Request.Context().Err() != nil:
		x.left = true
	default:
		x.failure = err
	}
	_ = x.finish()
	return false
}
