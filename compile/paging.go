package compile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/pattern"
)

// A paging is how an operation pages.
type paging struct {
	style                             string
	inBody                            bool
	cursor, next, items, size, block_ string
	max, def                          int
}

// Names in snake case, by what they page with, the surest first.
var (
	cursorNames = strings.Fields(`cursor page_token next_page_token next_token pagination_token continuation_token continuation
		page_cursor next_cursor start_cursor after_cursor skiptoken skip_token starting_after after bookmark marker scroll_id iterator continue start_key`)
	offsetNames = strings.Fields("offset skip start_at start_index start page_offset from_index first_result start_from")
	pageNames   = strings.Fields("page page_number page_num page_no page_index current_page p")
	sizeNames   = strings.Fields(`limit per_page page_size pagesize max_results page_limit results_per_page items_per_page max_items count top size
		num_results perpage page_len pagelen rows max num first take results batch_size`)
	// weakCursors page only together with other evidence.
	weakCursors = wordSet("after marker continue bookmark iterator starting_after start_key")
)

// inputs are what a caller can say: parameters of the query, or body fields.
type input struct {
	name, key string
	schema    *api.Value
	text      string
}

// detectPaging looks for a page position and a page size among what a reading
// operation takes, and for items and a continuation in what it answers.
func (c *compiler) detectPaging(o *operation) *paging {
	if p := c.pagingOf(o, c.queryInputs(o), false); p != nil {
		return p
	}
	if o.src.Method == "post" {
		return c.pagingOf(o, c.bodyInputs(o), true)
	}
	return nil
}

func (c *compiler) queryInputs(o *operation) []input {
	var out []input
	for _, p := range o.src.Params {
		if p.In == "query" {
			out = append(out, input{p.Name, pagingKey(p.Name), p.Schema, p.Description})
		}
	}
	return out
}

func (c *compiler) bodyInputs(o *operation) []input {
	if o.body == nil {
		return nil
	}
	var out []input
	for _, m := range c.schemas.properties(o.body.Schema) {
		s := c.schemas.deref(m.Value)
		out = append(out, input{m.Key, pagingKey(m.Key), s, s.Get("description").Text()})
	}
	return out
}

// pagingKey spells a name for comparison: page[size] and pageSize are page_size,
// $top is top.
func pagingKey(name string) string { return air.SnakeCase(name) }

// pick is the first of the names that is an input and fits.
func pick(in []input, names []string, fits func(*input) bool) *input {
	for _, n := range names {
		for i := range in {
			if in[i].key == n && fits(&in[i]) {
				return &in[i]
			}
		}
	}
	return nil
}

func (c *compiler) pagingOf(o *operation, in []input, inBody bool) *paging {
	size := pick(in, sizeNames, c.countable)
	items, array := c.pageItems(o)
	next := c.nextOf(o.output)
	if !array && items == "" && (size == nil || c.showsNoList(o, next)) {
		return nil
	}
	if !array && next == nil && isParam(lastOf(segments(o.src.Path))) && !usualItems[air.SnakeCase(items)] && !c.namedItems(o, items) {
		return nil // one record that has a list in it
	}
	p := &paging{inBody: inBody, items: items}
	pos := c.position(o, in, p, next, size)
	if pos == nil {
		return nil
	}
	p.cursor = pos.name
	if size != nil {
		p.size = size.name
		p.def = c.number(size, "default", defaultText())
		p.max = c.number(size, "maximum", maximumText())
	}
	c.continuation(o, p, pos, next)
	if !array && items == "" {
		c.note(o, api.Warning, "paging/items_unknown", "it pages by %q, but nothing in the response tells where the items are", pos.name)
	}
	return p
}

