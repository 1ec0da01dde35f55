package dump

import (
	"errors"
	"slices"
	"strings"
)

// A Script is a dump of MySQL or PostgreSQL that has been read once: its tables
// are known, with what later statements add to them.
type Script struct {
	Tables  []*Table // in the dump's order
	Indexes []Index
	// Left names what was left out, each once, in order.
	Left []string

	lex   *lexer
	types map[string]madeType
}

// madeType is a type that the dump makes.
type madeType struct {
	decl string
	enum []string
}

// Read reads the schema of a MySQL or PostgreSQL dump. The error is an *[Error].
func Read(src []byte, dialect Dialect) (*Script, error) {
	s := &Script{lex: &lexer{src: src, dialect: dialect}, types: map[string]madeType{}}
	err := s.each(func(st *statement) error {
		return s.schema(&cursor{s: s, tokens: st.tokens, last: st.end})
	})
	return s, err
}

func (s *Script) each(visit func(*statement) error) error {
	split := splitter{lexer{src: s.lex.src, dialect: s.lex.dialect}}
	for {
		st, err := split.next()
		if err != nil {
			return err
		}
		if len(st.tokens) == 0 {
			return nil
		}
		if err := visit(&st); err != nil {
			return err
		}
	}
}

// leave notes that something is left out.
func (s *Script) leave(what string) {
	if !slices.Contains(s.Left, what) {
		s.Left = append(s.Left, what)
	}
}

func (s *Script) addIndex(i Index) {
	if !slices.ContainsFunc(s.Indexes, func(x Index) bool { return x.Table == i.Table && quoteAll(x.Columns) == quoteAll(i.Columns) }) {
		s.Indexes = append(s.Indexes, i)
	}
}

// Table finds a table in any letter case, nil when the dump makes none.
func (s *Script) Table(name string) *Table {
	for _, t := range s.Tables {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}

// schema takes what a statement says about tables.
func (s *Script) schema(c *cursor) error {
	switch {
	case c.take("create"):
		return s.create(c)
	case c.take("alter", "table"):
		return s.alter(c)
	}
	return nil
}

func (s *Script) create(c *cursor) error {
	for _, w := range []string{"or", "replace", "temporary", "temp", "unlogged", "global", "local"} {
		c.take(w)
	}
	switch {
	case c.take("table"):
		if strings.EqualFold(c.peek().text, "as") {
			return nil
		}
		t, err := c.createTable()
		if err != nil {
			return err
		}
		return s.addTable(t)
	case c.take("unique", "index"):
		return s.index(c, true)
	case c.take("index"):
		return s.index(c, false)
	case c.take("type"):
		return s.makeType(c)
	case c.take("domain"):
		return s.makeDomain(c)
	case c.peek().is("database", "schema", "sequence", "extension"):
		return nil // no part of a fixture
	}
	switch what := strings.ToLower(c.next().text); what {
	case "view", "trigger", "function", "procedure", "rule", "aggregate", "event":
		s.leave(what + "s")
	case "procedural", "language", "cast", "operator", "server", "user", "role":
	case "algorithm", "definer":
		s.leave("views and triggers")
	default:
		s.leave("CREATE " + strings.ToUpper(what))
	}
	return nil
}

func (s *Script) addTable(t *Table) error {
	if s.Table(t.Name) != nil {
		return s.lex.fail(t.offset, "the table %q is made twice", t.Name)
	}
	if t.parent != "" {
		parent := s.Table(t.parent)
		if parent == nil {
			return s.lex.fail(t.offset, "table %q inherits from %q, which is not made before", t.Name, t.parent)
		}
		t.Columns = append(slices.Clone(parent.Columns), t.Columns...)
	}
	if len(t.Columns) == 0 {
		return s.lex.fail(t.offset, "the table %q has no columns", t.Name)
	}
	s.Tables = append(s.Tables, t)
	return nil
}

// index reads behind CREATE INDEX.
func (s *Script) index(c *cursor, unique bool) error {
	c.take("concurrently")
	c.take("if", "not", "exists")
	name, err := c.name()
	if err != nil {
		return err
	}
	if err := c.want("on"); err != nil {
		return err
	}
	c.take("only")
	table, err := c.name()
	if err != nil {
		return err
	}
	if c.take("using") && !c.next().is("btree", "hash") {
		s.leave("indexes that are no b-trees")
		return nil
	}
	cols, err := c.names()
	if err != nil || c.pos < len(c.tokens) {
		s.leave("indexes over expressions or a part of the rows")
		return nil
	}
	s.addIndex(Index{Name: name, Table: table, Unique: unique, Columns: cols})
	return nil
}

func (s *Script) makeType(c *cursor) error {
	name, err := c.name()
	if err != nil {
		return err
	}
	if !c.take("as", "enum") {
		s.types[strings.ToLower(name)] = madeType{decl: "TEXT"}
		return nil
	}
	_, enum := declared([]string{"enum"}, c.group())
	s.types[strings.ToLower(name)] = madeType{"TEXT", enum}
	return nil
}

func (s *Script) makeDomain(c *cursor) error {
	name, err := c.name()
	if err != nil {
		return err
	}
	c.take("as")
	var col Column
	c.columnType(&col)
	s.types[strings.ToLower(name)] = madeType{decl: col.Type}
	return nil
}

// alter takes what ALTER TABLE adds: keys and constraints.
func (s *Script) alter(c *cursor) error {
	c.take("if", "exists")
	c.take("only")
	name, err := c.name()
	if err != nil {
		return err
	}
	t := s.Table(name)
	if t == nil {
		return nil // a sequence, a view
	}
	for c.pos < len(c.tokens) {
		if c.take("add") {
			c.take("column")
			if err := c.tablePart(t); err != nil {
				return err
			}
		}
		for c.pos < len(c.tokens) && !c.peek().is(",") {
			c.skipOne()
		}
		c.take(",")
	}
	return nil
}

// check finds keys that name no column.
func (s *Script) check() error {
	var errs []error
	for _, t := range s.Tables {
		for _, k := range t.Key {
			if t.column(k) == nil {
				errs = append(errs, s.lex.fail(t.offset, "the key of %q names %q, which is no column of it", t.Name, k))
			}
		}
	}
	return errors.Join(errs...)
}
