package surface

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// parkable serves h, and tells each time net/http has left a connection.
func parkable(t *testing.T, config *tls.Config, h http.HandlerFunc) (s *Server, left chan struct{}) {
	t.Helper()
	s, err := Listen(t.Context(), "127.0.0.1:0", h, &ServerOptions{TLS: config})
	if err != nil {
		t.Fatal(err)
	}
	left = make(chan struct{}, 10)
	s.http.ConnState = func(c net.Conn, state http.ConnState) {
		noteState(c, state)
		if state == http.StateClosed {
			left <- struct{}{}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s, left
}

// A client that says nothing for a while costs net/http nothing, sees nothing of
// it, and is answered on the same connection when it asks again.
func TestSilentConnectionsAreParked(t *testing.T) {
	authority := httptest.NewTLSServer(nil)
	defer authority.Close()
	trust := authority.Client().Transport.(*http.Transport).TLSClientConfig
	for name, config := range map[string]*tls.Config{"plain": nil, "TLS": {Certificates: authority.TLS.Certificates}} {
		t.Run(name, func(t *testing.T) {
			s, left := parkable(t, config, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, rawTarget(r)) })
			client, err := net.Dial("tcp", s.listener.Addr().String())
			if config != nil && err == nil {
				client = tls.Client(client, &tls.Config{RootCAs: trust.RootCAs, ServerName: "example.com"})
				err = client.(*tls.Conn).Handshake() // a server waits for no bytes of a request
			}
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			in := bufio.NewReader(client)
			for _, target := range []string{"/new", "/%zz", "/again"} {
				<-left
				if got := exchange(t, client, in, "GET "+target+" HTTP/1.1\r\nHost: x\r\n", "\r\n"); got != target {
					t.Errorf("got %q, want %q", got, target)
				}
			}
			<-left
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := client.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if n, err := in.Read(make([]byte, 1)); n != 0 || err == nil || isTimeout(err) {
				t.Errorf("after the server's Close: %d bytes, %v; want the end", n, err)
			}
		})
	}
}

// Part of a request is not taken for silence: not in net/http's buffer, where it
// would be lost, nor in a line that is held back.
func TestBegunRequestsAreNotParked(t *testing.T) {
	for _, pieces := range [][]string{
		{"GET /a HTTP/1.1\r\nHost: x\r\n\r\nG", "ET /b HTTP/1.1\r\nHost: x\r\n\r\n"},
		{"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /b HT", "TP/1.1\r\nHost: x\r\n\r\n"},
	} {
		s, left := parkable(t, nil, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, rawTarget(r)) })
		client, err := net.Dial("tcp", s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		in := bufio.NewReader(client)
		if got := exchange(t, client, in, pieces[:len(pieces)-1]...); got != "/a" {
			t.Errorf("%q: got %q, want /a", pieces, got)
		}
		select {
		case <-left:
			t.Errorf("%q: net/http left the connection", pieces)
		case <-time.After(parkAfter + parkAfter/4):
		}
		if got := exchange(t, client, in, pieces[len(pieces)-1]); got != "/b" {
			t.Errorf("%q: got %q, want /b", pieces, got)
		}
	}
}
