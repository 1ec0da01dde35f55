package surface

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/media"
	"github.com/anvil-sim/anvil/sim"
)

// form reads application/x-www-form-urlencoded text: fields typed by their
// schema, in order of first appearance. A repeated field is an array when it is
// declared as one; of another, the last value counts. A text is split only where the
// contract puts all values into one; names with brackets are parts of a field that
// it spells so.
func (p *plan) form(text string) sim.Raw {
	var in sim.Input
	deep := map[string]*deepNode{}
	for _, q := range parseQuery(text) {
		if field, keys, list, ok := p.deepField(q.name); ok {
			if deep[field] == nil {
				deep[field] = &deepNode{}
				in.Set(field, nil) // its place
			}
			deep[field].add(keys, list, q.values)
		} else if t := p.fieldTyping(q.name); t.sep != "" {
			in.Set(q.name, t.delimitedField(q.raws))
		} else if t.kind == "array" {
			vals := make([]sim.Raw, len(q.values))
			for i, v := range q.values {
				vals[i] = fieldValue(t.elem, []byte(v))
			}
			in.Set(q.name, sim.JoinArray(vals))
		} else {
			in.Set(q.name, fieldValue(t.kind, []byte(q.values[len(q.values)-1])))
		}
	}
	for field, n := range deep {
		in.Set(field, n.json(p.fieldTyping(field)))
	}
	return in.AppendJSON(nil)
}

// fieldSeparator is what parts the values of a form's field that stand in one text, ""
// where each value has its own: OpenAPI's rule, of arrays of plain values and objects
// alone.
func fieldSeparator(f *air.Field, t typing) string {
	exploded := f.Style != "spaceDelimited" && f.Style != "pipeDelimited"
	if f.Explode != nil {
		exploded = *f.Explode
	}
	plain := t.kind == "array" && t.elem != "object" && t.elem != "array"
	if exploded || f.Style == "deepObject" || !plain && t.kind != "object" {
		return ""
	}
	return separator(f.Style)
}

// delimitedField reads values that stand in one text of a form. Form encoders write
// their separators as %2C too: they part values where no bare one stands.
func (t *typing) delimitedField(raws []string) sim.Raw {
	last := raws[len(raws)-1]
	if t.kind == "object" && strings.HasPrefix(unescapeForm(last), "{") {
		return fieldValue(t.kind, []byte(unescapeForm(last)))
	}
	if t.sep == "," && !strings.Contains(last, ",") {
		last = strings.ReplaceAll(strings.ReplaceAll(last, "%2C", ","), "%2c", ",")
	}
	return t.delimited(append(slices.Clone(raws[:len(raws)-1]), last), t.sep)
}

// fieldValue types the text of a form's field. An object is written as JSON; what
// is none stays text.
func fieldValue(kind string, text []byte) sim.Raw {
	if kind == "object" {
		if v, err := canon.AppendCompact(nil, text, canon.Lenient); err == nil && v[0] == '{' {
			return v
		}
	}
	return scalar(kind, string(text))
}

func (p *plan) fieldTyping(name string) typing {
	t, _ := p.declaredField(name)
	return t
}

// declaredField is how a declared field is typed.
func (p *plan) declaredField(name string) (t typing, ok bool) {
	if p.op.Body.AnyCase {
		name = strings.ToLower(name)
	}
	t, ok = p.typings[name]
	return t, ok
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
			if last := "--" + params["boundary"] + "--"; !bytes.Contains(body, []byte(last)) {
				return nil, fmt.Errorf("the closing boundary %s is missing", last)
			}
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
	if media.JSON(media.Type(part.Header.Get("Content-Type"))) {
		if text, err := canon.AppendCompact(nil, content, canon.Lenient); err == nil {
			return text, nil
		}
	}
	kind := t.kind
	if kind == "array" {
		kind = t.elem
	}
	return fieldValue(kind, textOf(part.Header.Get("Content-Type"), content)), nil
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
