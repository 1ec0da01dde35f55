package store

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
)

// The subset of Jira's query language that columns can answer: = != > >= < <= ~ !~
// in, not in, is [not] empty, and or not, parentheses, order by, times from now (-7d,
// startOfDay()), currentUser(). A field is a column, or the row a foreign key points to by
// its key or name (project = ENG). A field without a column (sprint in openSprints()) is
// told as ignored with its place; and keeps what it knows, or and not leave all of it out.
// Of a field with a column, what rows cannot answer is refused: was, changed, other
// functions.

// A jqlParser reads one query.
type jqlParser struct {
	tokens
	r *reading
}

// jql adds the filters and the order of a query.
func (r *reading) jql(name, text string) error {
	p := &jqlParser{tokens: tokens{name: name, text: text}, r: r}
	if err := p.next(); err != nil {
		return err
	}
	if p.tok != "" && !p.is("order") || p.quote {
		f, known, err := p.series("or", "||", opAny, p.and)
		if err != nil {
			return err
		}
		switch {
		case known && f.op == opAll && f.col == nil: // each with a reason of its own
			r.filters = append(r.filters, f.parts...)
		case known:
			r.filters = append(r.filters, f)
		}
	}
	if p.is("order") {
		if err := p.order(); err != nil {
			return err
		}
	}
	if p.tok != "" || p.quote {
		return p.fail("want and, or, order by, or the end")
	}
	return nil
}

// unknown tells a part that no column takes.
func (p *jqlParser) unknown(start int, part string) {
	p.r.ignored = append(p.r.ignored, fmt.Sprintf("%s at character %d: %s", p.name, p.character(start), clip(part)))
}

const jqlSigns = " \t\r\n(),=!<>~&|\"'"

// next reads a token: a word, a text in quotes, a sign.
func (p *jqlParser) next() error {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	p.start, p.tok, p.quote = p.at, "", false
	rest := p.text[p.at:]
	if rest == "" {
		return nil
	}
	if rest[0] == '"' || rest[0] == '\'' {
		return p.quoted(rest[0])
	}
	for _, sign := range []string{"!=", ">=", "<=", "!~", "&&", "||", "=", ">", "<", "~", "!", "(", ")", ","} {
		if strings.HasPrefix(rest, sign) {
			p.tok = sign
			p.at += len(sign)
			return nil
		}
	}
	end := strings.IndexAny(rest, jqlSigns)
	if end < 0 {
		end = len(rest)
	}
	p.tok = rest[:max(end, 1)]
	p.at += len(p.tok)
	return nil
}

func (p *jqlParser) quoted(quote byte) error {
	var b strings.Builder
	for i := p.at + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == quote:
			p.tok, p.quote, p.at = b.String(), true, i+1
			return nil
		case c == '\\' && i+1 < len(p.text):
			i++
			b.WriteByte(p.text[i])
		default:
			b.WriteByte(c)
		}
	}
	p.tok = p.text[p.at:]
	return p.fail("want a closing quote")
}

func (p *jqlParser) is(word string) bool { return !p.quote && strings.EqualFold(p.tok, word) }

func (p *jqlParser) expect(word string) error {
	if !p.is(word) {
		return p.fail("want %s", word)
	}
	return p.next()
}

func (p *jqlParser) and() (filter, bool, error) { return p.series("and", "&&", opAll, p.unary) }

// series reads parts joined by a word. Of an and what is known is kept.
func (p *jqlParser) series(word, sign string, join op, part func() (filter, bool, error)) (filter, bool, error) {
	var parts []filter
	whole := true
	for {
		f, known, err := part()
		if err != nil {
			return f, false, err
		}
		if whole = whole && known; known {
			parts = append(parts, f)
		}
		if !p.is(word) && !p.is(sign) {
			break
		}
		if err := p.next(); err != nil {
			return f, false, err
		}
	}
	switch {
	case len(parts) == 0 || join == opAny && !whole:
		return filter{}, false, nil
	case len(parts) == 1:
		return parts[0], true, nil
	}
	return filter{op: join, parts: parts, param: p.name}, true, nil
}

