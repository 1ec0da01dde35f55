package surface

import (
	"slices"
	"strconv"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

// An envelope is how a page is wrapped.
type envelope struct {
	bare       bool // the response is declared as an array
	fixed      []fixedField
	markers    []marker
	items      []string // path of the items
	paging     []string // path of the position block, nil when there is none
	pagingKeys []string // keys that the block may have, in their fixed order
	next       []string // path of the continuation, nil when none is written
	nextEmpty  bool     // the last page has an empty continuation
	nextURL    bool     // the continuation is a URL
	total      bool     // the response declares a top-level integer total
}

// A fixedField is a field that the declared response fixes to one value.
type fixedField struct {
	name  string
	value sim.Raw
}

// A marker is a declared boolean that tells whether another page follows.
type marker struct {
	path []string
	last bool // true on the last page; else true while another page follows
}

// defaultNext is where a continuation goes when the contract names no field.
const defaultNext = "next_cursor"

// totalField is where a page carries the whole query's item count, when the
// response declares it and the provider reports it.
const totalField = "total"

func newEnvelope(op *sim.Operation) envelope {
	resp := op.Response()
	if !op.Paged() {
		return envelope{}
	}
	if resp.Get("type").Text() == "array" {
		return envelope{bare: true}
	}
	e := envelope{fixed: fixedFields(resp, true)}
	p := op.Pagination
	if p == nil {
		p = &air.Pagination{}
	}
	e.items = optionalPath(p.ItemsField)
	if e.items == nil {
		e.items = []string{firstArray(resp)}
	}
	e.markers = markersOf(resp, e.items)
	if p.PagingField != "" {
		e.paging = air.FieldPath(p.PagingField)
		e.pagingKeys = positionKeys(at(resp, e.paging))
	}
	e.next = optionalPath(p.NextField)
	switch {
	case e.next != nil:
		e.nextEmpty = requiresString(resp, e.next)
	case e.paging == nil:
		e.next = []string{defaultNext}
	}
	e.nextURL = p.Style == "link"
	e.total = e.paging == nil && typeName(air.Property(resp, totalField), nil) == "integer"
	return e
}

// optionalPath is the path of a field that a contract may name, nil without one.
func optionalPath(field string) []string {
	if field == "" {
		return nil
	}
	return air.FieldPath(field)
}

// at walks a schema by property names.
func at(schema *air.Value, path []string) *air.Value {
	for _, name := range path {
		schema = air.Property(schema, name)
	}
	return schema
}

// fixedFields are the top-level fields with a const, a one-member enum or, when
// defaults count, a scalar default.
func fixedFields(schema *air.Value, defaults bool) (fixed []fixedField) {
	for _, m := range air.Properties(schema) {
		v := m.Value.Get("const")
		if enum := m.Value.Get("enum").Elems(); v == nil && len(enum) == 1 {
			v = enum[0]
		}
		if v == nil && defaults {
			if d := m.Value.Get("default"); !d.Is(canon.Array) && !d.Is(canon.Object) && !d.Is(canon.Null) {
				v = d
			}
		}
		if v != nil {
			fixed = append(fixed, fixedField{m.Key, v.AppendJSON(nil)})
		}
	}
	return fixed
}

// firstArray names the first declared array property, "items" when there is none.
func firstArray(schema *air.Value) string {
	for _, m := range air.Properties(schema) {
		if typeName(m.Value, nil) == "array" {
			return m.Key
		}
	}
	return "items"
}

// markersOf finds the boolean page markers at the top level, then beside a
// nested items array.
func markersOf(schema *air.Value, items []string) (ms []marker) {
	parent := items[:len(items)-1]
	for _, at0 := range [][]string{nil, parent} {
		if at0 != nil && len(at0) == 0 {
			break
		}
		for _, m := range air.Properties(at(schema, at0)) {
			last, more := m.Key == "isLast" || m.Key == "is_last", m.Key == "has_more" || m.Key == "hasMore"
			if (last || more) && typeName(m.Value, nil) == "boolean" {
				ms = append(ms, marker{path: append(slices.Clone(at0), m.Key), last: last})
			}
		}
	}
	return ms
}

// positionKeys are the keys of a position block: what it declares, or without a
// declaration everything but per_page.
func positionKeys(block *air.Value) []string {
	all := []string{"count", "per_page", "page", "pages", "total"}
	if len(air.Properties(block)) == 0 {
		return []string{"count", "page", "pages", "total"}
	}
	return slices.DeleteFunc(all, func(k string) bool { return air.Property(block, k) == nil })
}

// requiresString reports whether the response requires the field as a string.
func requiresString(schema *air.Value, path []string) bool {
	parent := at(schema, path[:len(path)-1])
	name := path[len(path)-1]
	if typeName(air.Property(parent, name), nil) != "string" {
		return false
	}
	return slices.ContainsFunc(required(parent), func(r string) bool { return r == name })
}

func required(schema *air.Value) (names []string) {
	for _, r := range schema.Get("required").Elems() {
		names = append(names, r.Text())
	}
	for _, part := range schema.Get("allOf").Elems() {
		names = append(names, required(part)...)
	}
	return names
}

// A node is a JSON object being built by paths, or a value.
type node struct {
	name string
	raw  sim.Raw
	kids []node
}

// set puts a value at a path: objects are made on the way, what is no object is
// replaced, a name keeps its first place.
func (n *node) set(path []string, raw sim.Raw) {
	for _, name := range path {
		n.raw = nil
		i := slices.IndexFunc(n.kids, func(k node) bool { return k.name == name })
		if i < 0 {
			i = len(n.kids)
			n.kids = append(n.kids, node{name: name})
		}
		n = &n.kids[i]
	}
	n.raw, n.kids = raw, nil
}

func (n *node) appendJSON(dst []byte) []byte {
	if n.raw != nil {
		return append(dst, n.raw...)
	}
	dst = append(dst, '{')
	for i := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, n.kids[i].name), ':')
		dst = n.kids[i].appendJSON(dst)
	}
	return append(dst, '}')
}

