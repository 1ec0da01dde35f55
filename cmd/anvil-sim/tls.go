package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/anvil-sim/anvil/internal/wholefile"
)

// An authority is this user's own certificate authority. Its key and
// certificate are one file, so that two programs that start at once cannot mix
// two of them.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	path string // of the certificate alone, for clients to trust
	news string // what clients must know about path, "" when nothing changed
}

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 397 * 24 * time.Hour // the longest that browsers take
)

// openAuthority reads the authority of a folder, or makes one there on first
// use.
func openAuthority(dir string) (*authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "ca-key.pem")
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		if err := makeAuthority(dir, file); err != nil {
			return nil, fmt.Errorf("cannot make a certificate authority: %w", err)
		}
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(data, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it to make a new authority", file, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: found another kind of key, want an ECDSA one; remove the file to make a new authority", file)
	}
	switch cert := pair.Leaf; {
	case !cert.IsCA:
		return nil, fmt.Errorf("%s: found the certificate of a server, want an authority's; remove the file to make a new authority", file)
	case time.Now().After(cert.NotAfter):
		return nil, fmt.Errorf("%s: the authority ended on %s, and no client takes it any more; remove the file to make a new one", file, cert.NotAfter.Format(time.DateOnly))
	}
	a := &authority{cert: pair.Leaf, key: key, path: filepath.Join(dir, "ca.pem")}
	return a, a.publish()
}

// publish writes the certificate that clients trust. Another one that stands there
// is kept aside: clients may trust it, and would refuse what this authority signs
// without knowing why.
func (a *authority) publish() error {
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	have, err := os.ReadFile(a.path)
	switch {
	case err == nil && string(have) == string(public):
		return nil
	case err == nil:
		old := a.path + ".old"
		if err := os.Rename(a.path, old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err // else another program was first
		}
		a.news = fmt.Sprintf("%s was not the certificate of ca-key.pem beside it, and is %s now; clients that trusted it must trust the new one", a.path, filepath.Base(old))
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	return wholefile.Write(a.path, func(w io.Writer) error {
		_, err := w.Write(public)
		return err
	})
}

// makeAuthority writes a new authority, whole or not at all; an authority that
// another program made meanwhile stays.
func makeAuthority(dir, file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	tmpl, err := template("Anvil local certificate authority", authorityLife)
	if err != nil {
		return err
	}
	tmpl.IsCA, tmpl.BasicConstraintsValid = true, true
	tmpl.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	cert, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "ca-key-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...)
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), file); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

func template(name string, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life),
	}, nil
}

// leaf makes a server certificate for this machine and one more host.
func (a *authority) leaf(host string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	tmpl, err := template("anvil-sim", leafLife)
	if err != nil {
		return tls.Certificate{}, err
	}
	tmpl.KeyUsage, tmpl.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	tmpl.DNSNames = []string{"localhost"}
	tmpl.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	if ip := net.ParseIP(host); ip != nil {
		tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
	} else if host != "" && host != "localhost" {
		tmpl.DNSNames = append(tmpl.DNSNames, host)
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}, nil
}

// tlsConfig is nil without --tls. The second value is the file that clients
// trust, "" when the certificate is the user's own.
func (o *serveOptions) tlsConfig() (*tls.Config, string, error) {
	switch {
	case o.tlsCert != "" || o.tlsKey != "":
		if o.tlsCert == "" || o.tlsKey == "" {
			return nil, "", errors.New("--tls-cert and --tls-key belong together: a certificate and its key, both PEM")
		}
		pair, err := tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
		if err != nil {
			return nil, "", fmt.Errorf("--tls-cert %s, --tls-key %s: %w", o.tlsCert, o.tlsKey, err)
		}
		return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, "", nil
	case !o.tls:
		return nil, "", nil
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, "", fmt.Errorf("no folder for the certificate authority: %w; use --tls-cert and --tls-key", err)
	}
	a, err := openAuthority(filepath.Join(config, "anvil"))
	if err != nil {
		return nil, "", err
	}
	if a.news != "" {
		o.say("%s", a.news)
	}
	pair, err := a.leaf(o.host)
	if err != nil {
		return nil, "", err
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, a.path, nil
}
