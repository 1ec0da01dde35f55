package surface

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/sim"
)

// A paramPlan is how one parameter is read.
type paramPlan struct {
	*air.Param
	typ     typing
	style   string // the declared style, "" when the contract gives neither style nor explode
	explode bool
}

// newParamPlan applies OpenAPI's defaults where the contract declares a style
// or explode: style by location (form for query and cookie, simple for path and
// header), explode for form only. Where it declares neither, the recorded rule
// holds: one value of an array is split at commas, several are taken as they
// are, and objects are not read.
func newParamPlan(p *air.Param, refs *air.Value) paramPlan {
	pp := paramPlan{Param: p, typ: typingOf(p.Schema, refs), style: p.Style}
	if p.Style == "" && p.Explode == nil {
		return pp
	}
	if pp.style == "" {
		pp.style = "simple"
		if p.In == "query" || p.In == "cookie" {
			pp.style = "form"
		}
	}
	pp.explode = pp.style == "form" || pp.style == "deepObject"
	if p.Explode != nil {
		pp.explode = *p.Explode
	}
	if pp.style == "deepObject" {
		pp.typ = typingTo(deepTyped, p.Schema, refs)
	}
	return pp
}

// plainValue types texts by the recorded rule.
func (p *paramPlan) plainValue(texts []string) sim.Raw {
	if p.typ.kind != "array" {
		return scalar(p.typ.kind, texts[len(texts)-1])
	}
	if len(texts) == 1 {
		texts = strings.Split(texts[0], ",")
	}
	return list(p.typ.elem, texts)
}

// query reads a query parameter; nil when the query does not have it.
func (p *paramPlan) query(t *target) sim.Raw {
	switch {
	case p.typ.kind == "object" && p.style == "deepObject":
		return p.deepObject(t)
	case p.typ.kind == "object" && p.style != "" && p.explode:
		return p.spreadObject(t)
	}
	q := t.find(p.Name)
	switch {
	case q == nil:
		return nil
	case p.style == "" || p.typ.kind != "array" && p.typ.kind != "object":
		return p.plainValue(q.values)
	}
	if p.explode && p.typ.kind == "array" {
		return list(p.typ.elem, q.values)
	}
	return p.typ.delimited(q.raws, separator(p.style))
}

// separator is what parts values in one text.
func separator(style string) string {
	switch style {
	case "spaceDelimited":
		return " "
	case "pipeDelimited":
		return "|"
	}
	return ","
}

// splitRaw splits still-encoded text at a separator, which may itself be
// encoded when it may not stand in a URL, and decodes the parts: an encoded
// comma inside a value does not split it.
func splitRaw(raw, sep string, decode func(string) string) []string {
	switch sep {
	case " ":
		raw = strings.ReplaceAll(strings.ReplaceAll(raw, "%20", " "), "+", " ")
	case "|":
		raw = strings.ReplaceAll(strings.ReplaceAll(raw, "%7C", "|"), "%7c", "|")
	}
	parts := strings.Split(raw, sep)
	for i := range parts {
		parts[i] = decode(parts[i])
	}
	return parts
}

// pairUp reads name,value,name,value.
func pairUp(parts []string) (pairs []named) {
	for i := 0; i+1 < len(parts); i += 2 {
		pairs = append(pairs, named{parts[i], parts[i+1 : i+2]})
	}
	return pairs
}

// keyed reads name=value parts.
func keyed(parts []string) (pairs []named) {
	for _, part := range parts {
		if name, value, ok := strings.Cut(part, "="); ok {
			pairs = append(pairs, named{name, []string{value}})
		}
	}
	return pairs
}

// spreadObject reads an exploded form object: each declared property is a query
// parameter of its own.
func (p *paramPlan) spreadObject(t *target) sim.Raw {
	var pairs []named
	for _, name := range p.typ.order {
		if q := t.find(name); q != nil {
			pairs = append(pairs, named{name, q.values})
		}
	}
	if pairs == nil {
		return nil
	}
	return p.typ.object(pairs)
}

// path reads a still-encoded path value; false when an escape in it is bad.
func (p *paramPlan) path(raw string) (sim.Raw, bool) {
	text, ok := unescapePath(raw)
	if !ok {
		return nil, false
	}
	if p.style == "" {
		return p.plainValue([]string{text}), true
	}
	prefix, sep := "", ","
	switch p.style {
	case "label":
		prefix, sep = ".", "."
		if !p.explode {
			sep = ","
		}
	case "matrix":
		prefix, sep = ";", ";"
		if !p.explode {
			prefix, sep = ";"+p.Name+"=", ","
		}
	}
	rest := strings.TrimPrefix(raw, prefix)
	decode := func(s string) string {
		d, _ := unescapePath(s) // the whole decodes, so do its parts
		return d
	}
	parts := splitRaw(rest, sep, decode)
	switch {
	case p.typ.kind == "object" && p.explode:
		return p.typ.object(keyed(parts)), true
	case p.typ.kind == "object":
		return p.typ.object(pairUp(parts)), true
	case p.style == "matrix" && p.explode:
		for i := range parts {
			parts[i] = strings.TrimPrefix(parts[i], p.Name+"=")
		}
	}
	if p.typ.kind == "array" {
		return list(p.typ.elem, parts), true
	}
	text = decode(rest)
	if p.style == "matrix" {
		text = strings.TrimPrefix(text, p.Name+"=")
	}
	return scalar(p.typ.kind, text), true
}

// cookie reads a cookie parameter; nil when no cookie has it. Exploded, an array
// is several cookies of one name, and an object a cookie for each property.
func (p *paramPlan) cookie(headers []string) sim.Raw {
	if p.style != "" && p.explode && p.typ.kind == "object" {
		var props []named
		for _, name := range p.typ.order {
			if values := cookieValues(headers, name); values != nil {
				props = append(props, named{name, values})
			}
		}
		if props == nil {
			return nil
		}
		return p.typ.object(props)
	}
	values := cookieValues(headers, p.Name)
	switch {
	case values == nil:
		return nil
	case p.style != "" && p.explode && p.typ.kind == "array":
		return list(p.typ.elem, values)
	}
	return p.headerValue(values[0])
}

// headerValue reads a header, or a cookie's value.
func (p *paramPlan) headerValue(text string) sim.Raw {
	if p.style == "" || p.typ.kind != "array" && p.typ.kind != "object" {
		return p.plainValue([]string{text})
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	switch {
	case p.typ.kind == "array":
		return list(p.typ.elem, parts)
	case p.explode && p.In == "header":
		return p.typ.object(keyed(parts))
	}
	return p.typ.object(pairUp(parts))
}
