package sample

import (
	"math"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// Fit reads an example as a value of a type of JSON Schema: "12" as the number,
// 12 as the text, a text that is the JSON of an object as the object. It is nil
// when the example is of another type, and the example as it is when the type is
// "" or unknown.
func Fit(ex *api.Value, typ string) *api.Value {
	switch typ {
	case "string":
		if ex.Is(canon.Number) || ex.Is(canon.Bool) {
			return canon.NewString(ex.String())
		}
		return keep(ex, canon.String)
	case "integer", "number":
		if ex.Is(canon.String) && canon.IsNumber(ex.Text()) {
			ex = canon.NewNumber(ex.Text())
		}
		if typ == "integer" && ex.Float() != math.Trunc(ex.Float()) {
			return nil
		}
		return keep(ex, canon.Number)
	case "boolean":
		if t := ex.Text(); ex.Is(canon.String) && (t == "true" || t == "false") {
			return canon.NewBool(t == "true")
		}
		return keep(ex, canon.Bool)
	case "array":
		return keep(parsed(ex), canon.Array)
	case "object":
		return keep(parsed(ex), canon.Object)
	}
	return ex
}

func keep(v *api.Value, k canon.Kind) *api.Value {
	if v.Is(k) {
		return v
	}
	return nil
}

// parsed reads the text of a JSON object or array.
func parsed(ex *api.Value) *api.Value {
	text := strings.TrimSpace(ex.Text())
	if !ex.Is(canon.String) || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return ex
	}
	v, err := canon.Parse([]byte(text), canon.Lenient)
	if err != nil {
		return ex
	}
	return v
}

// missing is an example for a schema that the drawing would do badly by; nil
// when it does well.
func (m *Maker) missing(s *api.Value, depth int) *api.Value {
	if s.Get("allOf") != nil || s.Get("oneOf") != nil || s.Get("anyOf") != nil || depth > 4 {
		return nil
	}
	typ := m.typ(s)
	if d := s.Get("default"); d != nil && !d.Is(canon.Null) && typ != "object" && (typ != "array" || len(d.Elems()) > 0) {
		if fit := Fit(d, typ); fit != nil {
			return fit
		}
	}
	several := !s.Get("type").Is(canon.String)
	switch typ {
	case "string":
		return text(s, several)
	case "integer", "number":
		return number(s, typ == "integer", several)
	case "boolean":
		if several {
			return canon.NewBool(true)
		}
	case "array":
		return m.array(s, several)
	case "":
		if untypedText(s) {
			return text(s, true)
		}
	}
	return nil
}

// untypedText reports whether a schema without a type speaks of text.
func untypedText(s *api.Value) bool {
	return s.Get("pattern").Is(canon.String) || drawn[s.Get("format").Text()] != "" || formats[s.Get("format").Text()] != ""
}

// array is [] for a list of what it stands in itself, and the items where the
// drawing sees no type.
func (m *Maker) array(s *api.Value, several bool) *api.Value {
	if tuple := s.Get("prefixItems").Elems(); len(tuple) > 0 && s.Get("items") == nil {
		elems := make([]*api.Value, len(tuple))
		for i, e := range tuple {
			if elems[i] = m.plain(e); elems[i] == nil {
				return nil
			}
		}
		return canon.NewArray(elems...)
	}
	if s.Get("items") == nil {
		return canon.NewArray() // the drawing would make [null]
	}
	if several {
		if v := m.plain(s.Get("items")); v != nil {
			return canon.NewArray(v)
		}
		return canon.NewArray()
	}
	return nil
}

// plain is a value of a schema of a plain type; nil of another.
func (m *Maker) plain(s *api.Value) *api.Value {
	s = m.deref(s)
	for _, v := range slices.Concat([]*api.Value{s.Get("const"), s.Get("example")}, s.Get("examples").Elems(), s.Get("enum").Elems()) {
		if v != nil && !v.Is(canon.Null) {
			return v
		}
	}
	switch m.typ(s) {
	case "string":
		return text(s, true)
	case "integer", "number":
		return number(s, m.typ(s) == "integer", true)
	case "boolean":
		return canon.NewBool(true)
	}
	return nil
}

