package surface

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

// A bodyKind is how a declared body is decoded.
type bodyKind int

const (
	textBody bodyKind = iota // any other content type: carried as text
	jsonBody
	formBody
	multipartBody
)

func bodyKindOf(contentType string) bodyKind {
	switch t := mediaType(contentType); {
	case isJSON(t):
		return jsonBody
	case t == "application/x-www-form-urlencoded":
		return formBody
	case t == "multipart/form-data":
		return multipartBody
	}
	return textBody
}

// mediaType is the type of a content type, lower case, without parameters.
func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

func isJSON(t string) bool {
	return t == "application/json" || strings.HasSuffix(t, "+json") || t == "text/json"
}

// readBody decodes the body as the operation declares it.
func (in *inbound) readBody(c *sim.Call) {
	if in.refused != nil {
		c.Undecodable = in.refused
		in.text = true
		return
	}
	if c.Op.Body == nil {
		in.looseBody()
		return
	}
	var err error
	switch in.plan.body {
	case textBody:
		in.text = true
		if len(in.body) > 0 {
			c.Input.Set("body", canon.AppendString(nil, in.utf8()))
		}
		return
	case jsonBody:
		if !blank(in.body) {
			body := in.utf8()
			in.json, err = canon.AppendCompact(make([]byte, 0, len(body)), body, canon.Lenient)
		}
	case formBody:
		if len(in.body) > 0 {
			in.json = in.plan.form(string(in.utf8()))
		}
	case multipartBody:
		if len(in.body) > 0 {
			in.json, err = in.plan.multipart(in.header.Get("Content-Type"), in.body)
		}
	}
	if err != nil {
		in.json, in.text = nil, true
		c.Undecodable = &sim.Refusal{Status: http.StatusBadRequest, Message: undecodable(in.plan.body, err)}
		return
	}
	in.takeBody(c)
}

func undecodable(kind bodyKind, err error) string {
	if kind == multipartBody {
		return "Request body is not multipart/form-data: " + err.Error() + "."
	}
	return "Request body is not valid JSON: " + strings.TrimPrefix(err.Error(), "invalid JSON ") + "."
}

// takeBody gives the decoded body to the call: whole, or its declared fields. A
// body that should have had fields and is no object stays whole.
func (in *inbound) takeBody(c *sim.Call) {
	switch {
	case in.json == nil:
	case c.Op.Body.Whole || in.json[0] != '{':
		c.Input.Set("body", in.json)
	default:
		in.readFields(c)
	}
}

// utf8 is the body's text: ISO 8859-1 when the content type says so.
func (in *inbound) utf8() []byte {
	ct := in.one("Content-Type")
	if !strings.Contains(ct, "charset") && !strings.Contains(ct, "CHARSET") {
		return in.body
	}
	_, params, err := mime.ParseMediaType(ct)
	if err != nil {
		return in.body
	}
	switch strings.ToLower(params["charset"]) {
	case "iso-8859-1", "latin1", "windows-1252":
		return appendLatin1(make([]byte, 0, len(in.body)+16), in.body)
	}
	return in.body
}

// looseBody looks at a body that no operation declares, for the trace alone:
// JSON when it says so or says nothing, and is.
func (in *inbound) looseBody() {
	if len(in.body) == 0 || in.json != nil {
		return
	}
	if t := mediaType(in.one("Content-Type")); t == "" || t == "text/plain" || isJSON(t) {
		if text, err := canon.AppendCompact(nil, in.body, canon.Lenient); err == nil {
			in.json = text
			return
		}
	}
	in.text = true
}

func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

// form reads application/x-www-form-urlencoded text: fields typed by their
// schema, in order of first appearance. A repeated field is an array when it is
// declared as one; of another, the last value counts. Nothing is split.
func (p *plan) form(text string) sim.Raw {
	var in sim.Input
	for _, q := range parseQuery(text) {
		if t := p.fieldTyping(q.name); t.kind == "array" {
			in.Set(q.name, list(t.elem, q.values))
		} else {
			in.Set(q.name, scalar(t.kind, q.values[len(q.values)-1]))
		}
	}
	return in.AppendJSON(nil)
}

func (p *plan) fieldTyping(name string) typing {
	if p.op.Body.AnyCase {
		name = strings.ToLower(name)
	}
	return p.typings[name]
}

