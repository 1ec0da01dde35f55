package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// The subset of Jira's query language that columns can answer: = != > >= < <= ~ !~
// in, not in, is [not] empty, and or not, parentheses, order by. A field is a column,
// or the row a foreign key points to by its key or name (project = ENG). What is
// written right and no column takes (sprint in openSprints()) is told as ignored with
// its place; and keeps what it knows, or and not leave all of it out.

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
	p.r.ignored = append(p.r.ignored, fmt.Sprintf("%s at character %d: %s", p.name, start+1, clip(part)))
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
	word, err := p.operator()
	if err != nil {
		return f, false, err
	}
	if word == "" { // was, changed
		p.unknown(start, field+" "+p.tok)
		return f, false, p.skip()
	}
	raw, plain, err := p.operand(word == "in" || word == "nin")
	if err != nil {
		return f, false, err
	}
	col := p.r.jqlColumn(field)
	switch {
	case plain && col != nil:
		f, err = p.compare(col, word, raw)
		return f, err == nil, err
	case plain && word == "contains" && strings.EqualFold(field, "text"):
		return p.anywhere(plainText(raw))
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
	if word == "is" {
		if word = "eq"; p.is("not") {
			word = "ne"
			return word, p.next()
		}
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

// operand reads a value or a list of values as JSON; plain is false where one is a
// function.
func (p *jqlParser) operand(list bool) (raw []byte, plain bool, err error) {
	if !list || !p.is("(") {
		raw, plain, err = p.value()
		if list && err == nil {
			raw = append(append([]byte{'['}, raw...), ']')
		}
		return raw, plain, err
	}
	raw, plain = []byte{'['}, true
	for !p.is(")") {
		if err := p.next(); err != nil { // over ( and ,
			return nil, false, err
		}
		val, known, err := p.value()
		if err != nil {
			return nil, false, err
		}
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		raw, plain = append(raw, val...), plain && known
		if !p.is(",") && !p.is(")") {
			return nil, false, p.fail("want , or )")
		}
	}
	return append(raw, ']'), plain, p.next()
}

func (p *jqlParser) value() (raw []byte, plain bool, err error) {
	tok, quoted := p.tok, p.quote
	if !quoted && (tok == "" || strings.ContainsAny(tok[:1], jqlSigns)) {
		return nil, false, p.fail("want a value")
	}
	if err := p.next(); err != nil {
		return nil, false, err
	}
	if !quoted && p.is("(") {
		for !p.is(")") {
			if err := p.next(); err != nil {
				return nil, false, err
			}
			if p.tok == "" && !p.quote {
				return nil, false, p.fail("want )")
			}
		}
		return []byte("null"), false, p.next()
	}
	switch {
	case !quoted && (strings.EqualFold(tok, "empty") || strings.EqualFold(tok, "null")):
		return []byte("null"), true, nil
	case !quoted && canon.IsNumber(tok):
		return []byte(tok), true, nil
	}
	return quoteText(tok), true, nil
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
		s := rawSort{param: fmt.Sprintf("%s at character %d: order by %s", p.name, p.start+1, clip(p.tok)), name: p.tok, dir: "asc"}
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
	case string(raw) == "null" && word == "eq":
		return filter{col: col, null: true, param: p.name}, nil
	case string(raw) == "null" && word == "ne":
		return filter{col: col, op: opPresent, param: p.name}, nil
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

// equal is equality with the column, or with a name of the row that it points to.
func (p *jqlParser) equal(col *column, raw []byte) (filter, error) {
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
