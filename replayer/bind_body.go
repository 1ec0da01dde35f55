package replayer

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/media"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// recordedBody is a recorded body as the provider is told of it, nil for none.
func (o *operation) recordedBody(r *tape.Request) *canon.Value {
	if o.Body == nil || len(r.Body) == 0 {
		return nil
	}
	body, err := r.Content()
	if err != nil {
		body = r.Body
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	v := o.decodeBody(r.Header.Get("Content-Type"), body)
	if o.Body.Whole || !v.Is(canon.Object) {
		if v.Is(canon.Null) || !o.Body.Whole {
			return nil
		}
		return v
	}
	var members []canon.Member
	for _, f := range o.Body.Fields {
		for _, m := range v.Members() {
			if (m.Key == f.Name || o.Body.AnyCase && strings.EqualFold(m.Key, f.Name)) && !m.Value.Is(canon.Null) {
				members = append(members, canon.Member{Key: f.Name, Value: m.Value})
			}
		}
	}
	if members == nil {
		return nil
	}
	return canon.NewObject(members...)
}

// decodeBody reads a recorded body as the contract declares it: what is declared to
// be neither JSON nor a form is text, whatever it looks like. Beside that a recording
// of a client that used another coding counts as what it means.
func (o *operation) decodeBody(contentType string, body []byte) *canon.Value {
	switch declared := media.Type(o.Body.ContentType); {
	case media.Binary(declared):
		return canon.NewString(base64.StdEncoding.EncodeToString(body))
	case !media.JSON(declared) && declared != "application/x-www-form-urlencoded" && declared != "multipart/form-data":
		return textValue(body)
	}
	sent, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		sent = media.Type(o.Body.ContentType)
	}
	switch {
	case sent == "application/x-www-form-urlencoded":
		var members []canon.Member
		for _, p := range parseQuery(string(body)) {
			name := strings.TrimSuffix(p.name, "[]")
			members = append(members, canon.Member{Key: name, Value: formValue(o.fieldSchema(name), p.values)})
		}
		return canon.NewObject(members...)
	case strings.HasPrefix(sent, "multipart/") && params["boundary"] != "":
		if v := o.multipartBody(body, params["boundary"]); v != nil {
			return v
		}
	}
	if v, err := canon.Parse(body, canon.Lenient); err == nil {
		return v
	}
	return textValue(body)
}

// textValue is a text as the simulator carries it, with its way of writing what is
// no UTF-8.
func textValue(body []byte) *canon.Value {
	return canon.NewString(canon.Unquote(canon.AppendString(nil, body)))
}

func (o *operation) fieldSchema(name string) *air.Value {
	for _, f := range o.Body.Fields {
		if f.Name == name {
			return f.Schema
		}
	}
	return air.Property(o.Body.Schema, name)
}

func (o *operation) multipartBody(body []byte, boundary string) *canon.Value {
	var members []canon.Member
	many := map[string][]*canon.Value{}
	for r := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := r.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil
		}
		name := part.FormName()
		schema := o.fieldSchema(name)
		if s := schema.Get("items"); s != nil {
			schema = s
		}
		many[name] = append(many[name], partValue(schema, part.FileName() != "", part.Header.Get("Content-Type"), content))
		members = append(members, canon.Member{Key: name, Value: many[name][0]})
	}
	for i, m := range members {
		if len(many[m.Key]) > 1 || typeName(o.fieldSchema(m.Key)) == "array" {
			members[i].Value = canon.NewArray(many[m.Key]...)
		}
	}
	return canon.NewObject(members...)
}
