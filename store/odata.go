package store

import (
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// The subset of OData's query options (OData 4.01, URL conventions, 5.1.1): the
// comparisons eq ne gt ge lt le in, contains startswith endswith substringof,
// and or not, parentheses, null, $orderby, $select of columns, $count, $search.

// odata reads one $-option.
func (r *reading) odata(name, n string, raw []byte) (known bool, err error) {
	text := plainText(raw)
	switch n {
	case "filter":
		f, err := parseOData(r, name, text)
		if err == nil {
			r.filters = append(r.filters, f)
		}
		return true, err
	case "orderby":
		return true, r.addSort(name, text)
	case "search":
		return true, r.freeText(name, text)
	case "select":
		for part := range strings.SplitSeq(text, ",") {
			switch part = strings.TrimSpace(part); {
			case part == "" || part == "*":
			case r.g.shows(part):
				r.selected = append(r.selected, part)
			default:
				r.ignored = append(r.ignored, name+"["+part+"]")
			}
		}
		return true, nil
	case "count":
		if text != "true" && text != "false" {
			return true, invalid("parameter %q wants true or false, got %s", clip(name), describe(raw))
		}
		return true, nil // the total is always told
	}
	return false, nil
}

// An odataParser reads one $filter.
type odataParser struct {
	tokens
	r *reading
}

// Bounds of a $filter.
const (
	maxODataDepth = 64
	maxODataTerms = 500
)

func parseOData(r *reading, name, text string) (filter, error) {
	p := &odataParser{tokens: tokens{name: name, text: text}, r: r}
	if err := p.next(); err != nil {
		return filter{}, err
	}
	f, err := p.or()
	if err == nil && (p.tok != "" || p.quote) {
		err = p.fail("want and, or, or the end")
	}
	f.param = name
	return f, err
}

// next reads a token: a word, a literal in single quotes, a sign.
func (p *odataParser) next() error {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	p.start, p.tok, p.quote = p.at, "", false
	if p.at == len(p.text) {
		return nil
	}
	switch c := p.text[p.at]; c {
	case '\'':
		return p.literal()
	case '(', ')', ',':
		p.tok = string(c)
		p.at++
		return nil
	}
	end := p.at + strings.IndexAny(p.text[p.at:], " \t(),'")
	if end < p.at {
		end = len(p.text)
	}
	p.tok, p.at = p.text[p.at:end], end
	return nil
}

func (p *odataParser) literal() error {
	var b strings.Builder
	for i := p.at + 1; i < len(p.text); i++ {
		if p.text[i] != '\'' {
			b.WriteByte(p.text[i])
			continue
		}
		if i+1 < len(p.text) && p.text[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		p.tok, p.quote, p.at = b.String(), true, i+1
		return nil
	}
	p.tok = p.text[p.at:]
	return p.fail("want a closing quote")
}

func (p *odataParser) is(word string) bool { return !p.quote && p.tok == word }

func (p *odataParser) expect(word string) error {
	if !p.is(word) {
		return p.fail("want %s", word)
	}
	return p.next()
}

func (p *odataParser) or() (filter, error) { return p.series("or", opAny, p.and) }

func (p *odataParser) and() (filter, error) { return p.series("and", opAll, p.unary) }

// series reads parts joined by a word.
func (p *odataParser) series(word string, join op, part func() (filter, error)) (filter, error) {
	first, err := part()
	if err != nil || !p.is(word) {
		return first, err
	}
	parts := []filter{first}
	for p.is(word) {
		if err := p.next(); err != nil {
			return first, err
		}
		f, err := part()
		if err != nil {
			return first, err
		}
		parts = append(parts, f)
	}
	return filter{op: join, parts: parts}, nil
}

func (p *odataParser) unary() (f filter, err error) {
	if p.depth++; p.depth > maxODataDepth {
		return f, p.fail("the filter is nested deeper than %d", maxODataDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.is("not"):
		if err := p.next(); err != nil {
			return f, err
		}
		f, err = p.unary()
		return negate(f), err
	case p.is("("):
		if err := p.next(); err != nil {
			return f, err
		}
		if f, err = p.or(); err != nil {
			return f, err
		}
		return f, p.expect(")")
	}
	if p.terms++; p.terms > maxODataTerms {
		return f, p.fail("the filter has more than %d comparisons", maxODataTerms)
	}
	return p.comparison()
}

var odataFunctions = map[string]string{"contains": "contains", "startswith": "prefix", "endswith": "suffix", "substringof": "contains"}

func (p *odataParser) comparison() (f filter, err error) {
	if p.quote || p.tok == "" || p.tok == ")" || p.tok == "," {
		return f, p.fail("want a column, a function, not or (")
	}
	if word := odataFunctions[p.tok]; word != "" {
		return p.function(p.tok, word)
	}
	col, err := p.property()
	if err != nil {
		return f, err
	}
	if col.class == classBoolean && (p.tok == "" || p.is(")") || p.is("and") || p.is("or")) && !p.quote {
		return compare(col, p.name, "eq", []byte("true")) // a boolean is a condition by itself
	}
	word := map[string]string{"eq": "eq", "ne": "ne", "gt": "gt", "ge": "gte", "lt": "lt", "le": "lte", "in": "in"}[p.tok]
	if word == "" || p.quote {
		return f, p.fail("want eq, ne, gt, ge, lt, le or in")
	}
	if err := p.next(); err != nil {
		return f, err
	}
	raw, err := p.operand(word == "in")
	if err != nil {
		return f, err
	}
	if string(raw) == "null" {
		f = filter{col: col, null: true}
		if word == "ne" {
			return filter{col: col, op: opPresent}, nil
		}
		if word != "eq" {
			return f, p.fail("null can only be compared with eq and ne")
		}
		return f, nil
	}
	return compare(col, p.name, word, raw)
}

// property reads a column's name: a path's parts make one name, or the last part
// does.
func (p *odataParser) property() (*column, error) {
	name := p.tok
	col := p.r.baseColumn(strings.ReplaceAll(name, "/", "_"))
	if i := strings.LastIndexByte(name, '/'); col == nil && i >= 0 {
		col = p.r.baseColumn(name[i+1:])
	}
	if col == nil {
		names := p.r.g.table.names()
		if near := nearest(name, names); near != "" {
			return nil, p.fail("which is no column of %s; did you mean %q?", p.r.g.table.name, near)
		}
		return nil, p.fail("which is no column of %s (%s)", p.r.g.table.name, strings.Join(names, ", "))
	}
	return col, p.next()
}

func (p *odataParser) function(name, word string) (f filter, err error) {
	if err := p.next(); err != nil {
		return f, err
	}
	if err := p.expect("("); err != nil {
		return f, err
	}
	var col *column
	var raw []byte
	column := func() (err error) {
		col, err = p.property()
		return err
	}
	value := func() (err error) {
		raw, err = p.operand(false)
		return err
	}
	steps := []func() error{column, func() error { return p.expect(",") }, value}
	if name == "substringof" { // OData 3 has the text first
		steps[0], steps[2] = value, column
	}
	for _, step := range append(steps, func() error { return p.expect(")") }) {
		if err := step(); err != nil {
			return f, err
		}
	}
	if p.is("eq") { // contains(a,'b') eq true
		if err := p.next(); err != nil {
			return f, err
		}
		yes := p.is("true")
		if !yes && !p.is("false") {
			return f, p.fail("want true or false")
		}
		if f, err = compare(col, p.name, word, raw); err == nil && !yes {
			f = negate(f)
		}
		if err != nil {
			return f, err
		}
		return f, p.next()
	}
	return compare(col, p.name, word, raw)
}

// operand reads a literal as JSON; a list where in asks for one.
func (p *odataParser) operand(list bool) ([]byte, error) {
	if !list {
		return p.value()
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	out := []byte{'['}
	for {
		raw, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, raw...)
		if p.is(")") {
			return append(out, ']'), p.next()
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
		out = append(out, ',')
	}
}

func (p *odataParser) value() ([]byte, error) {
	tok, quoted := p.tok, p.quote
	if !quoted && (tok == "" || strings.ContainsAny(tok, "(),")) {
		return nil, p.fail("want a value")
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	switch {
	case quoted:
		return quoteText(tok), nil
	case tok == "null" || tok == "true" || tok == "false" || canon.IsNumber(tok):
		return []byte(tok), nil
	case (tok == "datetime" || tok == "guid" || tok == "datetimeoffset") && p.quote: // datetime'2026-01-01'
		return quoteText(p.tok), p.next()
	}
	return quoteText(tok), nil // a date, a guid
}

func quoteText(s string) []byte { return canon.AppendString(nil, s) }
