package changelog

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/store/fixture"
)

// A log is where the notes of calls stand: in a schema, under a prefix.
type log struct {
	schema, calls, prefix string
}

// saved is the log that a saved state carries.
var saved = log{"main", fixture.LogTable, fixture.LogPrefix}

// Rewind takes back what calls after the given one changed, and then drops the
// log: db is as it was after that call, or as the fixture was for call 0. Calls
// that overlapped count in the order in which they were committed: the state is
// one that was there when the call, and all before it, had ended.
//
// It is to be run in a transaction of its own: see [fixture.Edit].
func Rewind(ctx context.Context, db *fixture.DB, call int64) error {
	if err := saved.rewind(ctx, db, call); err != nil {
		return err
	}
	return drop(ctx, db)
}

// rewind takes back the changes of calls after the given one.
func (l log) rewind(ctx context.Context, db *fixture.DB, call int64) error {
	after, err := db.Int(ctx, "SELECT coalesce(max(position), 0) FROM "+l.schema+"."+l.calls+" WHERE call <= ?", call)
	if err != nil {
		return err
	}
	names, err := l.tables(ctx, db)
	if err != nil || len(names) == 0 {
		return err
	}
	// What SQLite let in once it must let in again.
	if err := db.Exec("PRAGMA ignore_check_constraints=ON"); err != nil {
		return err
	}
	triggers, err := dropTriggers(ctx, db)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := l.restore(ctx, db, name, after); err != nil {
			return fmt.Errorf("table %q: %w", name, err)
		}
	}
	if err := l.restoreCounters(ctx, db, after); err != nil {
		return err
	}
	for _, sql := range triggers {
		if err := db.Exec(sql); err != nil {
			return fmt.Errorf("putting a trigger back: %w", err)
		}
	}
	return db.Exec("PRAGMA ignore_check_constraints=OFF")
}

// tables are the tables that the log has notes of.
func (l log) tables(ctx context.Context, db *fixture.DB) (names []string, err error) {
	sql := "SELECT substr(name, ?1) FROM " + l.schema + ".sqlite_schema WHERE type = 'table' AND substr(name, 1, ?1 - 1) = ?2 ORDER BY name"
	err = db.Query(ctx, sql, []driver.Value{int64(len(l.prefix) + 1), l.prefix}, 1, func(v []driver.Value) error {
		if name := fixture.Text(v[0]); name != counters && name != "" {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// dropTriggers takes the tables' own triggers away, since putting rows back is
// nothing that they should see, and returns their SQL in the order of their making.
func dropTriggers(ctx context.Context, db *fixture.DB) (sql []string, err error) {
	const all = `SELECT g.name, g.sql FROM main.sqlite_schema AS g JOIN main.sqlite_schema AS t ON t.name = g.tbl_name AND t.type = 'table'
		WHERE g.type = 'trigger' AND g.sql IS NOT NULL ORDER BY g.rowid`
	var names []string
	err = db.Query(ctx, all, nil, 2, func(v []driver.Value) error {
		names, sql = append(names, fixture.Text(v[0])), append(sql, fixture.Text(v[1]))
		return nil
	})
	for _, name := range names {
		if err == nil {
			err = db.Exec("DROP TRIGGER main." + fixture.Quote(name))
		}
	}
	return sql, err
}

// restore makes every row that was touched after a position what its first note
// after it says.
func (l log) restore(ctx context.Context, db *fixture.DB, name string, after int64) error {
	t := &table{name: name}
	n, err := db.Int(ctx, "SELECT 1 + wr FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE", name)
	switch {
	case err != nil:
		return err
	case n == 0:
		return fmt.Errorf("the log has notes of it, and the database does not have it")
	case n == 1:
		t.rowid = "rowid"
	}
	if err := t.read(ctx, db.Query); err != nil {
		return err
	}
	from := l.schema + "." + fixture.Quote(l.prefix+name)
	own, same := strings.Join(t.own(), ", "), strings.Join(t.identity(), ", ")
	if err := db.Exec("DELETE FROM main."+fixture.Quote(name)+" WHERE ("+own+") IN (SELECT "+same+" FROM "+from+" WHERE position > ?)", after); err != nil {
		return err
	}
	into, vals := quoted(t.columns), noted(t.columns)
	if t.rowid != "" {
		into, vals = append(into, t.rowid), append(vals, rowColumn)
	}
	return db.Exec("INSERT INTO main."+fixture.Quote(name)+" ("+strings.Join(into, ", ")+") SELECT "+strings.Join(vals, ", ")+" FROM "+from+
		" WHERE entry IN (SELECT min(entry) FROM "+from+" WHERE position > ? GROUP BY "+same+") AND present", after)
}

// restoreCounters puts AUTOINCREMENT counters back, so that new rows get the ids
// that they got then.
func (l log) restoreCounters(ctx context.Context, db *fixture.DB, after int64) error {
	from := l.schema + "." + fixture.Quote(l.prefix+counters)
	n, err := db.Int(ctx, "SELECT count(*) FROM "+l.schema+".sqlite_schema WHERE name = ?", l.prefix+counters)
	if err != nil || n == 0 {
		return err
	}
	if n, err = db.Int(ctx, "SELECT count(*) FROM main.sqlite_schema WHERE name = ?", counters); err != nil || n == 0 {
		return err
	}
	first := " FROM " + from + " WHERE entry IN (SELECT min(entry) FROM " + from + " WHERE position > ? GROUP BY was_name)"
	if err := db.Exec("DELETE FROM main."+counters+" WHERE name IN (SELECT was_name FROM "+from+" WHERE position > ?)", after); err != nil {
		return err
	}
	return db.Exec("INSERT INTO main."+counters+" (name, seq) SELECT was_name, was_seq"+first+" AND was_seq IS NOT NULL", after)
}

// drop drops the log that a database carries.
func drop(ctx context.Context, db *fixture.DB) error {
	has, err := db.HasLog(ctx)
	if err != nil || !has {
		return err
	}
	names, err := saved.tables(ctx, db)
	if err != nil {
		return err
	}
	for _, name := range append(names, counters) {
		if err := db.Exec("DROP TABLE IF EXISTS main." + fixture.Quote(saved.prefix+name)); err != nil {
			return err
		}
	}
	return db.Exec("DROP TABLE main." + saved.calls)
}