// position picks the parameter that says where the page begins.
func (c *compiler) position(o *operation, in []input, p *paging, next *found, size *input) *input {
	cursor, offset := pick(in, cursorNames, c.scalar), pick(in, offsetNames, c.countable)
	page := pick(in, pageNames, c.countable)
	if cursor == nil && page == nil && size != nil { // the id of the last one seen
		cursor = pick(in, []string{"since", "since_id", "after_id"}, func(i *input) bool { return c.schemas.typ(i.schema) == "integer" && !c.isDate(i) })
	}
	if offset != nil && offset.key == "start" && c.isDate(offset) {
		offset = nil
	}
	if offset == nil && size != nil {
		offset = pick(in, []string{"from"}, func(i *input) bool { return c.schemas.typ(i.schema) == "integer" })
	}
	strong := func(i *input) bool { return i != nil && (size != nil || next != nil || c.items(o)) }
	switch {
	case cursor != nil && strong(cursor) && (!weakCursors[cursor.key] || size != nil || next != nil):
		p.style = "cursor"
		return cursor
	case offset != nil && strong(offset) && (size != nil || next != nil || saysPage().MatchString(offset.text)):
		p.style = "offset"
		if c.schemas.typ(offset.schema) == "string" && (next != nil || saysToken().MatchString(offset.text)) {
			p.style = "cursor" // an opaque token that is called an offset
		}
		return offset
	case page != nil && strong(page):
		p.style = "page"
		return page
	}
	return nil
}

// scalar reports whether an input can be a cursor.
func (c *compiler) scalar(i *input) bool {
	t := c.schemas.typ(i.schema)
	return t == "string" || t == "integer" || t == "number" || t == ""
}

// showsNoList reports whether a response is declared in full and has no array:
// paging parameters that stand there all the same say nothing.
func (c *compiler) showsNoList(o *operation, next *found) bool {
	props := c.schemas.properties(o.output)
	if next != nil || len(props) == 0 || c.schemas.deref(o.output).Get("additionalProperties") != nil {
		return false
	}
	for _, m := range props {
		if t := c.schemas.typ(m.Value); t == "array" || t == "" {
			return false
		}
	}
	return true
}

// namedItems reports whether a field is called after the resource.
func (c *compiler) namedItems(o *operation, field string) bool {
	noun, _ := pathNoun(o.src.Path)
	return field != "" && sameNoun(field, noun)
}

// items reports whether the response shows a list.
func (c *compiler) items(o *operation) bool {
	items, array := c.pageItems(o)
	return array || items != ""
}

func (c *compiler) isDate(i *input) bool {
	f := c.schemas.deref(i.schema).Get("format").Text()
	return strings.HasPrefix(f, "date") || strings.Contains(strings.ToLower(i.text), "date")
}

// countable reports whether an input can be a number.
func (c *compiler) countable(i *input) bool {
	s := c.schemas.deref(i.schema)
	t := c.schemas.typ(s)
	return (t == "integer" || t == "number" || t == "string" || t == "") && s.Get("enum") == nil
}

// continuation says how the next page is named: by a field, which may hold a
// URL, or by a Link header.
func (c *compiler) continuation(o *operation, p *paging, pos *input, next *found) {
	if next != nil {
		if p.style == "page" && !next.url && next.kind != "integer" && next.kind != "string" {
			return
		}
		p.next = next.path
		if next.url {
			p.style = "link"
		}
		if strings.HasPrefix(next.path, "@odata.") {
			p.cursor = "$skiptoken" // what OData links carry, whether declared or not
		}
		return
	}
	switch m := nextText().FindStringSubmatch(pos.text); {
	case p.style == "page":
		p.block_ = c.blockOf(o.output)
	case p.style == "cursor" && m != nil && c.schemas.typ(o.output) != "array":
		p.next = m[2] + "." + m[1]
		c.note(o, api.Info, "paging/next_from_text", "the response declares no continuation; the text of %q says that it is %s", pos.name, p.next)
	}
}

var (
	saysPage = pattern.Of(`(?i)\bpag(?:e|es|ing|ination)\b`)
	// "a `next_cursor` attribute returned by a previous request's `response_metadata`"
	nextText    = pattern.Of(`\x60(\w*next\w*)\x60 (?:attribute|field|property|value|key)\b[^.\x60]{0,80}\x60(\w+)\x60`)
	saysToken   = pattern.Of(`(?i)\btoken\b`)
	defaultText = pattern.Of(`(?i)\bdefaults?(?: is| value is| to|:| of)? *[:=]? *\x60?(\d{1,6})\b`)
	maximumText = pattern.Of(`(?i)(?:\bmax(?:imum)?(?: is| of|:)? *[:=]? *\x60?|\bmaximum(?: \w+){1,3} is +\x60?|\bno more than |\bup to (?:a maximum of )?|\b(?:must be |value )?between 1 and |\b1 ?(?:to|-|–) ?)(\d{1,6})\b`)
)

