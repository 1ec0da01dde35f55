package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"regexp"
	"strings"

	"github.com/anvil-sim/anvil/internal/pattern"
	"github.com/anvil-sim/anvil/store/fixture"
)

// A leftOut is a virtual table that this build of SQLite cannot open.
type leftOut struct {
	table, module string
	err           error
	shadows       []string // the tables that hold its data, and mean nothing alone
}

// virtualModule finds the module in the SQL of a virtual table.
var virtualModule = pattern.Of("(?is)^CREATE\\s+VIRTUAL\\s+TABLE\\s.*?\\sUSING\\s+[\"'`\\[]?(\\w+)")

// shadowNames are what modules append to a table's name and a low line to name
// the tables that hold its data. SQLite itself knows them only of modules it has.
var shadowNames = map[string]func() *regexp.Regexp{
	"fts3":      pattern.Of(`(?i)^(content|segments|segdir|docsize|stat)$`),
	"fts4":      pattern.Of(`(?i)^(content|segments|segdir|docsize|stat)$`),
	"fts5":      pattern.Of(`(?i)^(data|idx|content|docsize|config)$`),
	"rtree":     pattern.Of(`(?i)^(node|parent|rowid)$`),
	"rtree_i32": pattern.Of(`(?i)^(node|parent|rowid)$`),
	"geopoly":   pattern.Of(`(?i)^(node|parent|rowid)$`),
	"spellfix1": pattern.Of(`(?i)^vocab$`),
	"vec0":      pattern.Of(`(?i)^(chunks|rowids|info|auxiliary|vector_chunks\d+|metadatachunks\d+|metadatatext\d+)$`),
}

// cannotOpen tells whether a virtual table failed for what this build lacks, a
// module or a part of one, and not for damage to the file.
func cannotOpen(err error) bool {
	msg := err.Error()
	for _, text := range []string{"no such module: ", "vtable constructor failed", "unknown tokenizer", "no such tokenizer"} {
		if strings.Contains(msg, text) {
			return true
		}
	}
	return false
}

// leaveOut takes the virtual tables that cannot be opened out of the schema, and
// the tables that hold their data.
func (s *schema) leaveOut(ctx context.Context, c *conn) (list []leftOut) {
	kept := s.tables[:0]
	for _, t := range s.tables {
		if t.virtual {
			if err := t.readColumns(ctx, c); err != nil && cannotOpen(err) {
				list = append(list, leftOut{table: t.name, module: s.modules[t.name], err: err})
				continue
			}
			t.cols, t.key = nil, nil
		}
		kept = append(kept, t)
	}
	s.tables = kept
	for i := range list {
		s.leaveOutShadows(&list[i])
	}
	return list
}

func (s *schema) leaveOutShadows(l *leftOut) {
	names := shadowNames[strings.ToLower(l.module)]
	kept := s.tables[:0]
	for _, t := range s.tables {
		head := len(l.table) + 1
		if names != nil && !t.view && !t.virtual && len(t.name) > head && strings.EqualFold(t.name[:head], l.table+"_") && names().MatchString(t.name[head:]) {
			l.shadows = append(l.shadows, t.name)
			continue
		}
		kept = append(kept, t)
	}
	s.tables = kept
}

// text says what is left out and why.
func (l leftOut) text() string {
	msg := fmt.Sprintf("the virtual table %q is left out: this build of SQLite has no module %q", l.table, l.module)
	if !strings.Contains(l.err.Error(), "no such module: ") {
		msg = fmt.Sprintf("the virtual table %q of the module %q is left out: %v", l.table, l.module, l.err)
	}
	if l.shadows != nil {
		msg += "; with it the tables of its data, " + strings.Join(l.shadows, ", ")
	}
	return msg
}

// probeTriggers finds the tables whose triggers cannot run: they name what is
// not there, a table of a missing module too. Such writes are refused when they
// come; warn hears of them now.
func (s *schema) probeTriggers(c *conn, warn func(format string, args ...any)) {
	for _, t := range s.tables {
		if !t.trigger || t.view || t.virtual {
			continue
		}
		var sets []string
		for _, col := range t.cols {
			if !col.generated {
				sets = append(sets, fixture.Quote(col.name)+" = "+fixture.Quote(col.name))
			}
		}
		name := fixture.Quote(t.name)
		var verbs []string
		var first error
		for _, p := range []struct{ verb, sql string }{
			{"create", "INSERT INTO " + name + " DEFAULT VALUES"},
			{"update", "UPDATE " + name + " SET " + strings.Join(sets, ", ")},
			{"delete", "DELETE FROM " + name},
		} {
			if _, err := c.prepare(p.sql); err != nil {
				verbs = append(verbs, p.verb)
				if first == nil {
					first = err
				}
			}
		}
		if first != nil {
			warn("fixture: a trigger of table %q cannot run, so its writes (%s) are refused: %v", t.name, strings.Join(verbs, ", "), first)
		}
	}
}

// lacking tells whether SQLite's message says that a statement, or a trigger,
// view or foreign key that it runs into, names what the database does not have
// or may not use.
func lacking(msg string) bool {
	for _, head := range []string{"no such module: ", "no such table: ", "no such column: ", "no such function: ", "no such view: ",
		"no such collation sequence: ", "unsafe use of ", "foreign key mismatch", "error in trigger ", "error in view "} {
		if strings.HasPrefix(msg, head) {
			return true
		}
	}
	return strings.Contains(msg, " has no column named ")
}

// readMaster looks at the schema's own SQL: which tables have triggers, which
// modules virtual tables use, and whether anything asks for time or chance.
func (s *schema) readMaster(ctx context.Context, c *conn) (triggers map[string]bool, err error) {
	triggers, s.modules = map[string]bool{}, map[string]string{}
	const all = `SELECT type, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL`
	err = c.query(ctx, all, nil, 3, func(v []driver.Value) error {
		kind, name, sql := fixture.Text(v[0]), fixture.Text(v[1]), fixture.Text(v[2])
		s.impure = s.impure || impure().MatchString(sql)
		s.remembers = s.remembers || remembered().MatchString(sql)
		if kind == "trigger" {
			triggers[strings.ToLower(name)] = true
			s.entangled = true
		}
		if m := virtualModule().FindStringSubmatch(sql); m != nil {
			s.modules[name] = m[1]
		}
		return nil
	})
	return triggers, err
}
