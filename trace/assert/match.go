package assert

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace/rules"
)

// A matcher tests the value at one place of an entry.
type matcher struct {
	path   string
	equal  *canon.Value
	text   []byte // equal as it is written mostly
	subset *canon.Value
	re     *regexp.Regexp
	schema *jsonschema.Schema
	absent bool
}

// readMatchers reads a mapping of JSON Pointers and what must stand there.
func readMatchers(n rules.Node) ([]*matcher, error) {
	fields, err := n.Fields()
	if err != nil {
		return nil, err
	}
	var out []*matcher
	for _, f := range fields {
		if !strings.HasPrefix(f.Key, "/") {
			return nil, f.At.Errorf("found %q, want a JSON Pointer into the entry such as /response/id", f.Key)
		}
		m, err := readMatcher(f.Key, f.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if len(out) == 0 {
		return nil, n.Errorf("is empty, want a JSON Pointer with what must stand there")
	}
	return out, nil
}

func readMatcher(path string, n rules.Node) (m *matcher, err error) {
	m = &matcher{path: path}
	fields, err := n.Fields("equal", "subset", "regexp", "schema", "absent")
	if err != nil {
		return nil, err
	}
	if len(fields) != 1 {
		return nil, n.Errorf("want exactly one of equal, subset, regexp, schema and absent")
	}
	switch f := fields[0]; f.Key {
	case "equal":
		if m.equal, err = f.Value.Value(); err == nil {
			m.text = m.equal.AppendJSON(nil)
		}
	case "subset":
		m.subset, err = f.Value.Value()
	case "regexp":
		var text string
		if text, err = f.Value.Text(); err == nil {
			if m.re, err = regexp.Compile(text); err != nil {
				err = f.Value.Errorf("%v", err)
			}
		}
	case "schema":
		m.schema, err = readSchema(f.Value)
	case "absent":
		m.absent = true
		if b, berr := f.Value.Bool(); berr != nil || !b {
			err = f.Value.Errorf("want absent: true")
		}
	}
	return m, err
}

// noLoader refuses schemas elsewhere: a verdict must not depend on a network.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema cannot refer to another file, found %s", url)
}

func readSchema(n rules.Node) (*jsonschema.Schema, error) {
	v, err := n.Value()
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.AppendJSON(nil)))
	if err != nil {
		return nil, n.Errorf("%v", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("rule:schema", doc); err != nil {
		return nil, n.Errorf("%v", err)
	}
	s, err := c.Compile("rule:schema")
	if err != nil {
		return nil, n.Errorf("the schema is no JSON Schema: %s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return s, nil
}

// showValue is how much of a value a message shows, in bytes.
const showValue = 200

func show(v []byte) string {
	if len(v) > showValue {
		return strings.ToValidUTF8(string(v[:showValue]), "") + fmt.Sprintf("... (%d bytes)", len(v))
	}
	return string(v)
}

// test says why the value is not as wanted, nothing when it is.
func (m *matcher) test(c *call) []string {
	raw := c.Pointer(m.path)
	if m.absent {
		if raw != nil {
			return []string{m.path + ": found " + show(raw) + ", want nothing there"}
		}
		return nil
	}
	if raw == nil {
		return []string{m.path + ": nothing is there"}
	}
	if m.plainly(raw) {
		return nil
	}
	v, err := canon.Parse(raw, canon.Lenient)
	if err != nil {
		return []string{m.path + ": " + err.Error()}
	}
	switch {
	case m.equal != nil:
		if !sameValue(m.equal, v) {
			return []string{m.path + ": found " + show(raw) + ", want " + show(m.equal.AppendJSON(nil))}
		}
	case m.subset != nil:
		return subset(m.path, m.subset, v)
	case m.re != nil:
		s := v.Text()
		if !v.Is(canon.String) {
			s = v.String()
		}
		if !m.re.MatchString(s) {
			return []string{m.path + ": found " + show(raw) + ", want a text that matches " + m.re.String()}
		}
	case m.schema != nil:
		return m.validate(v)
	}
	return nil
}

// plainly reports whether the value is as wanted, where its bytes tell.
func (m *matcher) plainly(raw []byte) bool {
	switch {
	case m.equal != nil:
		return bytes.Equal(raw, m.text)
	case m.re != nil:
		return raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) && m.re.Match(raw[1:len(raw)-1])
	}
	return false
}

func (m *matcher) validate(v *canon.Value) []string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.AppendJSON(nil)))
	if err != nil {
		return []string{m.path + ": " + err.Error()}
	}
	err = m.schema.Validate(doc)
	if err == nil {
		return nil
	}
	var v1 *jsonschema.ValidationError
	if !errors.As(err, &v1) {
		return []string{m.path + ": " + err.Error()}
	}
	var out []string
	for line := range strings.SplitSeq(v1.Error(), "\n") {
		if line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "-")); line != "" && !strings.HasPrefix(line, "jsonschema validation failed") {
			out = append(out, m.path+": "+line)
		}
	}
	return out
}

func sameValue(a, b *canon.Value) bool {
	return bytes.Equal(canon.AppendIdentity(nil, a), canon.AppendIdentity(nil, b))
}

// subset says where got lacks what want has: keys of objects, elements of arrays
// in their order with others between them.
func subset(path string, want, got *canon.Value) (why []string) {
	switch {
	case want.Is(canon.Object) && got.Is(canon.Object):
		for _, m := range want.Members() {
			at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(m.Key)
			if v := got.Get(m.Key); v == nil {
				why = append(why, at+": nothing is there, want "+show(m.Value.AppendJSON(nil)))
			} else {
				why = append(why, subset(at, m.Value, v)...)
			}
		}
		return why
	case want.Is(canon.Array) && got.Is(canon.Array):
		next := 0
		for _, w := range want.Elems() {
			for next < len(got.Elems()) && len(subset("", w, got.Elems()[next])) > 0 {
				next++
			}
			if next == len(got.Elems()) {
				return []string{path + ": no element is " + show(w.AppendJSON(nil))}
			}
			next++
		}
		return nil
	case !sameValue(want, got):
		return []string{path + ": found " + show(got.AppendJSON(nil)) + ", want " + show(want.AppendJSON(nil))}
	}
	return nil
}
