package tape

import (
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

// MaxContent is the most that a content coding may expand to, in bytes: a
// compressed bomb on a tape is an error and not the end of the process.
const MaxContent = 1 << 30

// Content is the body without its content codings. Recorders disagree on whether
// they store what was on the wire or what it meant, whatever the header says: a
// body that is not in the named coding is returned as it is. The error says that
// a body begins as the coding does and then breaks.
func (r *Request) Content() ([]byte, error) { return content(r.Header, r.Body, r.Plain) }

// Content is the body without its content codings, see [Request.Content].
func (r *Response) Content() ([]byte, error) { return content(r.Header, r.Body, r.Plain) }

func content(h Header, body []byte, plain bool) ([]byte, error) {
	if plain {
		return body, nil
	}
	names := codings(h)
	for i := len(names) - 1; i >= 0 && len(body) > 0; i-- {
		if !looksLike(names[i], body) {
			return body, nil
		}
		decoded, err := decode(names[i], body)
		if err != nil {
			if vague(names[i]) {
				return body, nil // it only looked so
			}
			return nil, fmt.Errorf("the body is no valid %s: %w", names[i], err)
		}
		body = decoded
	}
	return body, nil
}

// Wire is the body in the content codings that its header names: bytes that were
// stored so are returned unchanged, a body that was stored plain is encoded, with
// the same bytes each time.
func (r *Response) Wire() ([]byte, error) {
	names, body := codings(r.Header), r.Body
	if len(names) == 0 || len(body) == 0 {
		return body, nil
	}
	last := names[len(names)-1]
	if !r.Plain && looksLike(last, body) {
		if !vague(last) {
			return body, nil
		}
		if _, err := decode(last, body); err == nil {
			return body, nil
		}
	}
	for _, name := range names {
		var err error
		if body, err = encode(name, body); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// codings are the content codings of a header in the order of their use,
// without identity and without any that is not known.
func codings(h Header) []string {
	var names []string
	for _, v := range h.Values("Content-Encoding") {
		for name := range strings.SplitSeq(v, ",") {
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "gzip", "x-gzip":
				names = append(names, "gzip")
			case "deflate", "br", "zstd":
				names = append(names, name)
			}
		}
	}
	return names
}

// vague codings have no mark of their own at the start.
func vague(name string) bool { return name == "br" || name == "deflate" }

func looksLike(name string, body []byte) bool {
	switch name {
	case "gzip":
		return bytes.HasPrefix(body, []byte{0x1f, 0x8b})
	case "zstd":
		return bytes.HasPrefix(body, []byte{0x28, 0xb5, 0x2f, 0xfd})
	}
	return true
}

func decode(name string, body []byte) ([]byte, error) {
	switch name {
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return readAll(r)
	case "deflate":
		// RFC 9110 means zlib; raw deflate is common all the same.
		if r, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
			return readAll(r)
		}
		return readAll(flate.NewReader(bytes.NewReader(body)))
	case "br":
		return readAll(brotli.NewReader(bytes.NewReader(body)))
	}
	r, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxContent))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readAll(r)
}

func readAll(r io.Reader) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(r, MaxContent+1))
	if err == nil && len(plain) > MaxContent {
		err = fmt.Errorf("it expands to more than %d bytes", MaxContent)
	}
	return plain, err
}

func encode(name string, body []byte) ([]byte, error) {
	var buf bytes.Buffer
	var w io.WriteCloser
	switch name {
	case "gzip":
		w = gzip.NewWriter(&buf)
	case "deflate":
		w = zlib.NewWriter(&buf)
	case "br":
		w = brotli.NewWriter(&buf)
	default:
		z, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		w = z
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
