// Package coding reads and makes the content codings of HTTP bodies: gzip, deflate,
// br and zstd.
package coding

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Names lists the codings that the values of Content-Encoding name, in the order of
// their use, without identity. Known is false when one of them is none that this
// package reads: it is left out.
func Names(values []string) (names []string, known bool) {
	known = true
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "", "identity":
			case "gzip", "x-gzip", "deflate", "br", "zstd":
				names = append(names, name)
			default:
				known = false
			}
		}
	}
	return names, known
}

// Marked tells the coding of a body by how it begins: gzip or zstd, the two that
// have a mark of their own; "" for anything else.
func Marked(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(body, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	}
	return ""
}

// maxWindow is the most memory that a zstd frame may ask for, in bytes.
const maxWindow = 64 << 20

// NewReader reads a body without its codings, which are named in the order of their
// use. Done frees what they hold; it may be called whatever the error is.
func NewReader(r io.Reader, names []string) (plain io.Reader, done func(), err error) {
	var closers []func()
	done = func() {
		for _, c := range closers {
			c()
		}
	}
	for i := len(names) - 1; i >= 0; i-- {
		switch names[i] {
		case "gzip", "x-gzip":
			r, err = gzip.NewReader(r)
		case "br":
			r = brotli.NewReader(r)
		case "zstd":
			var z *zstd.Decoder
			if z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
				closers = append(closers, z.Close)
			}
			r = z
		case "deflate":
			r, err = inflate(r)
		default:
			err = fmt.Errorf("unknown content coding %q", names[i])
		}
		if err != nil {
			return nil, done, err
		}
	}
	return r, done, nil
}

// inflate reads what is called deflate: zlib's format, and the raw one that many
// servers send.
func inflate(r io.Reader) (io.Reader, error) {
	br := bufio.NewReader(r)
	if h, err := br.Peek(2); err == nil && h[0]&0x0f == 8 && (uint(h[0])<<8|uint(h[1]))%31 == 0 {
		return zlib.NewReader(br)
	}
	return flate.NewReader(br), nil
}

// Decode is a whole body without its codings, of at most limit bytes.
func Decode(body []byte, names []string, limit int64) ([]byte, error) {
	r, done, err := NewReader(bytes.NewReader(body), names)
	defer done()
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(plain)) > limit {
		err = fmt.Errorf("it expands to more than %d bytes", limit)
	}
	return plain, err
}

// Encode is a body in codings, with the same bytes each time.
func Encode(body []byte, names []string) ([]byte, error) {
	for _, name := range names {
		var buf bytes.Buffer
		w, err := newWriter(&buf, name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(body); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		body = buf.Bytes()
	}
	return body, nil
}

func newWriter(w io.Writer, name string) (io.WriteCloser, error) {
	switch name {
	case "gzip", "x-gzip":
		return gzip.NewWriter(w), nil
	case "deflate":
		return zlib.NewWriter(w), nil
	case "br":
		return brotli.NewWriter(w), nil
	case "zstd":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return nil, fmt.Errorf("unknown content coding %q", name)
}