// number reads a bound of the page size from its schema, else from its text.
func (c *compiler) number(i *input, keyword string, text *regexp.Regexp) int {
	if v := c.schemas.deref(i.schema).Get(keyword); v != nil {
		f := v.Float()
		if f >= 1 && f < 1<<31 {
			return int(f)
		}
		if n, err := strconv.Atoi(v.Text()); err == nil && n > 0 {
			return n
		}
		return 0
	}
	if m := text.FindStringSubmatch(i.text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

var usualItems = wordSet("items data results result values value records entries list elements rows objects content hits docs documents resources nodes edges collection")

// pageItems is where the items of a response are, as a dotted path; array is
// true for a response that is an array itself.
func (c *compiler) pageItems(o *operation) (path string, array bool) {
	if c.schemas.typ(o.output) == "array" {
		return "", true
	}
	noun, _ := pathNoun(o.src.Path)
	return c.itemsOf(o.output, noun), false
}

// itemsOf is the array of items in an envelope: of an usual name, of the name of
// the resource, or the only one there is; else one object deeper.
func (c *compiler) itemsOf(schema *api.Value, noun string) string {
	if schema == nil {
		return ""
	}
	if a := c.arrayIn(schema, noun, false); a != "" {
		return a
	}
	for _, m := range c.schemas.properties(schema) {
		wrapper := usualItems[air.SnakeCase(m.Key)] || m.Key == "response" || m.Key == "_embedded" || m.Key == "payload" || sameNoun(m.Key, noun)
		if wrapper && c.schemas.typ(m.Value) == "object" {
			if a := c.arrayIn(m.Value, noun, true); a != "" {
				return m.Key + "." + a
			}
		}
	}
	return ""
}

// arrayIn is the array of items among the properties of a schema; a strict
// search takes it by its name alone.
func (c *compiler) arrayIn(schema *api.Value, noun string, strict bool) string {
	lists := c.arraysOf(schema)
	if name := firstIn(lists, func(name string) bool { return sameNoun(name, noun) }); name != "" {
		return name
	}
	if name := firstIn(lists, func(name string) bool { return usualItems[air.SnakeCase(name)] }); name != "" {
		return name
	}
	if strict {
		return ""
	}
	required := c.schemas.required(schema)
	for _, list := range lists {
		if len(list) == 1 {
			return list[0]
		}
		needed := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return !required[name] })
		if len(needed) == 1 {
			return needed[0]
		}
	}
	return ""
}

// arraysOf lists the properties of a schema that may be the items of a page: those
// whose elements are objects, then all.
func (c *compiler) arraysOf(schema *api.Value) [2][]string {
	var arrays, ofObjects []string
	for _, m := range c.schemas.properties(schema) {
		if c.schemas.deref(m.Value).Get("type").Text() != "array" || strings.Contains(m.Key, ".") && !strings.HasPrefix(m.Key, "@") {
			continue
		}
		key := air.SnakeCase(m.Key)
		if sideArrays[key] {
			continue
		}
		arrays = append(arrays, m.Key)
		if t := c.schemas.typ(c.schemas.deref(m.Value).Get("items")); t == "object" || t == "" {
			ofObjects = append(ofObjects, m.Key)
		}
	}
	return [2][]string{ofObjects, arrays}
}

// firstIn is the first name in the lists that fits, "" when none does.
func firstIn(lists [2][]string, fits func(string) bool) string {
	for _, list := range lists {
		if i := slices.IndexFunc(list, fits); i >= 0 {
			return list[i]
		}
	}
	return ""
}

// sideArrays stand beside the items of a page.
var sideArrays = wordSet("errors warnings links messages_list warning_messages error_messages includes included response_metadata expand facets aggregations meta")

// sameNoun reports whether two names mean the same resource.
func sameNoun(a, b string) bool {
	if b == "" {
		return false
	}
	x, y := singularLast(air.SnakeCase(a)), singularLast(air.SnakeCase(b))
	return x == y || strings.HasSuffix(y, "_"+x) || strings.HasSuffix(x, "_"+y)
}

// found is a continuation field.
type found struct {
	path, kind string
	url        bool
}

