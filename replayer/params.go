package replayer

import (
	"encoding/base64"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/media"
)

// A param is a declared parameter with how its recorded text is read. Two texts
// that mean the same value are equal, so this is wider than the simulator's own
// reading: whatever style was used on either side, the values are compared.
type param struct {
	*air.Param
	kind, elem string
	sep        string
	schema     *air.Value
}

func newParam(p *air.Param, refs *air.Value) param {
	schema := follow(p.Schema, refs)
	n := param{Param: p, kind: typeName(schema), sep: ",", schema: schema}
	switch p.Style {
	case "spaceDelimited":
		n.sep = " "
	case "pipeDelimited":
		n.sep = "|"
	}
	if n.kind == "array" {
		n.elem = typeName(follow(schema.Get("items"), refs))
	}
	return n
}

// follow resolves references into the contract's schemas.
func follow(schema, refs *air.Value) *air.Value {
	for range 8 {
		ref := schema.Get("$ref").Text()
		if ref == "" {
			return schema
		}
		schema = refs.Get(ref[strings.LastIndexByte(ref, '/')+1:])
	}
	return nil
}

// typeName is the declared type; of a list, the first that is not null.
func typeName(schema *air.Value) string {
	t := schema.Get("type")
	for _, e := range t.Elems() {
		if e.Text() != "null" {
			return e.Text()
		}
	}
	return t.Text()
}

// texts is the value of a parameter that was sent with these texts.
func (p *param) texts(texts []string) *canon.Value {
	if p.kind != "array" {
		return scalar(p.kind, texts[len(texts)-1])
	}
	if len(texts) == 1 {
		texts = strings.Split(texts[0], p.sep)
	}
	return listOf(p.elem, texts)
}

func listOf(kind string, texts []string) *canon.Value {
	elems := make([]*canon.Value, len(texts))
	for i, t := range texts {
		elems[i] = scalar(kind, t)
	}
	return canon.NewArray(elems...)
}

func scalar(kind, text string) *canon.Value {
	switch kind {
	case "integer", "number":
		if t := strings.TrimSpace(text); canon.IsNumber(t) {
			return canon.NewNumber(t)
		}
	case "boolean":
		if text == "true" || text == "false" {
			return canon.NewBool(text == "true")
		}
	}
	return canon.NewString(text)
}

// query reads the parameter from a recorded query, nil when it has none.
func (p *param) query(pairs []pair) *canon.Value {
	var members []canon.Member
	for i := range pairs {
		name, texts := pairs[i].name, pairs[i].values
		if name == p.Name || p.kind == "array" && name == p.Name+"[]" {
			return p.texts(texts)
		}
		if inner, ok := strings.CutPrefix(name, p.Name+"["); ok && strings.HasSuffix(inner, "]") {
			key := strings.TrimSuffix(inner, "]")
			members = append(members, canon.Member{Key: key, Value: scalar(typeName(air.Property(p.schema, key)), texts[len(texts)-1])})
		}
	}
	if p.kind == "object" && p.Style == "form" {
		for i := range pairs { // the object's properties stand in the query by themselves
			if s := air.Property(p.schema, pairs[i].name); s != nil {
				members = append(members, canon.Member{Key: pairs[i].name, Value: scalar(typeName(s), pairs[i].values[0])})
			}
		}
	}
	if members == nil {
		return nil
	}
	return canon.NewObject(members...)
}

// formValue types the texts of one form field by its schema.
func formValue(schema *air.Value, texts []string) *canon.Value {
	switch kind := typeName(schema); {
	case kind == "array":
		return listOf(typeName(schema.Get("items")), texts)
	case kind == "object" && len(texts) == 1:
		if v, err := canon.Parse([]byte(texts[0]), canon.Lenient); err == nil {
			return v
		}
		return canon.NewString(texts[0])
	case kind == "" && len(texts) > 1:
		return listOf("", texts)
	default:
		return scalar(kind, texts[len(texts)-1])
	}
}

// partValue is a part of a multipart body: a file in base64, JSON parsed, text
// typed by its schema.
func partValue(schema *air.Value, file bool, contentType string, content []byte) *canon.Value {
	format := schema.Get("format").Text()
	switch {
	case file || format == "binary" || format == "byte":
		return canon.NewString(base64.StdEncoding.EncodeToString(content))
	case media.JSON(media.Type(contentType)):
		if v, err := canon.Parse(content, canon.Lenient); err == nil {
			return v
		}
	}
	return scalar(typeName(schema), string(content))
}
