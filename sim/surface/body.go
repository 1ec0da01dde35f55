package surface

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/media"
	"github.com/anvil-sim/anvil/sim"
)

// A bodyKind is how a declared body is decoded.
type bodyKind int

const (
	textBody bodyKind = iota // any other content type: carried as text
	jsonBody
	formBody
	multipartBody
	binaryBody // carried as base64
)

func bodyKindOf(contentType string) bodyKind {
	switch t := media.Type(contentType); {
	case media.JSON(t):
		return jsonBody
	case t == "application/x-www-form-urlencoded":
		return formBody
	case t == "multipart/form-data":
		return multipartBody
	case media.Binary(t):
		return binaryBody
	}
	return textBody
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
	case binaryBody:
		if len(in.body) > 0 {
			in.json = canon.AppendString(nil, base64.StdEncoding.EncodeToString(in.body))
		}
	case jsonBody:
		if !blank(in.body) {
			body := in.utf8()
			in.json, err = canon.AppendCompact(make([]byte, 0, len(body)), body, canon.Lenient)
		}
	case formBody:
		if len(in.body) > 0 {
			in.json = in.plan.form(string(in.utf8()))
			in.warnForm(c.Op.Body)
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

// warnForm says in the trace that a form's fields were looked for in a body of
// another media type, and that there was none.
func (in *inbound) warnForm(declared *air.Body) {
	sent := media.Type(in.one("Content-Type"))
	if sent == "" || bodyKindOf(sent) == formBody {
		return
	}
	found := false
	canon.Members(in.json, func(key, _ []byte) bool {
		_, found = in.plan.declaredField(canon.Unquote(key))
		return !found
	})
	if !found {
		in.warnings = append(in.warnings, fmt.Sprintf("The body says that it is %s, and was read as %s, which the operation declares: no declared field is in it.", sent, media.Type(declared.ContentType)))
	}
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
	return textOf(in.one("Content-Type"), in.body)
}

// textOf is the UTF-8 of bytes with a content type.
func textOf(contentType string, octets []byte) []byte {
	if !strings.Contains(strings.ToLower(contentType), "charset") {
		return octets
	}
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return octets
	}
	switch strings.ToLower(params["charset"]) {
	case "iso-8859-1", "latin1", "windows-1252":
		return appendLatin1(make([]byte, 0, len(octets)+16), octets)
	}
	return octets
}

// looseBody looks at a body that no operation declares, for the trace alone:
// JSON when it says so or says nothing, and is.
func (in *inbound) looseBody() {
	if len(in.body) == 0 || in.json != nil {
		return
	}
	if t := media.Type(in.one("Content-Type")); t == "" || t == "text/plain" || media.JSON(t) {
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

// firstRoom is how much room a body gets on its length alone. More it gets as it
// comes: a client may announce much and send little.
const firstRoom = 64 << 10

func readAtMost(r io.Reader, length, max int64) ([]byte, error) {
	if length > 0 && length <= max {
		body := make([]byte, min(length, firstRoom))
		for n := 0; ; {
			k, err := io.ReadFull(r, body[n:])
			if n += k; err != nil || int64(n) == length {
				return body[:n], err
			}
			body = append(make([]byte, 0, min(length, 4*int64(n))), body...)
			body = body[:cap(body)]
		}
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