// formats are texts of formats that the drawing does not know.
var formats = map[string]string{
	"byte": "ZXhhbXBsZQ==", "base64": "ZXhhbXBsZQ==", "binary": "example", "duration": "P1D", "uri-reference": "/resource", "uri-template": "/resource/{id}", "iri": "https://example.com/resource",
	"idn-email": "user@example.com", "json-pointer": "/example", "datetime": "2026-01-01T00:00:00Z", "timestamp": "2026-01-01T00:00:00Z",
	"ip": "192.0.2.1", "ip-address": "192.0.2.1", "mac": "00:00:5e:00:53:01", "phone": "+12025550100", "guid": "00000000-0000-4000-a000-000000000000",
}

// drawn are the formats that the drawing knows.
var drawn = map[string]string{
	"date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z", "time": "00:00:00Z", "email": "user@example.com",
	"uri": "https://example.com/resource", "url": "https://example.com/resource", "hostname": "api.example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uuid": "00000000-0000-4000-a000-000000000000",
}

// text is an example of a string with a pattern, or of a format that the drawing
// does not know; always says that there must be one.
func text(s *api.Value, always bool) *api.Value {
	least, most := int(bound(s, "minLength", 0)), int(min(bound(s, "maxLength", 256), 256))
	format := s.Get("format").Text()
	if p := s.Get("pattern"); p.Is(canon.String) {
		if t, ok := drawn[format]; ok && matches(p.Text(), t) {
			return when(always, t)
		}
		if t, ok := Match(p.Text(), least, most); ok {
			return canon.NewString(t)
		}
	}
	if t, ok := formats[format]; ok && len(t) >= least && len(t) <= most {
		return canon.NewString(t)
	}
	if !always {
		return nil
	}
	t := drawn[format]
	if t == "" {
		t = "example"
	}
	for len(t) < least && len(t) < 256 {
		t += t
	}
	return canon.NewString(t[:min(len(t), max(most, 0))])
}

// when is a text that the drawing makes too, where it must be told.
func when(needed bool, t string) *api.Value {
	if needed {
		return canon.NewString(t)
	}
	return nil
}

func bound(s *api.Value, key string, usual float64) float64 {
	if v := s.Get(key); v.Is(canon.Number) {
		return math.Min(math.Max(v.Float(), -1<<53), 1<<53)
	}
	return usual
}

// number is an example of a number where the drawing would leave its bounds.
func number(s *api.Value, whole, always bool) *api.Value {
	low, high := bound(s, "minimum", math.Inf(-1)), bound(s, "maximum", math.Inf(1))
	overLow, underHigh := s.Get("exclusiveMinimum").True(), s.Get("exclusiveMaximum").True()
	if v := bound(s, "exclusiveMinimum", math.Inf(-1)); v >= low {
		low, overLow = v, overLow || !math.IsInf(v, 0)
	}
	if v := bound(s, "exclusiveMaximum", math.Inf(1)); v <= high {
		high, underHigh = v, underHigh || !math.IsInf(v, 0)
	}
	step := bound(s, "multipleOf", 0)
	if !always && step <= 0 && drawnWell(s, low, high, overLow, underHigh, whole) {
		return nil
	}
	if whole && step <= 0 {
		step = 1
	}
	in := func(v float64) bool { return v > low && v < high || v == low && !overLow || v == high && !underHigh }
	var tries []float64
	if step > 0 {
		tries = []float64{step, math.Ceil(low/step) * step, math.Ceil(low/step)*step + step, math.Floor(high/step) * step, math.Floor(high/step)*step - step, 0}
	} else {
		tries = []float64{1, low/2 + high/2, low + 1, high - 1, low, high}
	}
	for _, v := range tries {
		if !math.IsInf(v, 0) && !math.IsNaN(v) && in(v) {
			return canon.NewFloat(v)
		}
	}
	return nil
}

// drawnWell reports whether what is drawn stays in the bounds: minimum, or 0,
// and up to 999 more, or to the maximum; with a fraction unless it is whole.
func drawnWell(s *api.Value, low, high float64, overLow, underHigh, whole bool) bool {
	from := bound(s, "minimum", 0)
	to := from + 999
	if s.Get("maximum").Is(canon.Number) {
		to = math.Max(from, from+math.Floor(bound(s, "maximum", 0)-from))
	}
	if whole && from != math.Trunc(from) {
		return false
	}
	if !whole {
		to += 0.99
	}
	return from >= low && to <= high && (from > low || !overLow) && (to < high || !underHigh)
}
