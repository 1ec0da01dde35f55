package dump

import (
	"strings"
)

// A Table is a table as a dump declares it, in SQLite's terms.
type Table struct {
	Name    string
	Columns []Column
	Key     []string
	Unique  [][]string
	Foreign []string // FOREIGN KEY clauses as SQLite spells them
	parent  string   // INHERITS
	offset  int
}

// A Column is one column of a [Table].
type Column struct {
	Name    string
	Type    string // a type that SQLite gives the right affinity
	NotNull bool
	Default string // SQL text, "" without one
	Check   string // SQL text, "" without one
	array   bool   // a PostgreSQL array, kept as JSON
}

// An Index is a CREATE INDEX of a dump.
type Index struct {
	Name, Table string
	Unique      bool
	Columns     []string
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func quoteAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return strings.Join(out, ", ")
}

// SQL is the table's CREATE TABLE for SQLite.
func (t *Table) SQL() string {
	var parts []string
	inline := ""
	if len(t.Key) == 1 {
		inline = t.Key[0]
	}
	for _, c := range t.Columns {
		parts = append(parts, c.sql(strings.EqualFold(c.Name, inline)))
	}
	if len(t.Key) > 1 {
		parts = append(parts, "PRIMARY KEY ("+quoteAll(t.Key)+")")
	}
	for _, u := range t.Unique {
		parts = append(parts, "UNIQUE ("+quoteAll(u)+")")
	}
	parts = append(parts, t.Foreign...)
	return "CREATE TABLE " + quote(t.Name) + " (\n  " + strings.Join(parts, ",\n  ") + "\n)"
}

func (c *Column) sql(key bool) string {
	out := quote(c.Name)
	decl := c.Type
	if key && wholeType(decl) {
		decl = "INTEGER" // exactly this word makes the key the rowid
	}
	if decl != "" {
		out += " " + decl
	}
	if key {
		out += " PRIMARY KEY"
	}
	if c.NotNull && !(key && decl == "INTEGER") {
		out += " NOT NULL"
	}
	if c.Default != "" {
		out += " DEFAULT " + c.Default
	}
	if c.Check != "" {
		out += " CHECK (" + c.Check + ")"
	}
	return out
}

func wholeType(decl string) bool {
	switch strings.ToUpper(decl) {
	case "INT", "INTEGER", "BIGINT", "SMALLINT", "MEDIUMINT":
		return true
	}
	return false
}

func (t *Table) column(name string) *Column {
	for i := range t.Columns {
		if strings.EqualFold(t.Columns[i].Name, name) {
			return &t.Columns[i]
		}
	}
	return nil
}

// addUnique adds a unique set once.
func (t *Table) addUnique(names []string) {
	for _, u := range t.Unique {
		if strings.EqualFold(quoteAll(u), quoteAll(names)) {
			return
		}
	}
	t.Unique = append(t.Unique, names)
}
