package recorder

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// replay answers from the tape; false means that the request shall go out.
func (p *Proxy) replay(w http.ResponseWriter, req *http.Request) bool {
	_, text := p.address(requestURI(req))
	asked := req.Clone(req.Context())
	asked.RequestURI, asked.Host = "", p.opts.Target.Host
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	asked.URL = u
	body := &replayBody{}
	if req.ContentLength != 0 {
		// Once the tape has looked at the body it must still be there to be sent.
		if body.text, err = io.ReadAll(req.Body); err != nil {
			refuse(w, http.StatusBadRequest, "cannot read the request's body: "+err.Error())
			return true
		}
		asked.Body, asked.ContentLength = body.reader(), int64(len(body.text))
	} else {
		asked.Body = http.NoBody
	}
	resp, err := p.opts.Replay.RoundTrip(asked)
	switch {
	case errors.Is(err, ErrMiss) && !p.opts.Closed:
		req.Body, req.ContentLength = body.reader(), int64(len(body.text))
		return false
	case errors.Is(err, ErrMiss):
		w.Header().Set("X-Anvil-Miss", strings.SplitN(err.Error(), "\n", 2)[0])
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return true
	case err != nil:
		kind, reason := failure(err)
		w.Header().Set("X-Anvil-Upstream-Error", kind)
		refuse(w, failureStatus(kind), "recorded: "+reason)
		return true
	}
	defer resp.Body.Close()
	p.played(w, req, resp)
	return true
}

type replayBody struct{ text []byte }

func (b *replayBody) reader() io.ReadCloser { return io.NopCloser(strings.NewReader(string(b.text))) }

// played passes a recorded answer on.
func (p *Proxy) played(w http.ResponseWriter, req *http.Request, resp *http.Response) {
	h := endToEnd(resp.Header)
	p.toClient(h, "http://"+req.Host)
	setHeader(w.Header(), h, resp, req)
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // it broke off when it was recorded, or the client left
	}
	setTrailer(w.Header(), resp.Trailer)
}
