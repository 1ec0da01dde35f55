package htmlreport

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"html"
	"path/filepath"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

var (
	//go:embed assets/page.css
	css string
	//go:embed assets/body.html
	body string
	//go:embed assets/json.js
	jsonJS string
	//go:embed assets/page.js
	pageJS string
	//go:embed assets/detail.js
	detailJS string
)

// script is the page's only program.
func script() string { return "(() => {\n" + jsonJS + pageJS + detailJS + "})();\n" }

// policy lets the page run its own script and style and load nothing.
func policy() string {
	return "default-src 'none'; script-src " + hash(script()) + "; style-src " + hash(css) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (p *page) title() string {
	if p.opts.Title != "" {
		return p.opts.Title
	}
	return "Trace of " + filepath.Base(trace.DisplayName(p.run.Name))
}

func (p *page) head() {
	p.w.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy() + "\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n" +
		"<title>" + html.EscapeString(p.title()) + "</title>\n<style>" + css + "</style>\n</head>\n<body>\n" + body)
}

// tail writes what is known at the end: the timeline and the differences.
func (p *page) tail() {
	dst := canon.AppendString([]byte(`{"title":`), p.title())
	dst = appendSide(append(dst, `,"run":`...), p.run)
	dst = append(dst, `,"baseline":`...)
	if p.report == nil {
		dst = append(dst, "null"...)
	} else {
		dst = p.appendComparison(dst)
	}
	dst = append(append(append(dst, ",\n\"rows\":["...), p.index...), "\n]}"...)
	p.w.WriteString(`<script type="application/json" id="index">`)
	writeData(p.w, dst)
	p.w.WriteString("</script>\n<script>" + script() + "</script>\n</body>\n</html>\n")
}

func appendSide(dst []byte, s trace.Side) []byte {
	dst = canon.AppendString(append(dst, `{"name":`...), trace.DisplayName(s.Name))
	dst = strconv.AppendInt(append(dst, `,"count":`...), int64(s.Count), 10)
	return append(appendText(dst, "describe", s.Describe()), '}')
}

// appendComparison writes the baseline and what differs from it.
func (p *page) appendComparison(dst []byte) []byte {
	r := p.report
	dst = appendSide(dst, r.Baseline)
	dst = appendText(dst, "options", r.Options.Describe())
	dst = append(dst, `,"ignored":[`...)
	for i, pattern := range r.Options.Ignore {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(append(dst, `{"pattern":`...), pattern)
		dst = strconv.AppendInt(append(dst, `,"differences":`...), int64(r.Ignored[i]), 10)
		dst = append(dst, '}')
	}
	dst = strconv.AppendBool(append(dst, `],"summary":{"equal":`...), r.Equal())
	dst = strconv.AppendBool(append(dst, `,"identical":`...), r.Identical)
	for _, n := range []struct {
		key string
		n   int
	}{{"findings", r.Findings}, {"same", r.Same}, {"changed", r.Changed}, {"missing", r.Missing}, {"inserted", r.Inserted}, {"moved", r.Moved}} {
		dst = strconv.AppendInt(append(append(append(dst, ",\""...), n.key...), "\":"...), int64(n.n), 10)
	}
	dst = append(dst, '}')
	if p.first >= 0 {
		dst = strconv.AppendInt(append(dst, `,"first":`...), int64(p.first), 10)
	}
	dst = append(dst, ",\n\"changes\":["...)
	for i, c := range p.list {
		if i > 0 {
			dst = append(dst, ",\n"...)
		}
		dst = appendChange(dst, c)
	}
	return append(dst, ']')
}

// appendChange writes one call that differs. Values are texts, so that the page
// shows them as they stand.
func appendChange(dst []byte, c *trace.Call) []byte {
	dst = canon.AppendString(append(dst, `{"kind":`...), string(c.Kind))
	dst = appendText(dst, "stage", string(c.Stage))
	if c.Old != nil {
		dst = strconv.AppendInt(append(dst, `,"old":`...), c.Old.Seq, 10)
	}
	shown := c.Findings[:min(len(c.Findings), maxFindings)]
	more := c.More + len(c.Findings) - len(shown)
	dst = strconv.AppendInt(append(dst, `,"count":`...), int64(len(shown)+more), 10)
	dst = strconv.AppendInt(append(dst, `,"more":`...), int64(more), 10)
	dst = append(dst, `,"findings":[`...)
	for i, f := range shown {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(append(dst, `{"kind":`...), string(f.Kind))
		dst = appendText(dst, "path", f.Path)
		if f.Old != nil {
			dst = appendText(dst, "old", string(f.Old))
		}
		if f.New != nil {
			dst = appendText(dst, "neu", string(f.New))
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}

// writeData writes JSON into a script element: without "<" nothing in it ends
// the element or begins a comment. In JSON text "<" stands in strings alone.
func writeData(w *bufio.Writer, json []byte) {
	for {
		i := bytes.IndexByte(json, '<')
		if i < 0 {
			w.Write(json)
			return
		}
		w.Write(json[:i])
		w.WriteString(`\u003c`)
		json = json[i+1:]
	}
}

// chunks writes texts as JSON lists in data elements of a class.
type chunks struct {
	w     *bufio.Writer
	class string
	lines int
	size  int // of the open element, 0 when none is open
	buf   []byte
}

func (c *chunks) add(text []byte) {
	if c.size == 0 {
		c.w.WriteString(`<script type="application/json" class="` + c.class + `" data-from="` + strconv.Itoa(c.lines) + `">[`)
	} else {
		c.w.WriteString(",\n")
	}
	c.buf = canon.AppendString(c.buf[:0], text)
	writeData(c.w, c.buf)
	c.lines++
	if c.size += len(c.buf); c.size >= chunkSize {
		c.close()
	}
}

func (c *chunks) close() {
	if c.size > 0 {
		c.w.WriteString("]</script>\n")
	}
	c.size = 0
}
