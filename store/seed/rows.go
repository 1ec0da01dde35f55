package seed

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/anvil-sim/anvil/air/synth"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// fill adds n rows. A value depends on the seed, the table, the column and the
// row's number alone, so that a new column or more rows change no other value.
func (e *entity) fill(ctx context.Context, db *fixture.DB, opts *Options) error {
	sql := e.insert()
	vals := make([]fixture.Value, len(e.columns))
	for i := range opts.Rows {
		for j, c := range e.columns {
			vals[j] = e.value(c, opts, i)
		}
		if err := db.Insert(sql, vals); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// insert is the statement that adds a row.
func (e *entity) insert() string {
	var names []string
	for _, c := range e.columns {
		names = append(names, c.name)
	}
	return "INSERT INTO " + fixture.Quote(e.noun) + " (" + fixture.QuoteAll(names) + ") VALUES (?" + strings.Repeat(",?", len(names)-1) + ")"
}

func (e *entity) label(c *column, row int) string {
	return e.noun + "." + c.name + ":" + strconv.Itoa(row+1)
}

func (e *entity) value(c *column, opts *Options, row int) fixture.Value {
	switch {
	case c == e.key:
		return e.ids[row]
	case c.parent != nil:
		at := e.parentRow(c, opts, row, 0)
		if at < 0 {
			return nil
		}
		return c.parent.ids[at]
	case c == e.lookup && c.decl == "INTEGER":
		return int64(row + 1)
	case c.items != nil && opts.Rows > 0:
		return string(e.shown(c, opts, row).AppendJSON(nil))
	}
	v := synth.Body(c.schema, opts.Seed, e.label(c, row))
	return shape(c, e.vary(c, v, row))
}

// parentRow is the row of its parent that a row belongs to, -1 for none. A row's
// parents agree: the repository of a comment is that of its issue. In a tree of
// rows of one table the first is the root.
func (e *entity) parentRow(c *column, opts *Options, row, depth int) int {
	rng := synth.NewRng(synth.BodySeed(opts.Seed, e.label(c, row)))
	if c.parent == e {
		if row == 0 {
			return -1
		}
		return rng.Int(row)
	}
	for _, d := range e.columns {
		if d.parent == nil || d == c || !d.above || !c.above || d.parent == e || depth > 4 {
			continue
		}
		for _, f := range d.parent.columns {
			if f.parent == c.parent && f.above {
				return d.parent.parentRow(f, opts, e.parentRow(d, opts, row, depth+1), depth+1)
			}
		}
	}
	return rng.Int(opts.Rows)
}

// shown is an array of one row of another table, as far as its items show it.
func (e *entity) shown(c *column, opts *Options, row int) *canon.Value {
	p := c.items
	at := synth.NewRng(synth.BodySeed(opts.Seed, e.label(c, row))).Int(opts.Rows)
	var out []canon.Member
	for _, m := range c.schema.Get("items").Get("properties").Members() {
		col := p.column(m.Key)
		if col == nil || col.parent != nil || col.decl == "JSON" {
			continue
		}
		v := synth.Body(m.Value, opts.Seed, p.label(col, at))
		switch {
		case col == p.key:
			id := p.ids[at]
			if n, ok := id.(int64); ok {
				v = canon.NewInt(n)
			} else {
				v = canon.NewString(id.(string))
			}
		case col == p.lookup && col.decl == "INTEGER":
			v = canon.NewInt(int64(at + 1))
		default:
			v = p.vary(col, v, at)
		}
		out = append(out, canon.Member{Key: m.Key, Value: v})
	}
	return canon.NewArray(canon.NewObject(out...))
}

func example(s *canon.Value) string {
	if v := s.Get("example"); v.Is(canon.String) || v.Is(canon.Number) {
		return v.Text()
	}
	if list := s.Get("examples").Elems(); len(list) > 0 {
		return list[0].Text()
	}
	return ""
}

// epoch is when the first row of a table was made; each next one is an hour
// later.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// vary makes values of the kinds that tell rows apart differ: names, times,
// addresses. Everything else is what the schema gives.
func (e *entity) vary(c *column, v *canon.Value, row int) *canon.Value {
	if c.decl == "DATETIME" && !v.Is(canon.Null) {
		return canon.NewString(epoch.Add(time.Duration(row) * time.Hour).Format("2006-01-02T15:04:05Z"))
	}
	if c.decl == "DATE" && !v.Is(canon.Null) {
		return canon.NewString(epoch.AddDate(0, 0, row).Format("2006-01-02"))
	}
	if !v.Is(canon.String) || c.schema.Get("enum") != nil || c.schema.Get("const") != nil {
		return v
	}
	given := example(c.schema)
	switch name := naming.Plain(c.name); {
	case c == e.lookup, name == "name", name == "title", name == "displayname", name == "fullname", name == "login", name == "slug", name == "key", name == "summary", name == "realname":
		if given == "" {
			given = plainWord(e.noun)
		}
		if prefix, digits := splitDigits(given); c == e.lookup && prefix != "" && digits != "" && len(digits) < 18 {
			n, _ := strconv.ParseInt(digits, 10, 64)
			return canon.NewString(prefix + strconv.FormatInt(n+int64(row), 10))
		}
		sep := " "
		if !strings.Contains(given, " ") {
			sep = "-"
		}
		if row == 0 {
			return canon.NewString(given)
		}
		return canon.NewString(given + sep + strconv.Itoa(row+1))
	case c.schema.Get("format").Text() == "email" || strings.HasSuffix(name, "email"):
		return canon.NewString("user" + strconv.Itoa(row+1) + "@example.com")
	}
	return v
}

// shape fits a synthesized value into its column.
func shape(c *column, v *canon.Value) fixture.Value {
	switch {
	case v == nil || v.Is(canon.Null):
		return nil
	case c.decl == "JSON":
		return string(v.AppendJSON(nil))
	case c.decl == "BOOLEAN" && v.Is(canon.Bool):
		if v.True() {
			return int64(1)
		}
		return int64(0)
	case v.Is(canon.String):
		return v.Text()
	case v.Is(canon.Number):
		if n, err := strconv.ParseInt(v.Text(), 10, 64); err == nil {
			return n
		}
		return v.Float()
	}
	return string(v.AppendJSON(nil))
}
