package sim

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/anvil-sim/anvil/air/synth"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// fixturesPerResource is how many records a resource starts with.
const fixturesPerResource = 3

// A store is the built-in state: a few seeded records a resource, each with an
// id and a status. It evaluates no query.
type store struct {
	mu     sync.Mutex
	seed   uint32
	rng    *synth.Rng
	tables map[string]*table
	first  string // the first resource: the table of operations that name none
	// declared is true when of a record only what a schema declares is shown.
	declared bool
}

type table struct {
	rows []*row
	byID map[string]*row
	// shown are the records by what their ids are shown as; nil where all are
	// shown as they are.
	shown map[string]*row
	// keys are the inputs that name a record by what stands in a path's end, and
	// byField the records by what they were stored with under them.
	keys    []string
	byField map[string]*row
}

// A row is one record: the stored fields, and the bodies that were made of it.
type row struct {
	id     string
	fields Input
	bodies []madeBody // dropped when the fields change
}

// A madeBody is what one operation, by its index, answers for a record.
type madeBody struct {
	operation int
	text      Raw
}

func newStore(ops []*Operation, seed uint32, declared bool) *store {
	st := &store{seed: seed, rng: synth.NewRng(seed), tables: map[string]*table{}, declared: declared}
	var resources []string
	keys := map[string][]string{}
	for _, o := range ops {
		resources = append(resources, o.ResourceNoun())
		if o.names != "" {
			keys[o.ResourceNoun()] = append(keys[o.ResourceNoun()], o.names)
		}
	}
	slices.SortFunc(resources, canon.CompareUTF16)
	for _, r := range slices.Compact(resources) {
		t := &table{byID: map[string]*row{}}
		if declared {
			t.shown, t.keys, t.byField = map[string]*row{}, keys[r], map[string]*row{}
		}
		st.tables[r] = t
		for range fixturesPerResource {
			id := r + "_" + st.rng.Token(6)
			t.put(id, Input{{"id", canon.AppendString(nil, id)}, {"status", Raw(`"active"`)}})
		}
		if st.first == "" {
			st.first = r
		}
	}
	return st
}

func (t *table) put(id string, fields Input) *row {
	r := t.byID[id]
	if r == nil {
		r = &row{id: id}
		t.byID[id] = r
		t.rows = append(t.rows, r)
		if t.shown != nil {
			t.show(r)
		}
	}
	r.fields, r.bodies = fields, nil
	t.name(r)
	return r
}

func (st *store) tableOf(o *Operation) *table {
	if o.Resource != "" {
		return st.tables[o.Resource]
	}
	return st.tables[st.first]
}

// answer serves a call from the store.
func (st *store) answer(c *Call) Result {
	st.mu.Lock()
	defer st.mu.Unlock()
	t := st.tableOf(c.Op)
	switch {
	case c.Op.Paged() && !c.Op.mutation:
		return st.page(c, t)
	case !c.Op.mutation:
		if len(t.rows) == 0 {
			return Result{OK: true, Output: Raw("null")}
		}
		r := t.named(c)
		if r == nil {
			r = t.rows[0]
		}
		return Result{OK: true, Output: st.body(c.Op, r)}
	}
	r, refused := st.mutate(c, t)
	if refused != nil {
		return *refused
	}
	body := st.compose(c.Op, r) // not kept: the next change drops it
	if c.Op.Paged() {
		items := JoinArray([]Raw{body})
		return Result{OK: true, Output: pageOutput(items), Page: &Page{Items: items, Count: 1, Size: c.Op.pageSizeFor(0)}}
	}
	return Result{OK: true, Output: body}
}

func (st *store) page(c *Call, t *table) Result {
	size := c.Op.pageSizeFor(0)
	start := offsetOf(c.Cursor)
	from, to := sliceBounds(start, start+size, len(t.rows))
	var items []Raw
	for _, r := range t.rows[from:to] {
		items = append(items, st.body(c.Op, r))
	}
	page := &Page{Items: JoinArray(items), Count: len(items), Size: size}
	res := Result{OK: true, Output: pageOutput(page.Items), Page: page}
	if next := start + size; next < len(t.rows) {
		text := strconv.Itoa(next)
		res.NextCursor = &text
	}
	return res
}

