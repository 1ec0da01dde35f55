package recorder

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
)

// maxHead is how much of the start of a message is looked at for its header names.
const maxHead = 32 << 10

// A headConn remembers the start of what was read since the last reset: net/http
// spells header names its own way, the wire does not.
type headConn struct {
	net.Conn
	mu   sync.Mutex
	head []byte
}

// NetConn is the connection below, as of a tls.Conn.
func (c *headConn) NetConn() net.Conn { return c.Conn }

// Read implements net.Conn.
func (c *headConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	if room := maxHead - len(c.head); room > 0 {
		c.head = append(c.head, p[:min(n, room)]...)
	}
	c.mu.Unlock()
	return n, err
}

func (c *headConn) reset() {
	c.mu.Lock()
	c.head = c.head[:0]
	c.mu.Unlock()
}

// names lists the header names of the last message whose head was read, as they
// were spelled.
func (c *headConn) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := c.head
	for {
		head, after, ok := bytes.Cut(rest, []byte("\r\n\r\n"))
		if !ok {
			return nil
		}
		if bytes.HasPrefix(head, []byte("HTTP/1.1 1")) && !bytes.HasPrefix(head, []byte("HTTP/1.1 101")) {
			rest = after // an informational answer
			continue
		}
		var names []string
		lines := strings.Split(string(head), "\r\n")
		for _, line := range lines[1:] {
			if name, _, ok := strings.Cut(line, ":"); ok {
				names = append(names, name)
			}
		}
		return names
	}
}

// odd are the names that are spelled unlike net/http's, once each.
func odd(names []string, present http.Header) []string {
	var list []string
	seen := map[string]bool{}
	for _, n := range names {
		key := textproto.CanonicalMIMEHeaderKey(n)
		if _, ok := present[key]; ok && key != n && !seen[key] {
			seen[key] = true
			list = append(list, n)
		}
	}
	return list
}

// spelled is a header with names as they were on the wire. What net/http looks up
// by name for its own work keeps its spelling.
func spelled(h http.Header, names []string) http.Header {
	for _, n := range names {
		switch key := textproto.CanonicalMIMEHeaderKey(n); key {
		case "User-Agent", "Accept-Encoding", "Content-Length", "Content-Type", "Content-Encoding", "Date", "Host", "Trailer", "Expect", "Range":
		default:
			if values, ok := h[key]; ok {
				delete(h, key)
				h[n] = values
			}
		}
	}
	return h
}

type connKey struct{}

// withConn keeps a connection in the contexts of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if head, ok := c.(*headConn); ok {
		return context.WithValue(ctx, connKey{}, head)
	}
	return ctx
}

// A headListener makes connections that remember heads.
type headListener struct{ net.Listener }

// Accept implements net.Listener.
func (l headListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c}, nil
}
