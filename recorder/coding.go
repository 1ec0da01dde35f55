package recorder

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// codings lists the content codings of a message in the order of their use; ok is
// false when one of them is not known.
func codings(h http.Header) (names []string, ok bool) {
	for _, v := range h.Values("Content-Encoding") {
		for name := range strings.SplitSeq(v, ",") {
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "", "identity":
			case "gzip", "x-gzip", "deflate", "br", "zstd":
				names = append(names, name)
			default:
				return nil, false
			}
		}
	}
	return names, true
}

// plain reads a body without its codings.
func plain(r io.Reader, names []string) (io.Reader, func(), error) {
	var closers []func()
	closeAll := func() {
		for _, c := range closers {
			c()
		}
	}
	for i := len(names) - 1; i >= 0; i-- {
		switch names[i] {
		case "gzip", "x-gzip":
			z, err := gzip.NewReader(r)
			if err != nil {
				return nil, closeAll, err
			}
			r = z
		case "br":
			r = brotli.NewReader(r)
		case "zstd":
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
			if err != nil {
				return nil, closeAll, err
			}
			closers = append(closers, z.Close)
			r = z
		case "deflate":
			br := bufio.NewReader(r)
			// The coding is zlib's; many servers send raw deflate.
			if h, err := br.Peek(2); err == nil && h[0]&0x0f == 8 && (uint(h[0])<<8|uint(h[1]))%31 == 0 {
				z, err := zlib.NewReader(br)
				if err != nil {
					return nil, closeAll, err
				}
				r = z
			} else {
				r = flate.NewReader(br)
			}
		}
	}
	return r, closeAll, nil
}
