package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/fixture"
)

// A domainError is a refusal that the client of the API sees.
type domainError struct {
	code    provider.Code
	message string
	why     refusal // what refused
	meta    []byte  // what the trace says besides, once it is known
}

// Error implements error.
func (e *domainError) Error() string { return e.message }

func refuse(code provider.Code, format string, args ...any) error {
	return &domainError{code: code, message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return refuse(provider.ValidationError, format, args...)
}

// answer turns what went wrong in a call into an answer, where it is the
// caller's doing, or into the error of a provider that cannot answer.
func answer(err error) (*provider.Response, error) {
	var domain *domainError
	if errors.As(err, &domain) {
		res := provider.Fail(domain.code, "%s", domain.message)
		res.Meta = domain.meta
		return res, nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &provider.TransportError{Code: provider.UpstreamTimeout, Message: "fixture database: " + err.Error()}
	}
	return nil, &provider.TransportError{Code: provider.UpstreamUnavailable, Message: "fixture database: " + err.Error()}
}

// constraint turns a constraint that a write broke into the refusal that names
// table and column; any other error comes back as it is. c is free again: the
// write was rolled back.
func (db *DB) constraint(ctx context.Context, c *conn, w *change, err error) error {
	why, about := broken(err)
	if why.table == w.table.name {
		why.table = ""
	}
	switch faultOf(err) {
	case faultOther:
		return err
	case faultNotNull:
		owner, col := splitColumn(about)
		return because(invalid("%q must have a value in %s", col, owner), why)
	case faultUnique:
		refused := refuse(provider.Conflict, "%s", w.taken(about))
		if err := w.holding(ctx, c, &why); err != nil {
			return err
		}
		return because(refused, why)
	case faultCheck:
		return because(invalid("%s: a value breaks the rule CHECK (%s)", w.table.name, about), why)
	case faultForeignKey:
		return db.foreignKey(ctx, c, w)
	case faultLack:
		return because(refuse(provider.PolicyDenied, "%s cannot be written as the fixture database is: %v; mend the trigger, view or foreign key that needs it", w.table.name, err), why)
	case faultFull:
		return w.spent(ctx, c, err)
	case faultLarge:
		return because(invalid("%s: a value is too large: %v", w.table.name, err), why)
	}
	return because(invalid("%s: %v", w.table.name, err), why)
}

// splitColumn splits "Track.Name" as SQLite spells it; a table's own dots stay
// with the table.
func splitColumn(name string) (table, col string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// taken says which columns' values another row has: about is the list that
// SQLite gives, "Track.TrackId, Track.Name", or "index 'name'" for an expression.
func (w *change) taken(about string) string {
	if strings.HasPrefix(about, "index ") {
		return fmt.Sprintf("%s already has a row with equal values in the unique %s", w.table.name, about)
	}
	var terms []string
	owner := w.table.name
	for _, part := range strings.Split(about, ", ") {
		table, name := splitColumn(part)
		owner = table
		term := fmt.Sprintf("%q", name)
		if col := w.table.col(name); col != nil && table == w.table.name {
			if v, ok := w.value(col); ok {
				term += " " + col.shown(v)
			}
		}
		terms = append(terms, term)
	}
	return fmt.Sprintf("%s already has a row with %s", owner, strings.Join(terms, ", "))
}

// foreignKey finds out which foreign key a write broke, which SQLite does not say.
func (db *DB) foreignKey(ctx context.Context, c *conn, w *change) error {
	if err := db.orphan(ctx, c, w.parents); err != nil {
		return err
	}
	for _, fk := range w.table.fks {
		if err := db.dangling(ctx, c, w, fk); err != nil {
			return err
		}
	}
	for _, child := range db.schema.tables {
		for _, fk := range child.fks {
			if !strings.EqualFold(fk.parent, w.table.name) || len(w.match) == 0 {
				continue
			}
			used, err := db.referenced(ctx, c, w, fk)
			if err != nil {
				return err
			}
			if used {
				why := refusal{by: byForeignKey, table: child.name, columns: columnNames(fk.cols...)}
				return because(refuse(provider.Conflict, "%s with %s is still used by %s (%s)",
					w.table.name, w.matched(), child.name, nameList(fk.cols)), why)
			}
		}
	}
	why := refusal{by: byForeignKey}
	if w.verb == deleteRow {
		return because(refuse(provider.Conflict, "%s with %s is still used by rows of another table", w.table.name, w.matched()), why)
	}
	return because(invalid("%s: a foreign key names a row that does not exist", w.table.name), why)
}

// dangling refuses a written value of a foreign key that has no row to point to.
func (db *DB) dangling(ctx context.Context, c *conn, w *change, fk foreignKey) error {
	why := refusal{by: byForeignKey, columns: columnNames(fk.cols...), parent: fk.parent}
	parent := db.schema.table(fk.parent)
	if parent == nil {
		return because(invalid("%s (%s) refers to the table %s, which does not exist", w.table.name, nameList(fk.cols), fk.parent), why)
	}
	refs := fk.targets(parent)
	var key []filter
	var terms []string
	for i, col := range fk.cols {
		v, ok := w.value(col)
		if !ok || v == nil || i >= len(refs) {
			return nil
		}
		key = append(key, filter{col: refs[i], vals: []driver.Value{v}})
		terms = append(terms, fmt.Sprintf("%q %s", refs[i].name, col.shown(v)))
	}
	var where where
	where.add(key...)
	found, err := exists(ctx, c, "SELECT 1 FROM "+fixture.Quote(parent.name)+" AS t"+where.sql+" LIMIT 1", where.args)
	if found || err != nil || len(terms) == 0 {
		return err
	}
	if why.nearest, err = parent.nearestKey(ctx, c, key); err != nil {
		return err
	}
	return because(invalid("%s of %s: there is no %s with %s", nameList(fk.cols), w.table.name, parent.name, strings.Join(terms, ", ")), why)
}

// referenced tells whether rows of another table point to the rows of a write.
func (db *DB) referenced(ctx context.Context, c *conn, w *change, fk foreignKey) (bool, error) {
	refs := fk.targets(w.table)
	if len(refs) != len(fk.cols) || len(refs) == 0 {
		return false, nil
	}
	on := make([]string, len(refs))
	for i, col := range fk.cols {
		on[i] = "c." + fixture.Quote(col.name) + " = t." + fixture.Quote(refs[i].name)
	}
	var where where
	where.add(w.match...)
	sql := "SELECT 1 FROM " + fixture.Quote(w.table.name) + " AS t JOIN " + fixture.Quote(fk.cols[0].table.name) + " AS c ON " +
		strings.Join(on, " AND ") + where.sql + " LIMIT 1"
	return exists(ctx, c, sql, where.args)
}

// orphan refuses a path whose parent does not exist: /tickets/99/comments is
// not found where there is no ticket 99. Without a foreign key nobody knows.
func (db *DB) orphan(ctx context.Context, c *conn, parents []filter) error {
	for _, f := range parents {
		if f.ref != nil { // the link has the foreign key
			if err := db.orphan(ctx, c, f.parts); err != nil {
				return err
			}
			continue
		}
		for _, fk := range f.col.table.fks {
			parent := db.schema.table(fk.parent)
			if parent == nil || len(fk.cols) != 1 || fk.cols[0] != f.col {
				continue
			}
			refs := fk.targets(parent)
			if len(refs) != 1 {
				continue
			}
			key := []filter{{col: refs[0], vals: f.vals, null: f.null}}
			if f.op == opVia {
				key = []filter{{col: f.parts[0].col, op: opAll, parts: f.parts}}
			}
			var where where
			where.count(c)
			where.add(key...)
			found, err := exists(ctx, c, "SELECT 1 FROM "+fixture.Quote(parent.name)+" AS t"+where.sql+" LIMIT 1", where.args)
			if err != nil {
				return err
			}
			if !found {
				if f.op == opVia {
					key = f.parts
				}
				return parentless(ctx, c, parent, key)
			}
		}
	}
	return nil
}

// targets are the columns of the parent that a foreign key names.
func (fk foreignKey) targets(parent *table) []*column {
	if len(fk.refs) == 0 {
		return parent.key
	}
	var out []*column
	for _, name := range fk.refs {
		if col := parent.col(name); col != nil {
			out = append(out, col)
		}
	}
	return out
}

func exists(ctx context.Context, c *conn, sql string, args []driver.Value) (found bool, err error) {
	err = c.query(ctx, sql, args, 1, func([]driver.Value) error {
		found = true
		return nil
	})
	return found, err
}

// nameList spells columns for an error: "PlaylistId", "TrackId".
func nameList(cols []*column) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = fmt.Sprintf("%q", c.name)
	}
	return strings.Join(names, ", ")
}
