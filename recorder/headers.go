package recorder

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// endToEnd are the header fields that are not about one connection alone; a copy.
func endToEnd(h http.Header) http.Header {
	out := h.Clone()
	if out == nil {
		out = http.Header{}
	}
	for _, v := range h.Values("Connection") {
		for name := range strings.SplitSeq(v, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		out.Del(name)
	}
	return out
}

// steadyText is an error without the addresses in it, which differ each time.
func steadyText(err error) string {
	var op *net.OpError
	var dns *net.DNSError
	var u *url.Error
	switch {
	case errors.As(err, &dns):
		return "no such host " + dns.Name
	case errors.As(err, &op):
		return op.Op + ": " + op.Err.Error()
	case errors.As(err, &u):
		return u.Err.Error()
	}
	return err.Error()
}
