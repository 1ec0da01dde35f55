package trace

import (
	"bufio"
	"io"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// WriteJSON writes the report as JSON lines: one of type "header", one a
// finding, one of type "summary". A missing, inserted or moved call is a finding
// without a path.
func (r *Report) WriteJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.Write(r.appendHeader(nil))
	var buf []byte
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Kind != CallChanged {
			buf = c.appendCall(buf[:0], string(c.Kind))
			out.Write(append(buf, "}\n"...))
		}
		for k := range c.Findings {
			out.Write(c.appendFinding(buf[:0], &c.Findings[k]))
		}
	}
	out.Write(r.appendSummary(buf[:0]))
	return out.Flush()
}

func appendKeyString(dst []byte, key, val string) []byte {
	return canon.AppendString(append(append(append(dst, ",\""...), key...), "\":"...), val)
}

func appendKeyInt[N int | int64](dst []byte, key string, n N) []byte {
	return strconv.AppendInt(append(append(append(dst, ",\""...), key...), "\":"...), int64(n), 10)
}

func appendKeyList(dst []byte, key string, list []string) []byte {
	dst = append(append(append(dst, ",\""...), key...), "\":["...)
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(dst, s)
	}
	return append(dst, ']')
}

func (r *Report) appendHeader(dst []byte) []byte {
	dst = append(dst, `{"type":"header","baseline":`...)
	dst = r.Baseline.append(dst)
	dst = r.Other.append(append(dst, `,"other":`...))
	if !r.Identical {
		dst = appendKeyString(dst, "pairedBy", string(r.Align))
	}
	dst = appendKeyString(dst, "align", string(r.Options.Align))
	dst = appendKeyString(dst, "run", r.Options.Run)
	dst = strconv.AppendBool(append(dst, `,"unordered":`...), r.Options.Unordered)
	dst = strconv.AppendBool(append(dst, `,"bytes":`...), r.Options.Bytes)
	dst = appendKeyList(dst, "ignore", r.Options.Ignore)
	if len(r.Options.Only) > 0 {
		dst = appendKeyList(dst, "only", r.Options.Only)
	}
	if len(r.Options.Tolerance) > 0 {
		var list []string
		for _, t := range r.Options.Tolerance {
			list = append(list, t.String())
		}
		dst = appendKeyList(dst, "tolerance", list)
	}
	if len(r.Options.Rename) > 0 {
		dst = appendKeyList(dst, "rename", r.Options.Rename)
	}
	if r.First != nil {
		dst = append(dst, `,"first":`...)
		dst = append(r.First.appendCall(dst, string(r.First.Kind)), '}')
	}
	return append(dst, "}\n"...)
}

// append writes a side; what was not counted is left out.
func (s Side) append(dst []byte) []byte {
	dst = canon.AppendString(append(dst, `{"name":`...), s.Name)
	if s.Runs > 0 {
		dst = appendKeyInt(dst, "runs", s.Runs)
		dst = appendKeyInt(dst, "run", s.Run)
		dst = appendKeyInt(dst, "compared", s.Count)
		dst = appendKeyInt(dst, "calls", s.Calls)
	}
	return append(dst, '}')
}

// appendCall begins an object with what is said of a call.
func (c *Call) appendCall(dst []byte, kind string) []byte {
	dst = append(dst, `{"type":"finding"`...)
	dst = appendKeyString(dst, "kind", kind)
	dst = appendKeyString(dst, "call", string(c.Kind))
	dst = appendKeyString(dst, "stage", string(c.Stage))
	dst = c.Old.append(append(dst, `,"baseline":`...))
	return c.New.append(append(dst, `,"other":`...))
}

func (r *Ref) append(dst []byte) []byte {
	if r == nil {
		return append(dst, "null"...)
	}
	dst = strconv.AppendInt(append(dst, `{"seq":`...), r.Seq, 10)
	dst = appendKeyInt(dst, "line", r.Line)
	dst = appendKeyInt(dst, "offset", r.Offset)
	dst = appendKeyString(dst, "tool", r.Tool)
	return append(appendKeyString(dst, "target", r.Target), '}')
}

func (c *Call) appendFinding(dst []byte, f *Finding) []byte {
	dst = c.appendCall(dst, string(f.Kind))
	dst = appendKeyString(dst, "path", f.Path)
	if f.Old != nil {
		dst = append(append(dst, `,"old":`...), f.Old...)
	}
	if f.New != nil {
		dst = append(append(dst, `,"new":`...), f.New...)
	}
	if f.Note != "" {
		dst = appendKeyString(dst, "note", f.Note)
	}
	return append(dst, "}\n"...)
}

func (r *Report) appendSummary(dst []byte) []byte {
	dst = strconv.AppendBool(append(dst, `{"type":"summary","equal":`...), r.Equal())
	dst = strconv.AppendBool(append(dst, `,"identical":`...), r.Identical)
	dst = appendKeyInt(dst, "findings", r.Findings)
	dst = appendKeyInt(dst, "shown", r.shown())
	if !r.Identical {
		dst = appendKeyInt(dst, "same", r.Same)
		dst = appendKeyInt(dst, "changed", r.Changed)
		dst = appendKeyInt(dst, "missing", r.Missing)
		dst = appendKeyInt(dst, "inserted", r.Inserted)
		dst = appendKeyInt(dst, "moved", r.Moved)
	}
	dst = append(dst, `,"ignored":[`...)
	for i, p := range r.Options.Ignore {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(append(dst, `{"pattern":`...), p)
		dst = appendKeyInt(dst, "differences", r.Ignored[i])
		if reason := r.Options.Reasons[p]; reason != "" {
			dst = appendKeyString(dst, "reason", reason)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if len(r.Options.Only) > 0 {
		dst = appendKeyInt(dst, "outside", r.Outside)
	}
	for i, t := range r.Options.Tolerance {
		sep := ","
		if i == 0 {
			sep = `,"tolerated":[`
		}
		dst = canon.AppendString(append(append(dst, sep...), `{"tolerance":`...), t.String())
		dst = append(appendKeyInt(dst, "numbers", r.Tolerated[i]), '}')
	}
	if len(r.Options.Tolerance) > 0 {
		dst = append(dst, ']')
	}
	if len(r.Options.Rename) > 0 {
		dst = appendKeyInt(dst, "renamed", r.Renamed)
	}
	return append(dst, "}\n"...)
}
