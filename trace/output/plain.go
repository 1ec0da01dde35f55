package output

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

const (
	red   = "\x1b[31m"
	green = "\x1b[32m"
	bold  = "\x1b[1m"
	plain = "\x1b[0m"
)

// WriteText writes the verdict for a person: failed cases with all that is known,
// passed ones in a line each.
func WriteText(w io.Writer, r *Result, color bool) error {
	var b bytes.Buffer
	line := func(c, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if color && c != "" {
			text = c + text + plain
		}
		b.WriteString(text + "\n")
	}
	for _, f := range r.Facts {
		line("", "%s", f)
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		name := clean(c.Name)
		if c.Place.File != "" {
			name += " (" + clean(c.Place.String()) + ")"
		}
		if len(c.Failures) == 0 {
			if c.Note != "" {
				name += ": " + c.Note
			}
			line(green, "ok   %s", name)
			continue
		}
		line(red, "FAIL %s", name)
		for _, f := range c.Failures {
			at := ""
			if f.Place.File != "" {
				at = clean(f.Place.String()) + ": "
			}
			line("", "     %s%s", at, clean(f.Message))
			for _, d := range f.Details {
				line("", "     %s", clean(d))
			}
		}
		if c.More > 0 {
			line("", "     and %d more", c.More)
		}
	}
	for _, n := range r.Notes {
		line("", "%s", n)
	}
	line(bold, "%s", r.Summary)
	_, err := w.Write(b.Bytes())
	return err
}

// WriteJSON writes the verdict as JSON lines: one of type "header", one a case,
// one a failure after its case, one of type "summary".
func WriteJSON(w io.Writer, r *Result) error {
	b := canon.AppendString([]byte(`{"type":"header","command":`), r.Command)
	b = canon.AppendString(append(b, `,"input":`...), r.Input)
	b = append(appendStrings(append(b, `,"facts":`...), r.Facts), "}\n"...)
	for i := range r.Cases {
		b = r.Cases[i].appendJSON(b)
	}
	b = strconv.AppendBool(append(b, `{"type":"summary","passed":`...), !r.Failed())
	b = strconv.AppendInt(append(b, `,"cases":`...), int64(len(r.Cases)), 10)
	b = strconv.AppendInt(append(b, `,"failed":`...), int64(r.failed()), 10)
	b = canon.AppendString(append(b, `,"text":`...), r.Summary)
	_, err := w.Write(append(b, "}\n"...))
	return err
}

func (c *Case) appendJSON(b []byte) []byte {
	b = canon.AppendString(append(b, `{"type":"rule","id":`...), c.ID)
	b = canon.AppendString(append(b, `,"name":`...), c.Name)
	b = c.Place.appendJSON(b)
	b = strconv.AppendBool(append(b, `,"passed":`...), len(c.Failures) == 0)
	b = strconv.AppendInt(append(b, `,"failures":`...), int64(len(c.Failures)+c.More), 10)
	if c.Note != "" {
		b = canon.AppendString(append(b, `,"note":`...), c.Note)
	}
	b = append(b, "}\n"...)
	for _, f := range c.Failures {
		b = canon.AppendString(append(b, `{"type":"failure","rule":`...), c.Name)
		b = canon.AppendString(append(b, `,"message":`...), f.Message)
		b = f.Place.appendJSON(b)
		b = append(appendStrings(append(b, `,"details":`...), f.Details), "}\n"...)
	}
	return b
}

func (p Place) appendJSON(b []byte) []byte {
	if p.File == "" {
		return b
	}
	b = canon.AppendString(append(b, `,"file":`...), p.File)
	if p.Line > 0 {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(p.Line), 10)
	}
	return b
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = canon.AppendString(b, s)
	}
	return append(b, ']')
}
