package vcr

import (
	"bufio"
	"io"
	"maps"
	"slices"
	"strconv"
)

// emit writes one interaction as an item of a YAML list whose dash stands at the
// column indent. The keys stand in go-vcr's own order, what is noted after them.
func emit(w io.Writer, it *Interaction, indent string) error {
	e := &emitter{w: bufio.NewWriterSize(w, 64<<10), indent: indent}
	e.line("- request:")
	e.indent = indent + "    "
	if err := e.request(&it.Request); err != nil {
		return err
	}
	e.indent = indent + "  "
	e.line("response:")
	e.indent = indent + "    "
	if err := e.response(&it.Response); err != nil {
		return err
	}
	return e.w.Flush()
}

func (e *emitter) request(r *Request) error {
	if err := e.body("body", r.Body); err != nil {
		return err
	}
	e.fields("form", r.Form, true)
	e.fields("headers", r.Header, true)
	e.text("url", r.URL)
	e.text("method", r.Method)
	e.notes(&r.Notes)
	return nil
}

func (e *emitter) response(r *Response) error {
	if err := e.body("body", r.Body); err != nil {
		return err
	}
	e.fields("headers", r.Header, true)
	e.text("status", r.Status)
	e.line("code: ", strconv.Itoa(r.Code))
	e.line("duration: ", duration(r))
	e.notes(&r.Notes)
	if r.Transfer != "" {
		e.text("transfer", r.Transfer)
	}
	if len(r.Chunks) > 0 {
		e.line("chunks:")
		for _, n := range r.Chunks {
			e.line("- ", strconv.Itoa(n))
		}
	}
	if r.Failure != "" {
		e.text("failure", r.Failure)
	}
	if len(r.Informational) > 0 {
		e.line("informational:")
		for _, i := range r.Informational {
			e.line("- code: ", strconv.Itoa(i.Code))
			e.indent += "  "
			e.fields("headers", i.Header, false)
			e.indent = e.indent[:len(e.indent)-2]
		}
	}
	return nil
}

// duration is spelled as go-vcr reads it; the empty text of older writers is not.
func duration(r *Response) string {
	if r.Duration == 0 {
		return "0s"
	}
	return r.Duration.String()
}

func (e *emitter) notes(n *Notes) {
	e.list("encoding", n.Encoding)
	e.list("names", n.Names)
	e.fields("trailer", n.Trailer, false)
	if n.Cut != "" {
		e.text("cut", n.Cut)
	}
}

func (e *emitter) list(key string, values []string) {
	if len(values) == 0 {
		return
	}
	e.line(key, ":")
	for _, v := range values {
		e.line("- ", scalar(v))
	}
}

// fields writes a mapping of names to lists, sorted by name.
func (e *emitter) fields(key string, fields map[string][]string, always bool) {
	if len(fields) == 0 {
		if always {
			e.line(key, ": {}")
		}
		return
	}
	e.line(key, ":")
	base := e.indent
	e.indent += "  "
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		e.field(scalar(name), fields[name])
	}
	e.indent = base
}

func (e *emitter) field(key string, values []string) {
	const maxKey = 900 // a longer key needs a mark of its own (YAML: 1024 characters)
	if len(key) > maxKey {
		e.line("? ", key)
		key = ""
	}
	if len(values) == 0 {
		e.line(key, ": []")
		return
	}
	e.list(key, values)
}
