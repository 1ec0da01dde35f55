package recorder

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// upstream is the transport that a Proxy uses: nothing is undone or added, HTTP/2
// where the target speaks it.
func upstream(opts *ProxyOptions) *http.Transport {
	dialer := &net.Dialer{Timeout: opts.Timeout}
	config := opts.TLS
	if config == nil {
		config = &tls.Config{}
	}
	config = config.Clone()
	if config.NextProtos == nil {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	t := &http.Transport{
		DisableCompression: true, ForceAttemptHTTP2: true, TLSClientConfig: config, ResponseHeaderTimeout: opts.Timeout,
		Proxy: opts.Via, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, ExpectContinueTimeout: time.Second,
	}
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &headConn{Conn: c}, nil
	}
	t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		own := config.Clone()
		if host, _, err := net.SplitHostPort(addr); err == nil && own.ServerName == "" {
			own.ServerName = host
		}
		secure := tls.Client(c, own)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = c.Close()
			return nil, err
		}
		if secure.ConnectionState().NegotiatedProtocol == "h2" {
			return secure, nil // HTTP/2 has one spelling of names
		}
		return &headConn{Conn: secure}, nil
	}
	return t
}

// address makes the URL that a request of the proxy means at the target. The path
// is not respelled.
func (p *Proxy) address(requestURI string) (*url.URL, string) {
	target := p.opts.Target
	path, query, _ := cutQuery(requestURI)
	full := p.base + path
	u := &url.URL{Scheme: target.Scheme, Host: target.Host, Opaque: full, RawQuery: query, ForceQuery: query == "" && len(requestURI) > len(path)}
	text := target.Scheme + "://" + target.Host + full
	if len(requestURI) > len(path) {
		text += requestURI[len(path):]
	}
	return u, text
}

func cutQuery(uri string) (path, query string, ok bool) {
	for i := range len(uri) {
		if uri[i] == '?' {
			return uri[:i], uri[i+1:], true
		}
	}
	return uri, "", false
}
