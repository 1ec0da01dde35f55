package recorder

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/coding"
	"github.com/anvil-sim/anvil/recorder/scrub"
	"github.com/anvil-sim/anvil/recorder/vcr"
)

const (
	wholeBody  = 8 << 20  // a body up to this size is scrubbed as one text
	window     = 1 << 20  // a larger one in windows of this size,
	overlap    = 64 << 10 // cut where no secret is likely to be cut
	bodyMemory = 1 << 20
)

// A stored message is what goes to the tape of one.
type stored struct {
	header http.Header
	body   vcr.Body
	notes  vcr.Notes
	plain  []byte // the scrubbed body when it is small, else nil
	found  []scrub.Finding
	spools []*spool
}

func (s *stored) close() {
	for _, sp := range s.spools {
		sp.close()
	}
}

// store makes what goes to the tape: decoded, scrubbed, checked.
func (r *Recorder) store(place string, h http.Header, body *spool, trailer http.Header) (*stored, error) {
	out := &stored{header: r.scrub.Header(h)}
	if len(trailer) > 0 {
		out.notes.Trailer = r.scrub.Header(trailer)
	}
	if body != nil && body.size > 0 {
		if err := r.storeBody(place, out, h, body); err != nil {
			return out, err
		}
	}
	out.found = append(out.found, r.scrub.ScanHeader(place+".headers", out.header)...)
	out.found = append(out.found, r.scrub.ScanHeader(place+".trailer", out.notes.Trailer)...)
	return out, nil
}

func (r *Recorder) storeBody(place string, out *stored, h http.Header, body *spool) error {
	out.notes.Cut = body.cut()
	kind := h.Get("Content-Type")
	names, ok := coding.Names(h.Values("Content-Encoding"))
	if ok && len(names) > 0 {
		switch err := r.content(place, out, kind, body, names); {
		case err == nil:
			out.notes.Encoding = names
			out.header.Del("Content-Encoding")
			r.length(out, body)
			return nil
		case body.err != nil:
			return err
		}
		out.body, out.plain = nil, nil // it is not what its header says: keep it as it came
	}
	if err := r.content(place, out, kind, body, nil); err != nil {
		return err
	}
	r.length(out, body)
	return nil
}

// length corrects a declared length to that of the stored body.
func (r *Recorder) length(out *stored, body *spool) {
	if out.header.Get("Content-Length") != "" && out.body.Size() != body.size {
		out.header.Set("Content-Length", strconv.FormatInt(out.body.Size(), 10))
	}
}

// content decodes and scrubs one body.
func (r *Recorder) content(place string, out *stored, kind string, body *spool, names []string) error {
	raw, err := body.Open()
	if err != nil {
		return err
	}
	src, done, err := coding.NewReader(raw, names)
	defer done()
	if err != nil {
		return err
	}
	start, err := io.ReadAll(io.LimitReader(src, wholeBody+1))
	if err != nil && out.notes.Cut == "" {
		return err
	}
	if len(start) <= wholeBody {
		clean := r.scrub.Body(kind, start)
		out.body, out.plain = vcr.Bytes(clean), clean
		out.found = append(out.found, r.scrub.ScanText(place+".body", clean)...)
		return nil
	}
	if len(names) == 0 && !utf8.Valid(start[:cutAt(start)]) {
		// No text: it is kept as it came, and looked at only.
		w := &windows{r: r, out: out, place: place + ".body", to: (&spoolRoom{}).spool(), binary: true}
		out.body = body
		return w.copy(io.MultiReader(bytes.NewReader(start), src))
	}
	clean := r.room.spool()
	out.spools = append(out.spools, clean)
	w := &windows{r: r, out: out, place: place + ".body", to: clean}
	if err := w.copy(io.MultiReader(bytes.NewReader(start), src)); err != nil && out.notes.Cut == "" {
		return err
	}
	if cut := clean.cut(); cut != "" && out.notes.Cut == "" {
		out.notes.Cut = cut
	}
	out.body = clean
	return clean.err
}

// windows scrubs a body that is too large to be held: text by text rules alone,
// since its structure is not known inside of it.
type windows struct {
	r      *Recorder
	out    *stored
	place  string
	to     *spool
	binary bool
}

func (w *windows) copy(src io.Reader) error {
	buf := make([]byte, 0, window+overlap)
	for {
		n, err := io.ReadFull(src, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		cut := len(buf)
		if !last {
			cut = cutAt(buf)
		}
		w.pass(buf[:cut])
		if last {
			return nil
		}
		rest := copy(buf, buf[cut:])
		buf = buf[:rest]
	}
}

func (w *windows) pass(part []byte) {
	w.binary = w.binary || !utf8.Valid(part)
	clean := part
	if !w.binary {
		clean = w.r.scrub.Text(part)
	}
	if len(w.out.found) < 20 {
		w.out.found = append(w.out.found, w.r.scrub.ScanText(w.place, clean)...)
	}
	_, _ = w.to.Write(clean)
}

// cutAt finds where to end a window: before a private key that is not over, else
// behind a line, a comma or a space, else anywhere.
func cutAt(buf []byte) int {
	from := len(buf) - overlap
	if k := bytes.LastIndex(buf[from:], []byte("-----BEGIN ")); k >= 0 && !bytes.Contains(buf[from+k:], []byte("-----END ")) {
		return from + k
	}
	for _, sep := range []string{"\n", ",", " "} {
		if k := bytes.LastIndex(buf[from:], []byte(sep)); k > 0 {
			return from + k + 1
		}
	}
	for from < len(buf) && !utf8.RuneStart(buf[from]) {
		from++
	}
	return from
}
