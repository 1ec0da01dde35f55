package replayer

import (
	"bufio"
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/replayer/tape"
)

// write plays a recorded answer; false ends the connection after it.
func (c *serverConn) write(it *tape.Interaction, req *http.Request, keep bool) bool {
	r := &it.Response
	body, err := r.Wire()
	if err != nil {
		body = r.Body
	}
	w := c.out
	reason := r.Reason
	if reason == "" {
		reason = http.StatusText(r.Status)
	}
	if req.ProtoAtLeast(1, 1) {
		early(w, r.Early)
	}
	_, _ = w.WriteString("HTTP/1.1 " + strconv.Itoa(r.Status) + " " + oneLine(reason) + "\r\n")
	f := frame(r, body, req)
	if it.Failure != nil {
		f.breakOff(r, len(body))
	}
	closes := c.fields(r, f)
	keep = keep && !closes && !f.toEnd
	if !keep && !closes && !f.breaks {
		_, _ = w.WriteString("Connection: close\r\n")
	}
	_, _ = w.WriteString("\r\n")
	if f.none {
		return keep
	}
	return c.body(r, body, f) && keep
}

// fields writes the header as recorded, but for the framing; closes is that the
// recorded connection ended after it.
func (c *serverConn) fields(r *tape.Response, f framing) (closes bool) {
	w := c.out
	for _, h := range r.Header {
		if !token(h.Name) {
			continue
		}
		switch strings.ToLower(h.Name) {
		case "transfer-encoding", "keep-alive", "proxy-connection", "trailer", "upgrade":
			continue // the connection's own
		case "connection":
			closes = closes || strings.EqualFold(h.Value, "close")
			if !closes && !strings.EqualFold(h.Value, "keep-alive") {
				continue
			}
		case "content-length":
			if f.length == "" {
				continue
			}
			h.Value = f.length
		}
		_, _ = w.WriteString(h.Name + ": " + oneLine(h.Value) + "\r\n")
	}
	if f.chunked {
		_, _ = w.WriteString("Transfer-Encoding: chunked\r\n")
	}
	for _, t := range r.Trailer {
		if f.chunked && token(t.Name) {
			_, _ = w.WriteString("Trailer: " + t.Name + "\r\n")
		}
	}
	return closes
}

// early writes the 1xx answers; 100 is the server's own, 101 would not be one.
func early(w *bufio.Writer, list []tape.Early) {
	for _, e := range list {
		if e.Status < 102 || e.Status > 199 {
			continue
		}
		_, _ = w.WriteString("HTTP/1.1 " + strconv.Itoa(e.Status) + " " + http.StatusText(e.Status) + "\r\n")
		for _, h := range e.Header {
			if token(h.Name) {
				_, _ = w.WriteString(h.Name + ": " + oneLine(h.Value) + "\r\n")
			}
		}
		_, _ = w.WriteString("\r\n")
	}
}

// A framing is how a body stands on the connection.
type framing struct {
	none    bool   // no body follows
	chunked bool   //
	toEnd   bool   // it ends with the connection
	length  string // value of Content-Length, "" for none
	breaks  bool   // the connection ends before the body does
}

// breakOff makes the framing promise more than there is.
func (f *framing) breakOff(r *tape.Response, size int) {
	f.breaks = true
	if f.length == "" {
		return
	}
	if f.length = r.Header.Get("Content-Length"); !longer(f.length, size) {
		f.length = strconv.Itoa(size + 1)
	}
}

func longer(length string, size int) bool {
	n, err := strconv.Atoi(length)
	return err == nil && n > size
}

// frame keeps the recorded framing as far as it is still true.
func frame(r *tape.Response, body []byte, req *http.Request) framing {
	recorded := r.Header.Get("Content-Length")
	switch {
	case req.Method == http.MethodHead, r.Status == http.StatusNotModified:
		return framing{none: true, length: recorded}
	case r.Status == http.StatusNoContent:
		return framing{none: true}
	case r.Header.Has("Content-Length") && len(r.Trailer) == 0:
		return framing{length: strconv.Itoa(len(body))}
	case req.ProtoAtLeast(1, 1):
		return framing{chunked: true}
	}
	return framing{toEnd: true}
}

// body writes a body, an event or a line at a time where it is a stream.
func (c *serverConn) body(r *tape.Response, body []byte, f framing) bool {
	if !f.chunked {
		_, err := c.out.Write(body)
		return err == nil && !f.breaks
	}
	for _, chunk := range chunks(r, body) {
		_, _ = c.out.WriteString(strconv.FormatInt(int64(len(chunk)), 16) + "\r\n")
		_, _ = c.out.Write(chunk)
		_, _ = c.out.WriteString("\r\n")
		if c.out.Flush() != nil {
			return false
		}
	}
	if f.breaks {
		return false
	}
	_, _ = c.out.WriteString("0\r\n")
	for _, t := range r.Trailer {
		if token(t.Name) {
			_, _ = c.out.WriteString(t.Name + ": " + oneLine(t.Value) + "\r\n")
		}
	}
	_, err := c.out.WriteString("\r\n")
	return err == nil
}

// chunks cuts a stream into what its sender wrote at once: as it was recorded, else
// the events of an event stream, the lines of JSON lines. Any other body is one
// chunk.
func chunks(r *tape.Response, body []byte) [][]byte {
	h := r.Header
	if len(r.Chunks) > 0 && !h.Has("Content-Encoding") {
		return pieces(body, r.Chunks)
	}
	media := strings.ToLower(strings.TrimSpace(strings.Split(h.Get("Content-Type"), ";")[0]))
	ends := []string{}
	switch {
	case len(body) == 0:
		return nil
	case h.Has("Content-Encoding"):
	case media == "text/event-stream" || r.Stream:
		ends = []string{"\n\n", "\r\n\r\n", "\r\r"}
	case media == "application/x-ndjson" || media == "application/jsonl":
		ends = []string{"\n"}
	}
	var list [][]byte
	for len(body) > 0 && len(ends) > 0 {
		cut := -1
		for _, e := range ends {
			if i := bytes.Index(body, []byte(e)); i >= 0 && (cut < 0 || i+len(e) < cut) {
				cut = i + len(e)
			}
		}
		if cut < 0 {
			break
		}
		list = append(list, body[:cut:cut])
		body = body[cut:]
	}
	if len(body) > 0 {
		list = append(list, body)
	}
	return list
}

// pieces cuts a body into sizes; what is left over is a piece of its own.
func pieces(body []byte, sizes []int) (list [][]byte) {
	for _, n := range sizes {
		if n = min(n, len(body)); n > 0 {
			list = append(list, body[:n:n])
			body = body[n:]
		}
	}
	if len(body) > 0 {
		list = append(list, body)
	}
	return list
}

// token reports whether a name can stand in a header.
func token(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r > 0x7E || r <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// oneLine keeps a value from ending its line.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n\x00") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == 0 {
			return ' '
		}
		return r
	}, s)
}
