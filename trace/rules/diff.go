package rules

import (
	"strings"

	"github.com/anvil-sim/anvil/trace"
)

// DiffSchema is the value of the key "schema" of a file of diff rules.
const DiffSchema = "anvil.trace.diff-rules/v1"

// ReadDiff adds the rules of a file to the options. A rule needs a reason. The
// error is an *Error.
func ReadDiff(file string, data []byte, o *trace.DiffOptions) error {
	doc, err := Parse(file, data)
	if err != nil {
		return err
	}
	fields, err := doc.Fields("schema", "ignore", "only", "tolerance", "rename", "align", "unordered")
	if err != nil {
		return err
	}
	if s := doc.Get("schema"); !s.Is() {
		return doc.Errorf("has no schema, want schema: %s", DiffSchema)
	}
	if o.Reasons == nil {
		o.Reasons = map[string]string{}
	}
	for _, f := range fields {
		if err := diffField(f, o); err != nil {
			return err
		}
	}
	return nil
}

func diffField(f Field, o *trace.DiffOptions) error {
	switch f.Key {
	case "schema":
		if s, err := f.Value.Text(); err != nil || s != DiffSchema {
			return f.Value.Errorf("found the schema %s, want %s", f.Value.kind(), DiffSchema)
		}
	case "align":
		s, err := f.Value.Text()
		if err != nil || s != "auto" && s != "seq" && s != "call" {
			return f.Value.Errorf("found %s, want auto, seq or call", f.Value.kind())
		}
		if o.Align == "" || o.Align == trace.AlignAuto {
			o.Align = trace.Align(s)
		}
	case "unordered":
		b, err := f.Value.Bool()
		if err != nil {
			return err
		}
		o.Unordered = o.Unordered || b
	default:
		list, err := f.Value.Sequence()
		if err != nil {
			return err
		}
		for _, n := range list {
			if err := diffRule(f.Key, n, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func diffRule(kind string, n Node, o *trace.DiffOptions) error {
	known := []string{"path", "reason"}
	switch kind {
	case "ignore":
		known = append(known, "operation", "tool")
	case "tolerance":
		known = append(known, "operation", "tool", "amount")
	case "rename":
		known = append(known, "operation", "tool", "class")
	}
	if _, err := n.Fields(known...); err != nil {
		return err
	}
	reason, err := n.need("reason", "say why the value may differ")
	if err != nil {
		return err
	}
	path, err := n.scopedPath()
	if err != nil {
		return err
	}
	switch kind {
	case "tolerance":
		t, err := n.tolerance()
		if err != nil {
			return err
		}
		t.Path = path
		o.Tolerance = append(o.Tolerance, t)
	case "rename":
		class, err := n.optional("class")
		if err != nil {
			return err
		}
		if (class == "") == (path == "") {
			return n.Errorf("want either path or class")
		}
		path += class
		o.Rename = append(o.Rename, path)
	default:
		if path == "" {
			return n.Errorf("has no path, want a JSON Pointer such as /provider/meta/**")
		}
		if kind == "only" {
			o.Only = append(o.Only, path)
		} else {
			o.Ignore = append(o.Ignore, path)
		}
	}
	o.Reasons[path] = reason
	return nil
}

// scopedPath is the path of a rule behind the operation or tool that it is for.
func (n Node) scopedPath() (string, error) {
	path, err := n.optional("path")
	if err != nil {
		return "", err
	}
	if path != "" && !strings.HasPrefix(path, "/") {
		return "", n.Get("path").Errorf("found %q, want a JSON Pointer such as /provider/meta/**", path)
	}
	scope, err := n.scope(path)
	return scope + path, err
}

func (n Node) tolerance() (trace.Tolerance, error) {
	amount, err := n.need("amount", "such as 0.01 or 5%")
	if err != nil {
		return trace.Tolerance{}, err
	}
	t, err := trace.ParseTolerance(amount)
	if err != nil {
		return t, n.Get("amount").Errorf("%v", err)
	}
	return t, nil
}

func (n Node) need(key, why string) (string, error) {
	v := n.Get(key)
	if !v.Is() {
		return "", n.Errorf("has no %s: %s", key, why)
	}
	s, err := v.Text()
	if err == nil && strings.TrimSpace(s) == "" {
		err = v.Errorf("the %s is empty: %s", key, why)
	}
	return s, err
}

// scope is what stands before the path of a rule for one operation or tool.
func (n Node) scope(path string) (string, error) {
	op, err := n.optional("operation")
	if err != nil {
		return "", err
	}
	tool, err := n.optional("tool")
	switch {
	case err != nil:
		return "", err
	case op == "" && tool == "":
		return "", nil
	case op != "" && tool != "":
		return "", n.Errorf("want either operation or tool")
	case path == "":
		return "", n.Errorf("has an operation or tool and no path, want a JSON Pointer such as /response/etag")
	case strings.Contains(op+tool, ":/") || strings.HasPrefix(op+tool, "/"):
		return "", n.Errorf("found the name %q, want that of an operation or tool", op+tool)
	}
	return op + tool + ":", nil
}

func (n Node) optional(key string) (string, error) {
	if v := n.Get(key); v.Is() {
		return v.Text()
	}
	return "", nil
}
