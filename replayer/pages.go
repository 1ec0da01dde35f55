package replayer

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// A chain is the recorded pages of one query, joined in cursor order.
type chain struct {
	id      int
	card    *card
	its     []*tape.Interaction // the pages, and the errors between them
	from    []int               // where each of its begins among the items
	items   []json.RawMessage
	bumps   []bump
	start   int     // items before the first one, when the recording begins in the middle
	head    *string // the cursor of the first page, nil when it is the query's first
	numeric bool    // continues by page numbers or offsets
	exact   bool    // cursors take part in the match: pages stand for themselves
	done    bool    // the last page said that none follows
	more    bool    // the last page said that one follows
	next    *string // the cursor that the last page gave; nil when unknown
	last    *canon.Value
	total   *int64
	headers []byte

	given   int // items that were given, guarded by the provider
	touched bool
}

// A bump is an error that was recorded in place of a page.
type bump struct {
	at    int
	it    *tape.Interaction
	given bool
}

// A page is what one recorded answer says of a paged query.
type page struct {
	items   []json.RawMessage
	next    *string // the cursor of the next page
	done    bool    // it says that it is the last
	more    bool    // it says that one follows; neither when it says nothing
	total   *int64
	last    *canon.Value // the last item
	headers []byte
}

// readPage takes a recorded answer of a paged operation apart; nil when it is no
// page, such as an error.
func (o *operation) readPage(it *tape.Interaction, size string) (*page, error) {
	if it.Failure != nil {
		return nil, nil
	}
	if it.Call != nil {
		return callPage(it.Call)
	}
	if it.Response.Status < 200 || it.Response.Status > 299 {
		return nil, nil
	}
	body, err := recordedJSON(&it.Response)
	if err != nil {
		return nil, err
	}
	list := o.findItems(body)
	if list == nil {
		return nil, nil
	}
	p := &page{headers: o.headers(it.Response.Header)}
	for _, e := range list.Elems() {
		p.items = append(p.items, e.AppendJSON(nil))
		p.last = e
	}
	o.readNext(p, it, body, size)
	return p, nil
}

func callPage(c *tape.Call) (*page, error) {
	r, err := provider.ParseResponse(c.Answer)
	if err != nil || !r.OK || r.Items == nil {
		return nil, nil
	}
	p := &page{items: r.Items, next: r.NextCursor, done: r.NextCursor == nil, more: r.NextCursor != nil, total: r.Total, headers: r.Headers}
	if n := len(r.Items); n > 0 {
		p.last, _ = canon.Parse(r.Items[n-1], canon.Lenient)
	}
	return p, nil
}

// findItems is the list of a recorded page: where the contract says, else the
// first array of the body.
func (o *operation) findItems(body *canon.Value) *canon.Value {
	if body.Is(canon.Array) {
		return body
	}
	v := body
	for _, name := range o.items {
		v = v.Get(name)
	}
	if v.Is(canon.Array) {
		return v
	}
	if o.Pagination != nil && o.Pagination.ItemsField != "" {
		return nil
	}
	for _, m := range body.Members() {
		if m.Value.Is(canon.Array) {
			return m.Value
		}
	}
	return nil
}

// readNext finds how a recorded page says what follows.
func (o *operation) readNext(p *page, it *tape.Interaction, body *canon.Value, size string) {
	v := body
	for _, name := range o.next {
		v = v.Get(name)
	}
	cursor := plainCursor(v)
	if cursor == "" {
		cursor = body.Get("@odata.nextLink").Text()
	}
	if cursor == "" {
		cursor = nextLink(it.Response.Header.Values("Link"))
	}
	if strings.Contains(cursor, "?") || strings.Contains(cursor, "://") {
		cursor = o.cursorOfURL(cursor)
	}
	p.total = o.totalOf(body)
	if cursor != "" {
		p.next, p.more = &cursor, true
		return
	}
	declared := o.Pagination != nil && o.Pagination.NextField != ""
	more, last, says := continues(body)
	switch {
	case says && (more || last):
		p.more, p.done = more, last
	case v != nil || declared && !o.counts():
		p.done = true // an empty continuation, or the declared one left out
	case it.Response.Header.Has("Link"):
		p.done = true // links, and none to a next page
	default:
		n, ok := number(size)
		if !ok {
			n, _ = o.DerivedPageSize()
		}
		p.done = len(p.items) < n || len(p.items) == 0 || !o.counts()
	}
}

// totalOf is how many items a recorded page says there are in all: in its block of
// the position, else at the top, which is where the simulator writes it.
func (o *operation) totalOf(body *canon.Value) *int64 {
	for _, v := range []*canon.Value{o.position(body), body} {
		if t := v.Get("total"); t.Is(canon.Number) {
			if n, err := strconv.ParseInt(t.Text(), 10, 64); err == nil && n >= 0 {
				return &n
			}
		}
	}
	return nil
}

// position is the block of a recorded page that says where it stands, nil for
// none.
func (o *operation) position(body *canon.Value) *canon.Value {
	if o.Pagination == nil || o.Pagination.PagingField == "" {
		return nil
	}
	v := body
	for _, name := range air.FieldPath(o.Pagination.PagingField) {
		v = v.Get(name)
	}
	return v
}

// counts reports whether the operation continues by numbers.
func (o *operation) counts() bool {
	return o.Pagination != nil && (o.Pagination.Style == "page" || o.Pagination.Style == "offset")
}

func plainCursor(v *canon.Value) string {
	if v.Is(canon.String) || v.Is(canon.Number) {
		return v.Text()
	}
	return ""
}

// continues reads a marker of the usual names, at the top or one level below.
func continues(body *canon.Value) (more, last, says bool) {
	for _, v := range append([]*canon.Value{body}, objectsOf(body)...) {
		for _, name := range []string{"has_more", "hasMore", "has_next", "hasNextPage"} {
			if m := v.Get(name); m.Is(canon.Bool) {
				return m.True(), !m.True(), true
			}
		}
		for _, name := range []string{"isLast", "is_last", "last"} {
			if m := v.Get(name); m.Is(canon.Bool) {
				return !m.True(), m.True(), true
			}
		}
	}
	return false, false, false
}

func objectsOf(body *canon.Value) []*canon.Value {
	var list []*canon.Value
	for _, m := range body.Members() {
		if m.Value.Is(canon.Object) {
			list = append(list, m.Value)
		}
	}
	return list
}

// nextLink is the target of a rel="next" link.
func nextLink(values []string) string {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			target, params, _ := strings.Cut(part, ";")
			target = strings.TrimSpace(target)
			params = strings.ReplaceAll(strings.ReplaceAll(params, " ", ""), `"`, "")
			if strings.HasPrefix(target, "<") && strings.Contains(";"+params+";", ";rel=next;") {
				return strings.Trim(target, "<>")
			}
		}
	}
	return ""
}

// cursorOfURL is the cursor that a continuation URL carries.
func (o *operation) cursorOfURL(raw string) string {
	_, query, _ := strings.Cut(raw, "?")
	names := []string{"$skiptoken", "$skip"}
	if o.Pagination != nil && o.Pagination.CursorParam != "" {
		names = append([]string{o.Pagination.CursorParam}, names...)
	}
	values, _ := url.ParseQuery(query)
	for _, name := range names {
		if v := values.Get(name); v != "" {
			return v
		}
	}
	return raw
}