// offsetOf is ECMAScript's parseInt(cursor), 0 when there is none.
func offsetOf(cursor *string) int {
	if cursor == nil {
		return 0
	}
	t := strings.TrimLeftFunc(*cursor, isSpace)
	end := 0
	if end < len(t) && (t[end] == '-' || t[end] == '+') {
		end++
	}
	for end < len(t) && t[end] >= '0' && t[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(t[:end])
	if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
		return 0
	}
	return n
}

// sliceBounds are the bounds of an ECMAScript array slice: negative ones count
// from the end.
func sliceBounds(from, to, n int) (int, int) {
	clamp := func(i int) int {
		if i < 0 {
			i += n
		}
		return max(0, min(i, n))
	}
	from, to = clamp(from), clamp(to)
	return from, max(from, to)
}

func (st *store) mutate(c *Call, t *table) (*row, *Result) {
	id := unquoted(c.Input.Get("id"))
	switch c.Op.Action {
	case "delete", "cancel":
		return st.cancel(c, t)
	}
	if val := c.Input.Get("id"); st.declared && present(val) && val[0] != '{' && val[0] != '[' {
		id = plainText(val)
	}
	if r := t.find(id); r != nil {
		id = r.id
	} else if r := t.named(c); r != nil && id == "" {
		id = r.id
	}
	if id == "" {
		prefix := c.Op.Resource
		if prefix == "" {
			prefix = "entity"
		}
		id = prefix + "_" + st.rng.Token(6)
	}
	status := Raw(`"active"`)
	if c.Op.Action == "approve" {
		status = Raw(`"updated"`)
	}
	fields := c.Op.withoutSecrets(c.Input) // its answers reach the trace
	fields.Set("id", canon.AppendString(nil, id))
	fields.Set("status", status)
	return t.put(id, fields), nil
}

func (st *store) cancel(c *Call, t *table) (*row, *Result) {
	val := c.Input.Get("id")
	var r *row
	switch {
	case present(val):
		r = t.find(plainText(val))
	case t.named(c) != nil:
		r = t.named(c)
	case len(t.rows) > 0:
		r = t.rows[0]
	}
	if r == nil {
		return nil, c.Op.refusal(provider.NotFound, "No entity '"+plainText(val)+"'.")
	}
	fields := slices.Clone(r.fields)
	fields.Set("status", Raw(`"cancelled"`))
	return t.put(r.id, fields), nil
}

// plainText is a JSON value as text: a string without its quotes.
func plainText(val Raw) string {
	if len(val) > 0 && val[0] == '"' {
		return canon.Unquote(val)
	}
	return string(val)
}

// body is the declared item synthesized from the seed, the record's fields on
// top. It depends on the record alone, so it is made once a record and
// operation.
func (st *store) body(o *Operation, r *row) Raw {
	for _, b := range r.bodies { // as few as the resource has operations
		if b.operation == o.index {
			return b.text
		}
	}
	text := st.compose(o, r)
	r.bodies = append(r.bodies, madeBody{operation: o.index, text: text})
	return text
}

func (st *store) compose(o *Operation, r *row) Raw {
	shape := synth.Body(o.item(), st.seed, o.ID+":"+r.id)
	switch {
	case shape.Kind() == canon.Object:
	case st.declared && shape != nil && !shape.Is(canon.Null):
		return shape.AppendJSON(nil) // a text or a list, say, has no place for a record
	default:
		return r.fields.AppendJSON(nil)
	}
	body := make(Input, 0, len(shape.Members())+len(r.fields))
	buf := make([]byte, 0, 32*len(shape.Members())) // one for all: what it outgrows stays where it is
	for _, m := range shape.Members() {
		from := len(buf)
		buf = m.Value.AppendJSON(buf)
		body.Set(m.Key, buf[from:len(buf):len(buf)])
	}
	if st.declared {
		declaredFields(&body, o.item(), r)
	} else {
		for _, f := range r.fields {
			body.Set(f.Key, f.Value)
		}
	}
	size := len("{}")
	for _, a := range body {
		size += len(a.Key) + len(`"":,`) + len(a.Value)
	}
	return body.AppendJSON(make([]byte, 0, size))
}
