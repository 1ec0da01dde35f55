package surface_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/sim/surface"
)

// startTLS serves the contract by HTTPS; the configuration is a client's.
func startTLS(t *testing.T) (*running, *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	r, h := handle(t, contract, nil, echo)
	r.listen(t, h, &surface.ServerOptions{
		ErrorLog: log.New(io.Discard, "", 0),
		TLS:      &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
	})
	return r, &tls.Config{RootCAs: pool}
}

// TestHTTPS: both protocols, the scheme in links, and clients that do not speak
// TLS or do not go on with it.
func TestHTTPS(t *testing.T) {
	r, config := startTLS(t)
	idle, err := net.Dial("tcp", strings.TrimPrefix(r.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close() // its handshake never ends, and holds nobody
	plain, err := http.Get("http" + strings.TrimPrefix(r.url, "https") + "/u")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Body.Close()
	if text, err := io.ReadAll(plain.Body); err != nil || plain.StatusCode != 400 || !strings.Contains(string(text), "HTTPS server") {
		t.Errorf("plain HTTP: %d %s, %v; want 400 and a word about HTTPS", plain.StatusCode, text, err)
	}
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config.Clone(), ForceAttemptHTTP2: proto == "HTTP/2.0"}}
		resp, err := client.Get(r.url + "/u?x=1")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		client.CloseIdleConnections()
		if want := "<" + r.url + `/u?x=1&after=n+x>; rel="next"`; resp.Proto != proto || resp.Header.Get("Link") != want {
			t.Errorf("%s Link %q, want %s %q", resp.Proto, resp.Header.Get("Link"), proto, want)
		}
	}
}