var (
	nextNames = strings.Fields(`next_cursor next_page_token next_token next_page_cursor next_continuation_token continuation_token next_marker
		end_cursor next_offset next_page_url next_page_uri next_url next_uri next_link next_href odata_next_link next next_page after continue cursor offset next_key scroll_id`)
	nextSet    = wordSet(strings.Join(nextNames, " "))
	nextBlocks = wordSet(`meta metadata pagination paging page page_info response_metadata links next_page cursors cursor page_meta paging_info
		list_info search_metadata page_metadata`)
	weakNext = wordSet("after continue cursor offset next_key scroll_id")
)

// nextOf is the field of a response that names the next page: at the top, or in
// a block that is there for paging.
func (c *compiler) nextOf(schema *api.Value) *found {
	if schema == nil {
		return nil
	}
	if f := c.nextIn(schema, "", false); f != nil {
		return f
	}
	return c.nextInBlocks(schema, "", 2)
}

func (c *compiler) nextInBlocks(schema *api.Value, prefix string, depth int) *found {
	for _, m := range c.schemas.properties(schema) {
		if !nextBlocks[air.SnakeCase(m.Key)] || c.schemas.typ(m.Value) != "object" || strings.Contains(m.Key, ".") {
			continue
		}
		if f := c.nextIn(m.Value, prefix+m.Key+".", true); f != nil {
			return f
		}
		if depth > 1 {
			if f := c.nextInBlocks(m.Value, prefix+m.Key+".", depth-1); f != nil {
				return f
			}
		}
	}
	return nil
}

func (c *compiler) nextIn(schema *api.Value, prefix string, block bool) *found {
	byName := map[string][]canon.Member{}
	for _, m := range c.schemas.properties(schema) {
		key := air.SnakeCase(m.Key)
		dotted := strings.Contains(m.Key, ".") && !strings.HasPrefix(m.Key, "@")
		if !dotted && m.Key != "" && (m.Key[0] != '@' || prefix == "") && nextSet[key] {
			byName[key] = append(byName[key], m)
		}
	}
	for _, name := range nextNames {
		if weakNext[name] && !block || name == "offset" && !strings.HasSuffix(air.SnakeCase(strings.TrimSuffix(prefix, ".")), "next_page") {
			continue // in other blocks the offset is that of this page
		}
		for _, m := range byName[name] {
			if f := c.nextField(m.Value, prefix+m.Key, name); f != nil {
				return f
			}
		}
	}
	return nil
}

// nextField reads one candidate: text or a number, or an object with a URL.
func (c *compiler) nextField(schema *api.Value, path, name string) *found {
	s := c.schemas.deref(schema)
	switch t := c.schemas.typ(s); t {
	case "string", "integer", "number", "":
		if t == "" && len(c.schemas.properties(s)) > 0 {
			return nil
		}
		inLinks := strings.HasSuffix(strings.TrimSuffix(path, "."+name), "links")
		return &found{path, t, isURL(s, name) || inLinks && name == "next"}
	case "object":
		for _, m := range c.schemas.properties(s) {
			if m.Key == "href" || m.Key == "url" {
				return &found{path + "." + m.Key, "string", true}
			}
		}
	}
	return nil
}

var saysURL = pattern.Of(`(?i)\b(url|uri|link)\b`)

// isURL reports whether a continuation is a URL.
func isURL(s *api.Value, name string) bool {
	if f := s.Get("format").Text(); f == "uri" || f == "url" || f == "uri-reference" {
		return true
	}
	for _, end := range []string{"_url", "_uri", "_link", "_href"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	if name != "next" && name != "next_page" {
		return false
	}
	ex := s.Get("example").Text()
	return saysURL().MatchString(s.Get("description").Text()) || strings.HasPrefix(ex, "http") || strings.HasPrefix(ex, "/")
}

// blockOf is the object of a response that says which page this is.
func (c *compiler) blockOf(schema *api.Value) string {
	for _, m := range c.schemas.properties(schema) {
		switch air.SnakeCase(m.Key) {
		case "paging", "pagination", "page_info", "meta":
		default:
			continue
		}
		known := 0
		for _, k := range c.schemas.properties(m.Value) {
			if slices.Contains([]string{"count", "per_page", "page", "pages", "total"}, k.Key) {
				known++
			}
		}
		if known >= 2 {
			return m.Key
		}
	}
	return ""
}