// wrap writes the page of a result. The second value is the target of a bare
// array's Link header, "" when it has none.
func (e *envelope) wrap(in *inbound, r *sim.Result) (body sim.Raw, link string) {
	p := in.plan.op.Pagination
	if e.bare {
		if r.NextCursor != nil && p != nil && p.CursorParam != "" && !p.InBody {
			link = in.continuation(*r.NextCursor)
		}
		return r.Page.Items, link
	}
	var root node
	for _, f := range e.fixed {
		root.set([]string{f.name}, f.value)
	}
	more := r.NextCursor != nil
	for _, m := range e.markers {
		root.set(m.path, sim.Raw(strconv.FormatBool(more != m.last)))
	}
	root.set(e.items, r.Page.Items)
	if e.paging != nil {
		root.set(e.paging, e.position(in, r))
	}
	switch {
	case e.next == nil:
	case more && e.nextURL:
		root.set(e.next, canon.AppendString(nil, in.continuation(*r.NextCursor)))
	case more:
		root.set(e.next, canon.AppendString(nil, *r.NextCursor))
	case e.nextEmpty:
		root.set(e.next, sim.Raw(`""`))
	}
	if e.total && r.Total != nil {
		root.set([]string{totalField}, strconv.AppendInt(nil, *r.Total, 10))
	}
	return root.appendJSON(make([]byte, 0, len(r.Page.Items)+256)), ""
}

// continuation is a URL on the server's own origin that carries the cursor.
func (in *inbound) continuation(cursor string) string {
	name, without := in.plan.linkCursor()
	return in.origin + in.target.path + "?" + withQuery(in.target.raw, name, cursor, without)
}

// pageNumber is the page that was asked for: a positive integer that a double
// holds exactly, else 1.
func pageNumber(text string) int64 {
	num, ok := sim.NumberText(text)
	n, err := strconv.ParseInt(num, 10, 64)
	if !ok || err != nil || n < 1 || n > 1<<53 {
		return 1
	}
	return n
}

// position is the block of a page-numbered operation. Pages and total are known
// when the provider reports a total, else on the last page.
func (e *envelope) position(in *inbound, r *sim.Result) sim.Raw {
	page, size := int64(1), int64(r.Page.Size)
	if v, ok := in.target.last(in.plan.op.Pagination.CursorParam); ok {
		page = pageNumber(v)
	}
	total, known := int64(0), true
	switch {
	case r.Total != nil:
		total = *r.Total
	case r.NextCursor == nil:
		total = (page-1)*size + int64(r.Page.Count)
	default:
		known = false
	}
	dst := []byte{'{'}
	for _, k := range e.pagingKeys {
		var n int64
		switch k {
		case "count", "per_page":
			n = size
		case "page":
			n = page
		case "pages":
			n = max(1, (total+size-1)/size)
		case "total":
			n = total
		}
		if (k == "pages" || k == "total") && !known {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, k), ':')
		dst = strconv.AppendInt(dst, n, 10)
	}
	return append(dst, '}')
}
