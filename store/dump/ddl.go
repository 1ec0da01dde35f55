package dump

import (
	"fmt"
	"strings"
)

// A cursor walks the tokens of one statement.
type cursor struct {
	s      *Script
	tokens []token
	pos    int
	last   int // where the statement ends
}

func (c *cursor) peek() token {
	if c.pos < len(c.tokens) {
		return c.tokens[c.pos]
	}
	return token{kind: end, start: c.last, end: c.last}
}

func (c *cursor) next() token {
	t := c.peek()
	c.pos++
	return t
}

// take passes the words when all of them come next.
func (c *cursor) take(words ...string) bool {
	for i, w := range words {
		if c.pos+i >= len(c.tokens) || !c.tokens[c.pos+i].is(w) {
			return false
		}
	}
	c.pos += len(words)
	return true
}

func (c *cursor) fail(format string, args ...any) error {
	return c.s.lex.fail(c.peek().start, format, args...)
}

func (c *cursor) want(w string) error {
	if !c.take(w) {
		return c.fail("found %s, want %q", c.found(), w)
	}
	return nil
}

// found describes the next token for an error.
func (c *cursor) found() string {
	if t := c.peek(); t.kind != end {
		return fmt.Sprintf("%.40q", t.text)
	}
	return "the end of the statement"
}

// name reads a name; of schema.name only the last part counts.
func (c *cursor) name() (string, error) {
	for {
		t := c.peek()
		if t.kind != ident && t.kind != word && t.kind != str {
			return "", c.fail("found %s, want a name", c.found())
		}
		c.pos++
		if !c.take(".") {
			return t.text, nil
		}
	}
}

// names reads a list of names in parentheses; lengths and orders behind them are
// passed. Names are missing when an expression stands among them.
func (c *cursor) names() (out []string, err error) {
	if err := c.want("("); err != nil {
		return nil, err
	}
	for {
		if c.peek().is("(") {
			return nil, c.fail("found an expression, want the names of columns")
		}
		n, err := c.name()
		if err != nil {
			return nil, err
		}
		out = append(out, n)
		if c.peek().is("(") && c.pos+1 < len(c.tokens) && c.tokens[c.pos+1].kind != number {
			return nil, c.fail("found an expression, want the names of columns")
		}
		for !c.peek().is(",", ")") {
			if c.peek().kind == end {
				return nil, c.want(")")
			}
			c.skipOne()
		}
		if c.next().is(")") {
			return out, nil
		}
	}
}

// skipOne passes one token, or everything in a pair of parentheses.
func (c *cursor) skipOne() {
	if !c.next().is("(") {
		return
	}
	for depth := 1; depth > 0 && c.pos < len(c.tokens); {
		switch t := c.next(); {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		}
	}
}

// group returns the tokens inside the parentheses that come next.
func (c *cursor) group() []token {
	start := c.pos + 1
	c.skipOne()
	return c.tokens[start:max(start, min(c.pos-1, len(c.tokens)))]
}

