package replayer

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/replayer/tape"
)

// A Transport is an [http.RoundTripper] that answers from recordings and never
// goes out. Scheme and host take part in the match. A request that was not
// recorded is a *[Miss], a recorded failure a *[tape.Failure]; both come to the
// caller inside a *url.Error. It is safe for use by several goroutines.
//
// A body is given as net/http's own transport gives it: what it would have
// decoded, since the client did not ask for a coding itself, is plain.
type Transport struct{ player *Player }

// NewTransport reads the tapes into an index. Nil options are the zero value.
func NewTransport(tapes []*tape.Tape, o *Options) (*Transport, error) {
	p, err := newPlayer(tapes, o, true)
	if err != nil {
		return nil, err
	}
	return &Transport{p}, nil
}

// Stats say what was given and missed so far.
func (t *Transport) Stats() Stats { return t.player.Stats() }

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	it, err := t.player.Answer(&tape.Request{Method: method, URL: req.URL.String(), Header: fromHTTP(req.Header), Body: body})
	if err != nil {
		return nil, err
	}
	if it.Failure != nil && (!it.BrokeOff() || req.Method == http.MethodHead) {
		return nil, it.Failure
	}
	return response(it, req)
}

func response(it *tape.Interaction, req *http.Request) (*http.Response, error) {
	r := &it.Response
	reason := r.Reason
	if reason == "" {
		reason = http.StatusText(r.Status)
	}
	resp := &http.Response{
		Status: strings.TrimSpace(strconv.Itoa(r.Status) + " " + reason), StatusCode: r.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: toHTTP(r.Header), Trailer: toHTTP(r.Trailer), ContentLength: -1, Request: req,
	}
	resp.Header.Del("Transfer-Encoding")
	content, err := r.Wire()
	if err != nil {
		content = r.Body
	}
	if decodes(req) && strings.EqualFold(strings.TrimSpace(r.Header.Get("Content-Encoding")), "gzip") {
		if plain, err := r.Content(); err == nil {
			content = plain
			resp.Header.Del("Content-Encoding")
			resp.Header.Del("Content-Length")
			resp.Uncompressed = true
		}
	}
	if req.Method == http.MethodHead {
		content = nil
	} else if resp.Header.Get("Content-Length") != "" {
		resp.ContentLength = int64(len(content))
		resp.Header.Set("Content-Length", strconv.Itoa(len(content)))
	}
	resp.Body = io.NopCloser(bytes.NewReader(content))
	if it.Failure != nil {
		if length := r.Header.Get("Content-Length"); longer(length, len(content)) {
			resp.ContentLength, _ = strconv.ParseInt(length, 10, 64)
			resp.Header.Set("Content-Length", length)
		}
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(content), failing{it.Failure}))
	}
	return resp, nil
}

// failing is where a body broke off.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// decodes reports whether net/http's transport would have asked for gzip, and
// decoded it, on its own.
func decodes(req *http.Request) bool {
	return req.Header.Get("Accept-Encoding") == "" && req.Header.Get("Range") == "" && req.Method != http.MethodHead
}

func toHTTP(h tape.Header) http.Header {
	out := http.Header{}
	for _, f := range h {
		out.Add(f.Name, f.Value)
	}
	return out
}