// multipart reads multipart/form-data: a file, or a field declared as binary,
// becomes base64; a JSON part is parsed; a text part is typed by its schema. A
// repeated part is an array.
func (p *plan) multipart(contentType string, body []byte) (sim.Raw, error) {
	_, params, err := mime.ParseMediaType(contentType)
	switch {
	case contentType == "":
		return nil, errors.New("the request has no Content-Type, and so no boundary")
	case err != nil:
		return nil, fmt.Errorf("the Content-Type cannot be read: %w", err)
	case params["boundary"] == "":
		return nil, errors.New("the Content-Type gives no boundary")
	}
	r := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	parts := map[string][]sim.Raw{}
	var order []string
	for {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		name := unescapePartName(part.FormName())
		val, err := p.part(name, part)
		if err != nil {
			return nil, err
		}
		if parts[name] == nil {
			order = append(order, name)
		}
		parts[name] = append(parts[name], val)
	}
	var in sim.Input
	for _, name := range order {
		vals := parts[name]
		if len(vals) == 1 && p.fieldTyping(name).kind != "array" {
			in.Set(name, vals[0])
			continue
		}
		in.Set(name, sim.JoinArray(vals))
	}
	return in.AppendJSON(nil), nil
}

func (p *plan) part(name string, part *multipart.Part) (sim.Raw, error) {
	content, err := io.ReadAll(part)
	if err != nil {
		return nil, err
	}
	t := p.fieldTyping(name)
	_, isFile := dispositionFilename(part)
	if isFile || t.binary {
		return canon.AppendString(nil, base64.StdEncoding.EncodeToString(content)), nil
	}
	if isJSON(mediaType(part.Header.Get("Content-Type"))) {
		if text, err := canon.AppendCompact(nil, content, canon.Lenient); err == nil {
			return text, nil
		}
	}
	kind := t.kind
	if kind == "array" {
		kind = t.elem
	}
	return scalar(kind, string(content)), nil
}

// dispositionFilename tells a file by the presence of a file name, an empty one
// too.
func dispositionFilename(part *multipart.Part) (string, bool) {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return "", false
	}
	name, ok := params["filename"]
	return name, ok
}

// unescapePartName undoes the escapes that HTML's form encoding puts into a
// part's name.
func unescapePartName(name string) string {
	if strings.IndexByte(name, '%') < 0 {
		return name
	}
	return strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n", "%0d", "\r", "%0a", "\n").Replace(name)
}

// readBody reads a request's body, at most max bytes of it decoded. The refusal
// is not nil when it could not be read.
func readBody(r *http.Request, max int64) (body []byte, refused *sim.Refusal) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body, err := readAtMost(r.Body, r.ContentLength, max)
	switch {
	case errors.Is(err, errTooLarge):
		// Read some more, so that a client that sends before it reads gets its
		// answer.
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, max))
		return nil, tooLarge
	case err != nil:
		return body, &sim.Refusal{Status: http.StatusBadRequest, Message: "Request body could not be read to its end."}
	}
	switch enc := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); enc {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return unzip(body, max)
	default:
		return body, &sim.Refusal{
			Status:  http.StatusUnsupportedMediaType,
			Message: "Content-Encoding '" + enc + "' is not supported: send the body as it is, or with gzip.",
		}
	}
}

var errTooLarge = errors.New("body too large")

var tooLarge = &sim.Refusal{Status: http.StatusRequestEntityTooLarge, Message: "Body too large."}

func readAtMost(r io.Reader, length, max int64) ([]byte, error) {
	if length > 0 && length <= max {
		body := make([]byte, length)
		n, err := io.ReadFull(r, body)
		return body[:n], err
	}
	body, err := io.ReadAll(io.LimitReader(r, max+1))
	if err == nil && int64(len(body)) > max {
		return nil, errTooLarge
	}
	return body, err
}

func unzip(body []byte, max int64) ([]byte, *sim.Refusal) {
	if len(body) == 0 {
		return nil, nil
	}
	bad := &sim.Refusal{Status: http.StatusBadRequest, Message: "Request body is not valid gzip."}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, bad
	}
	out, err := readAtMost(z, -1, max)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, tooLarge
	case err != nil:
		return nil, bad
	}
	return out, nil
}