// createTable reads behind CREATE TABLE.
func (c *cursor) createTable() (*Table, error) {
	c.take("if", "not", "exists")
	t := &Table{offset: c.peek().start}
	var err error
	if t.Name, err = c.name(); err != nil {
		return nil, err
	}
	if err := c.want("("); err != nil {
		return nil, err
	}
	for !c.take(")") {
		if err := c.tablePart(t); err != nil {
			return nil, err
		}
		if !c.take(",") && !c.peek().is(")") {
			return nil, c.fail("found %s, want \",\" or \")\"", c.found())
		}
	}
	if c.take("inherits", "(") {
		if t.parent, err = c.name(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// tablePart reads a column or a constraint of the table.
func (c *cursor) tablePart(t *Table) error {
	if c.take("constraint") && !c.peek().is("primary", "unique", "foreign", "check") {
		if _, err := c.name(); err != nil {
			return err
		}
	}
	if c.peek().kind == word {
		if ok, err := c.constraint(t); ok || err != nil {
			return err
		}
	}
	return c.columnDef(t)
}

// constraint reads a table constraint or key, if one comes next.
func (c *cursor) constraint(t *Table) (ok bool, err error) {
	switch {
	case c.take("primary", "key"):
		c.using()
		t.Key, err = c.names()
	case c.peek().is("unique"):
		c.next()
		_ = c.take("key") || c.take("index")
		var cols []string
		if cols, err = c.keyed(); err == nil {
			t.addUnique(cols)
		}
	case c.take("foreign", "key"):
		err = c.foreign(t, nil)
	case c.take("check"), c.take("exclude"):
		c.s.leave("CHECK constraints")
	case c.peek().is("key", "index", "fulltext", "spatial") && c.isIndex():
		unplain := c.next().is("fulltext", "spatial")
		_ = c.take("key") || c.take("index")
		at := c.pos
		var cols []string
		if cols, err = c.keyed(); err == nil && !unplain {
			c.s.addIndex(Index{Name: c.indexName(at, t, cols), Table: t.Name, Columns: cols})
		} else if err != nil { // an index over an expression
			c.s.leave("indexes over expressions")
			err = nil
		}
	default:
		return false, nil
	}
	for err == nil && !c.peek().is(",", ")") && c.peek().kind != end {
		c.skipOne()
	}
	return true, err
}

func (c *cursor) indexName(at int, t *Table, cols []string) string {
	if n := c.tokens[at]; n.kind == ident || n.kind == word {
		return n.text
	}
	return t.Name + "_" + strings.Join(cols, "_")
}

// isIndex tells KEY name (...) from a column called key.
func (c *cursor) isIndex() bool {
	rest := c.tokens[c.pos+1:]
	for i, t := range rest[:min(4, len(rest))] {
		if t.is("(") {
			return i == 0 || rest[i-1].kind == ident || rest[i-1].is("btree", "hash", "key", "index") || i == 1 && len(rest) > 2 && rest[2].kind != number
		}
	}
	return false
}

func (c *cursor) using() {
	if c.take("using") {
		c.next()
	}
}

// keyed reads [name] [USING x] (columns).
func (c *cursor) keyed() ([]string, error) {
	c.using()
	if !c.peek().is("(") {
		if _, err := c.name(); err != nil {
			return nil, err
		}
	}
	c.using()
	return c.names()
}

// foreign reads a foreign key's columns, unless they are known, and what they
// refer to.
func (c *cursor) foreign(t *Table, cols []string) (err error) {
	if cols == nil {
		if cols, err = c.keyed(); err != nil {
			return err
		}
	}
	if err := c.want("references"); err != nil {
		return err
	}
	parent, err := c.name()
	if err != nil {
		return err
	}
	clause := "FOREIGN KEY (" + quoteAll(cols) + ") REFERENCES " + quote(parent)
	if c.peek().is("(") {
		refs, err := c.names()
		if err != nil {
			return err
		}
		clause += " (" + quoteAll(refs) + ")"
	}
	for c.take("on") {
		event := strings.ToUpper(c.next().text)
		action := strings.ToUpper(c.next().text)
		if action == "SET" || action == "NO" {
			action += " " + strings.ToUpper(c.next().text)
		}
		switch {
		case event != "DELETE" && event != "UPDATE":
		case action == "CASCADE" || action == "SET NULL" || action == "SET DEFAULT" || action == "RESTRICT":
			clause += " ON " + event + " " + action
		}
	}
	t.Foreign = append(t.Foreign, clause)
	return nil
}

// columnDef reads a column with its type and constraints.
func (c *cursor) columnDef(t *Table) error {
	name, err := c.name()
	if err != nil {
		return err
	}
	col := Column{Name: name}
	c.columnType(&col)
	for !c.peek().is(",", ")") && c.peek().kind != end {
		if err := c.columnConstraint(t, &col); err != nil {
			return err
		}
	}
	t.Columns = append(t.Columns, col)
	return nil
}

// typeWords are the words that go on a type's name.
const typeWords = " varying precision unsigned signed zerofill with without time zone local character large object varchar "

func (c *cursor) columnType(col *Column) {
	first := c.peek()
	if first.kind != word && first.kind != ident {
		return
	}
	name, err := c.name()
	if err != nil {
		return
	}
	words := []string{strings.ToLower(name)}
	var args []token
	for {
		t := c.peek()
		switch {
		case t.is("(") && args == nil:
			args = c.group()
			continue
		case t.is("[") && c.take("[", "]"):
			col.array = true
			continue
		case t.kind == word && strings.Contains(typeWords, " "+strings.ToLower(t.text)+" ") && !t.is("character") ||
			len(words) == 1 && words[0] == "national" && t.kind == word:
			words = append(words, strings.ToLower(c.next().text))
			continue
		}
		break
	}
	col.Type = c.s.typeOf(words, args, col)
	if col.array {
		col.Type = "JSON"
	}
}

// typeOf translates a type; one that the dump itself makes (an enum, a domain)
// is looked up.
func (s *Script) typeOf(words []string, args []token, col *Column) string {
	if made, ok := s.types[words[0]]; ok {
		if len(made.enum) > 0 {
			col.Check = oneOf(col.Name, made.enum)
		}
		return made.decl
	}
	decl, enum := declared(words, args)
	if len(enum) > 0 {
		col.Check = oneOf(col.Name, enum)
	}
	return decl
}

func oneOf(name string, values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = literal(v)
	}
	return quote(name) + " IN (" + strings.Join(out, ", ") + ")"
}

// columnConstraint reads one of the things that may stand behind a type.
func (c *cursor) columnConstraint(t *Table, col *Column) error {
	switch {
	case c.take("not", "null"):
		col.NotNull = true
	case c.take("null"):
	case c.take("primary", "key"):
		t.Key = []string{col.Name}
	case c.take("unique"):
		c.take("key")
		t.addUnique([]string{col.Name})
	case c.take("default"):
		col.Default = c.defaultValue(col)
	case c.peek().is("references"):
		return c.foreign(t, []string{col.Name})
	case c.take("check"):
		c.skipOne()
		c.s.leave("CHECK constraints")
	case c.take("comment"), c.take("collate"), c.take("character", "set"), c.take("charset"), c.take("constraint"):
		c.take("=")
		_, err := c.name()
		return err
	case c.take("on", "update"):
		c.skipOne()
		if c.peek().is("(") {
			c.skipOne()
		}
	default: // AUTO_INCREMENT, GENERATED BY DEFAULT AS IDENTITY and more
		c.skipOne()
	}
	return nil
}

// defaultValue reads a default: a literal or the present time. Anything else
// (a sequence, a function) is left out.
func (c *cursor) defaultValue(col *Column) string {
	start := c.pos
	for !c.atColumnWord() {
		c.skipOne()
	}
	part := c.tokens[start:c.pos]
	for len(part) > 0 && part[0].is("(") && part[len(part)-1].is(")") {
		part = part[1 : len(part)-1]
	}
	for i, t := range part { // a cast says nothing to SQLite
		if t.is("::") {
			part = part[:i]
			break
		}
	}
	switch {
	case len(part) == 1 && part[0].kind == str && col.Type == "BOOLEAN" && (part[0].text == "0" || part[0].text == "1"):
		return part[0].text
	case len(part) == 1 && part[0].kind == str:
		return literal(part[0].text)
	case len(part) == 1 && part[0].kind == number:
		return part[0].text
	case len(part) == 2 && part[0].is("-", "+") && part[1].kind == number:
		return strings.TrimPrefix(part[0].text, "+") + part[1].text
	case len(part) == 1 && part[0].is("true"):
		return "1"
	case len(part) == 1 && part[0].is("false"):
		return "0"
	case len(part) == 1 && part[0].is("null"), len(part) > 0 && part[0].is("nextval"):
		return ""
	case len(part) > 0 && part[0].is("current_timestamp", "now", "current_date", "localtimestamp"):
		if part[0].is("current_date") {
			return "CURRENT_DATE"
		}
		return "CURRENT_TIMESTAMP"
	}
	c.s.leave("defaults that are expressions")
	return ""
}

// atColumnWord tells whether what comes next is no part of a default.
func (c *cursor) atColumnWord() bool {
	t := c.peek()
	return t.kind == end || t.is(",", ")", "not", "primary", "unique", "references", "check", "comment", "collate", "constraint",
		"on", "auto_increment", "generated") || t.is("null") && c.pos > 0 && !c.tokens[c.pos-1].is("default")
}