func (p *jqlParser) unary() (f filter, known bool, err error) {
	if p.depth++; p.depth > maxODataDepth {
		return f, false, p.fail("the query is nested deeper than %d", maxODataDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.is("not"), p.is("!"):
		if err := p.next(); err != nil {
			return f, false, err
		}
		before := len(p.r.ignored)
		f, known, err = p.unary()
		// Of an and that is known in part the opposite is not known.
		f = negate(f)
		f.param = p.name
		return f, known && len(p.r.ignored) == before, err
	case p.is("("):
		if err := p.next(); err != nil {
			return f, false, err
		}
		if f, known, err = p.series("or", "||", opAny, p.and); err != nil {
			return f, false, err
		}
		return f, known, p.expect(")")
	}
	if p.terms++; p.terms > maxODataTerms {
		return f, false, p.fail("the query has more than %d comparisons", maxODataTerms)
	}
	return p.clause()
}

// jqlWords are the operators, and what compares alike.
var jqlWords = map[string]string{"=": "eq", "!=": "ne", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte", "~": "contains", "!~": "lacks", "in": "in", "is": "is"}

// clause reads one comparison.
func (p *jqlParser) clause() (f filter, known bool, err error) {
	if p.tok == "" && !p.quote || !p.quote && strings.ContainsAny(p.tok[:1], jqlSigns) {
		return f, false, p.fail("want a field, not or (")
	}
	field, start := p.tok, p.start
	if err := p.next(); err != nil {
		return f, false, err
	}
	col := p.r.jqlColumn(field)
	word, err := p.operator()
	if err != nil {
		return f, false, err
	}
	if word == "" && col != nil {
		return f, false, p.fail("which asks for the history of %q, and the rows have none; want another operator", field)
	}
	if word == "" { // was, changed
		p.unknown(start, field+" "+p.tok)
		return f, false, p.skip()
	}
	vals, err := p.operand(word)
	if err != nil {
		return f, false, err
	}
	switch {
	case col != nil:
		raw, err := p.resolve(col, word, vals)
		if err != nil {
			return f, false, err
		}
		f, err = p.compare(col, word, raw)
		return f, err == nil, err
	case word == "contains" && strings.EqualFold(field, "text") && !vals[0].call:
		return p.anywhere(vals[0].text)
	}
	p.unknown(start, field)
	return f, false, nil
}

// anywhere looks for words in any column.
func (p *jqlParser) anywhere(text string) (f filter, known bool, err error) {
	n := len(p.r.filters)
	if err := p.r.freeText(p.name, strings.Trim(text, "*")); err != nil {
		return f, false, err
	}
	found := slices.Clone(p.r.filters[n:])
	p.r.filters = p.r.filters[:n]
	return filter{op: opAll, parts: found, param: p.name}, len(found) > 0, nil
}

// operator reads a comparison's sign or words; "" for one that asks for history.
func (p *jqlParser) operator() (string, error) {
	not := false
	if p.is("not") {
		not = true
		if err := p.next(); err != nil {
			return "", err
		}
		if !p.is("in") {
			return "", p.fail("want in")
		}
	}
	if p.is("was") || p.is("changed") {
		return "", nil
	}
	word := jqlWords[strings.ToLower(p.tok)]
	if word == "" || p.quote {
		return "", p.fail("want =, !=, >, >=, <, <=, ~, !~, in, not in, is or is not")
	}
	if err := p.next(); err != nil {
		return "", err
	}
	if word == "is" && p.is("not") {
		word = "isnot"
		return word, p.next()
	}
	if not {
		word = "nin"
	}
	return word, nil
}

// skip goes over what follows was and changed, up to the next and, or, ) or order.
func (p *jqlParser) skip() error {
	for depth := 0; p.tok != "" || p.quote; {
		switch {
		case p.is("("):
			depth++
		case p.is(")") && depth > 0:
			depth--
		case depth == 0 && (p.is("and") || p.is("or") || p.is("&&") || p.is("||") || p.is(")") || p.is("order")):
			return nil
		}
		if err := p.next(); err != nil {
			return err
		}
	}
	return nil
}

func (p *jqlParser) order() error {
	if err := p.next(); err != nil {
		return err
	}
	if err := p.expect("by"); err != nil {
		return err
	}
	for {
		if p.tok == "" && !p.quote || p.is(",") {
			return p.fail("want a field")
		}
		s := rawSort{param: fmt.Sprintf("%s at character %d: order by %s", p.name, p.character(p.start), clip(p.tok)), name: p.tok, dir: "asc"}
		if len(p.r.sorts) >= maxSorts {
			return p.fail("the query sorts by more than %d fields", maxSorts)
		}
		if col := p.r.jqlColumn(p.tok); col != nil {
			s.name = col.name
		}
		if err := p.next(); err != nil {
			return err
		}
		if p.is("asc") || p.is("desc") {
			s.dir = strings.ToLower(p.tok)
			if err := p.next(); err != nil {
				return err
			}
		}
		p.r.sorts = append(p.r.sorts, s)
		if !p.is(",") {
			return nil
		}
		if err := p.next(); err != nil {
			return err
		}
	}
}

// jqlColumn is the column that a field means, nil for none.
func (r *reading) jqlColumn(field string) *column {
	switch n := normal(field); n {
	case "issuekey", "issue", "key":
		if col := r.g.column("key"); col != nil {
			return col
		}
	case "createddate", "updateddate":
		field = strings.TrimSuffix(n, "date")
	}
	return r.baseColumn(field)
}

// compare makes the filter of a comparison. What is empty is not unequal to a value,
// other than in the operators of parameters.
func (p *jqlParser) compare(col *column, word string, raw []byte) (f filter, err error) {
	switch {
	case string(raw) == "null" && (word == "eq" || word == "is"):
		return col.empty(p.name), nil
	case string(raw) == "null" && (word == "ne" || word == "isnot"):
		present := filter{col: col, op: opPresent, param: p.name}
		if f = col.empty(p.name); len(f.vals) == 0 {
			return present, nil
		}
		return filter{op: opAll, parts: []filter{present, negate(f)}, param: p.name}, nil
	case word == "lacks":
		f, err = p.compare(col, "contains", raw)
		return filter{op: opAll, parts: []filter{{col: col, op: opPresent}, negate(f)}, param: p.name}, err
	case word == "ne" || word == "nin":
		f, err = p.equal(col, raw)
		return filter{op: opAll, parts: []filter{{col: col, op: opPresent}, negate(f)}, param: p.name}, err
	case word == "eq" || word == "in":
		return p.equal(col, raw)
	case word == "contains":
		raw = quoteText(strings.Trim(plainText(raw), "*"))
	}
	return compare(col, p.name, word, raw)
}

// empty is the filter of rows that have no value in the column: NULL, an empty text or an
// empty JSON array, as programs store it.
func (c *column) empty(param string) filter {
	f := filter{col: c, null: true, param: param}
	switch c.class {
	case classJSON:
		f.vals = []driver.Value{"", "[]", "{}", "null"}
	case classString:
		f.vals = []driver.Value{""}
	}
	return f
}

// equal is equality with the column, or with a name of the row that it points to; a null
// among the values means what is empty.
func (p *jqlParser) equal(col *column, raw []byte) (filter, error) {
	vals := elements(raw)
	some := slices.DeleteFunc(slices.Clone(vals), func(e []byte) bool { return string(e) == "null" })
	if len(some) == len(vals) {
		return p.equalTo(col, raw)
	}
	f, err := p.equalTo(col, slices.Concat([]byte{'['}, bytes.Join(some, []byte{','}), []byte{']'}))
	return filter{col: col, op: opAny, parts: []filter{col.empty(p.name), f}, param: p.name}, err
}

func (p *jqlParser) equalTo(col *column, raw []byte) (filter, error) {
	parent := p.r.g.table.points(p.r.schema, col)
	if parent == nil {
		return compare(col, p.name, "eq", raw)
	}
	var ways []filter
	for _, c := range append(parent.key[:len(parent.key):len(parent.key)], parent.cols...) {
		if !slices.Contains(parent.key, c) && !jqlNames[c.norm] {
			continue
		}
		if f, err := compare(c, p.name, "eq", raw); err == nil && !slices.ContainsFunc(ways, func(w filter) bool { return w.col == c }) {
			ways = append(ways, f)
		}
	}
	if len(ways) == 0 {
		return compare(col, p.name, "eq", raw)
	}
	return filter{col: col, op: opVia, parts: []filter{anyOf(ways)}, param: p.name}, nil
}

// jqlNames are the columns by which a query names the row of another table.
var jqlNames = map[string]bool{"key": true, "name": true, "login": true, "username": true, "emailaddress": true, "email": true, "displayname": true, "accountid": true}

// points is the table whose only key column a foreign key holds, nil for none.
func (t *table) points(s *schema, col *column) *table {
	for _, fk := range t.fks {
		if parent := s.table(fk.parent); parent != nil && len(fk.cols) == 1 && fk.cols[0] == col && len(fk.targets(parent)) == 1 {
			return parent
		}
	}
	return nil
}
