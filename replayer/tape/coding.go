package tape

import (
	"fmt"

	"github.com/anvil-sim/anvil/internal/coding"
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
		decoded, err := coding.Decode(body, names[i:i+1], MaxContent)
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
		if _, err := coding.Decode(body, names[len(names)-1:], MaxContent); err == nil {
			return body, nil
		}
	}
	return coding.Encode(body, names)
}

// codings are the content codings of a header in the order of their use,
// without identity and without any that is not known.
func codings(h Header) []string {
	names, _ := coding.Names(h.Values("Content-Encoding"))
	return names
}

// vague codings have no mark of their own at the start.
func vague(name string) bool { return name == "br" || name == "deflate" }

func looksLike(name string, body []byte) bool {
	marked := coding.Marked(body)
	return vague(name) || marked == name || marked == "gzip" && name == "x-gzip"
}
