package changelog

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/pattern"
	"github.com/anvil-sim/anvil/store/fixture"
)

// Schema is the name under which a log is attached to the connection that writes.
// Its pages are in memory, and in a nameless temporary file where they are many.
const Schema = "anvil_live"

// The tables of a running log. They are called otherwise than those of a saved
// one, which the database may carry from an earlier run: an unqualified name, and
// a trigger knows no others, would mean that one.
const (
	liveCalls  = "anvil_live_calls"
	livePrefix = "anvil_live_of_"
)

// counters is the name of the table of AUTOINCREMENT counters. SQLite has no
// triggers on it: the tables that count note theirs.
const counters = "sqlite_sequence"

// Mark begins a call: what is changed from here on, in the same transaction,
// came with it. Its only parameter is the call's number.
const Mark = "INSERT INTO " + liveCalls + " (call) VALUES (?)"

// replaces finds SQL that may remove a row to make place for another. It finds
// the function of that name too, which costs a little and does no harm.
var replaces = pattern.Of(`(?i)\breplace\b`)

// A Log is the running log of a connection that writes. Its zero value is not
// ready: see [New]. It is used by one goroutine at a time.
type Log struct {
	exec  func(sql string) error
	query Querier

	begun     bool
	err       error            // why the log cannot go on
	objects   []*object        // tables and views
	replacing bool             // something may be removed by REPLACE
	watched   map[string]bool  // texts
	leads     map[string]texts // by table or view, in small letters
}

// An object is a table or a view that SQL may name.
type object struct {
	name, quoted string // in small letters; as a quoted name has it
	table        *table // nil for a view, and for a virtual table
	virtual      bool
}

// texts are SQL that writing to something leads to.
type texts []string

// New makes a log for a connection: exec and query are of it, and must not refuse
// schema changes while [Log.Watch] runs. sql is what may be run beyond plain
// writes, and is looked at for REPLACE.
func New(exec func(sql string) error, query Querier, sql ...string) *Log {
	l := &Log{exec: exec, query: query, watched: map[string]bool{}, leads: map[string]texts{}}
	l.replacing = slices.ContainsFunc(sql, replaces().MatchString)
	return l
}

// Err says why the log cannot go on, nil when it can: a table whose rows cannot be
// told apart, one with a name of the log's own.
func (l *Log) Err() error { return l.err }

// Begun tells whether anything may have been noted: the connection has [Schema].
func (l *Log) Begun() bool { return l.begun && l.err == nil }

// Watching tells whether [Log.Watch] has nothing to do for a text.
func (l *Log) Watching(sql string) bool { return l.err != nil || l.watched[sql] }

// Watch begins to note what a statement may change: the tables that are named in
// its text, and those that their triggers and foreign keys lead to. A table's name
// alone will do. It must not be called in a transaction. Triggers are made for
// what is written and not for all there is: a large schema has hundreds of tables,
// and making them takes its time.
//
// The error is remembered, and ends the log.
func (l *Log) Watch(ctx context.Context, sql string) error {
	if l.Watching(sql) {
		return l.err
	}
	if l.err = l.watch(ctx, sql); l.err == nil {
		l.watched[sql] = true
	}
	return l.err
}

// Clear forgets what was noted, for a connection whose database is as it was
// before the first note. It must not be called in a transaction.
func (l *Log) Clear() error {
	if !l.Begun() {
		return nil
	}
	logs := []string{liveCalls, livePrefix + counters}
	for _, o := range l.objects {
		if o.table != nil && o.table.watched {
			logs = append(logs, livePrefix+o.table.name)
		}
	}
	for _, log := range logs {
		if err := l.exec("DELETE FROM " + Schema + "." + fixture.Quote(log)); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) watch(ctx context.Context, sql string) error {
	if !l.begun {
		if err := l.begin(ctx); err != nil {
			return err
		}
	}
	var script []string
	for _, o := range l.reached(sql) {
		if o.table == nil || o.table.watched {
			continue
		}
		if err := l.prepare(ctx, o.table); err != nil {
			return fmt.Errorf("table %q: %w", o.table.name, err)
		}
		o.table.watched = true
		script = append(script, o.table.start()...)
	}
	// One after the other: the driver copies all that is left of a text for each
	// statement in it.
	for _, s := range script {
		if err := l.exec(s); err != nil {
			return err
		}
	}
	return nil
}

// begin attaches the log's database and learns what there is to watch.
func (l *Log) begin(ctx context.Context) error {
	for _, s := range []string{
		"ATTACH '' AS " + Schema,
		"CREATE TABLE " + Schema + "." + liveCalls + " (position INTEGER PRIMARY KEY, call INTEGER NOT NULL)",
		"CREATE TABLE " + Schema + "." + fixture.Quote(livePrefix+counters) + " (entry INTEGER PRIMARY KEY, position INTEGER NOT NULL, was_name, was_seq)",
	} {
		if err := l.exec(s); err != nil {
			return err
		}
	}
	l.begun = true
	for _, learn := range []func(context.Context) error{l.learnObjects, l.learnTriggers, l.learnActions} {
		if err := learn(ctx); err != nil {
			return err
		}
	}
	for _, o := range l.objects {
		if strings.HasPrefix(o.name, "anvil_live_") {
			return fmt.Errorf("the table %q has a name that the change log uses; rename it", o.name)
		}
	}
	return nil
}

func (l *Log) learnObjects(ctx context.Context) error {
	const all = `SELECT l.name, l.type, l.wr, m.sql FROM pragma_table_list AS l
		JOIN main.sqlite_schema AS m ON m.name = l.name AND m.type IN ('table', 'view')
		WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY l.name`
	return l.query(ctx, all, nil, 4, func(v []driver.Value) error {
		l.objects = append(l.objects, newObject(fixture.Text(v[0]), fixture.Text(v[1]), v[2] != int64(0), fixture.Text(v[3])))
		l.replacing = l.replacing || replaces().MatchString(fixture.Text(v[3]))
		return nil
	})
}

// learnTriggers finds the SQL that writing to a table or a view starts.
func (l *Log) learnTriggers(ctx context.Context) error {
	const triggers = "SELECT tbl_name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND sql IS NOT NULL"
	return l.query(ctx, triggers, nil, 2, func(v []driver.Value) error {
		on := strings.ToLower(fixture.Text(v[0]))
		l.leads[on] = append(l.leads[on], fixture.Text(v[1]))
		l.replacing = l.replacing || replaces().MatchString(fixture.Text(v[1]))
		return nil
	})
}

// learnActions finds the tables whose rows follow those of another.
func (l *Log) learnActions(ctx context.Context) error {
	const actions = `SELECT m.name, f."table" FROM main.sqlite_schema AS m, pragma_foreign_key_list(m.name, 'main') AS f
		WHERE m.type = 'table' AND NOT (f.on_update IN ('NO ACTION', 'RESTRICT') AND f.on_delete IN ('NO ACTION', 'RESTRICT'))`
	return l.query(ctx, actions, nil, 2, func(v []driver.Value) error {
		parent := strings.ToLower(fixture.Text(v[1]))
		l.leads[parent] = append(l.leads[parent], fixture.Text(v[0]))
		return nil
	})
}

func newObject(name, kind string, withoutRowid bool, sql string) *object {
	o := &object{name: strings.ToLower(name), virtual: kind == "virtual"}
	o.quoted = strings.ReplaceAll(o.name, `"`, `""`)
	if kind == "table" || kind == "shadow" {
		o.table = &table{name: name, shadow: kind == "shadow"}
		if !withoutRowid {
			o.table.rowid = "rowid"
			o.table.counted = strings.Contains(strings.ToUpper(sql), "AUTOINCREMENT")
		}
	}
	return o
}

// reached are the tables and views that a text names, and all that these lead
// to. A virtual table's data is in tables of the module's own: all of them count.
func (l *Log) reached(sql string) (list []*object) {
	seen := map[*object]bool{}
	add := func(o *object) {
		if !seen[o] {
			seen[o] = true
			list = append(list, o)
		}
	}
	for queue := []string{sql}; len(queue) > 0; queue = queue[1:] {
		small := strings.ToLower(queue[0])
		for _, o := range l.objects {
			if seen[o] || !strings.Contains(small, o.name) && !strings.Contains(small, o.quoted) {
				continue
			}
			add(o)
			queue = append(queue, l.leads[o.name]...)
			for _, other := range l.objects {
				if o.virtual && other.table != nil && other.table.shadow {
					add(other)
				}
			}
		}
	}
	return list
}

// prepare learns what noting the rows of a table takes.
func (l *Log) prepare(ctx context.Context, t *table) error {
	if err := t.read(ctx, l.query); err != nil {
		return err
	}
	if !l.replacing && !t.shadow {
		return nil
	}
	if err := t.readUnique(ctx, l.query); err != nil {
		return err
	}
	if t.opaque {
		return fmt.Errorf("it has a unique index over an expression, and rows that a REPLACE removes for it are not told")
	}
	return nil
}

// start is the SQL that makes the table's log and fills it. A temporary trigger
// comes before the table's own ones, so a row is noted before they touch it.
func (t *table) start() []string {
	log := fixture.Quote(livePrefix + t.name)
	columns := "entry INTEGER PRIMARY KEY, position INTEGER NOT NULL, present INTEGER NOT NULL"
	if t.rowid != "" {
		columns += ", " + rowColumn + " INTEGER NOT NULL"
	}
	for _, c := range noted(t.columns) {
		columns += ", " + c
	}
	moved := make([]string, len(t.own()))
	for i, c := range t.own() {
		moved[i] = "NEW." + c + " IS NOT OLD." + c + " COLLATE BINARY"
	}
	script := []string{
		"CREATE TABLE " + Schema + "." + log + " (" + columns + ")",
		t.trigger("AFTER INSERT", t.absent(log, "")+t.count()),
		t.trigger("AFTER UPDATE", t.note(log, "OLD", "")+t.absent(log, " WHERE "+strings.Join(moved, " OR "))),
		t.trigger("AFTER DELETE", t.note(log, "OLD", "")),
	}
	if t.unique != nil {
		// The rows that a REPLACE removes start no trigger. A note too many is no
		// harm: it says what is true.
		in := t.note(log, "was", " FROM "+fixture.Quote(t.name)+" AS was WHERE "+strings.Join(t.unique, " OR "))
		script = append(script, t.trigger("BEFORE INSERT", in), t.trigger("BEFORE UPDATE", in))
	}
	return script
}

func (t *table) trigger(event, body string) string {
	return "CREATE TEMP TRIGGER " + fixture.Quote(livePrefix+event+" "+t.name) + " " + event + " ON main." + fixture.Quote(t.name) +
		" BEGIN " + body + " END"
}

// position is the call that runs.
const position = "(SELECT max(position) FROM " + liveCalls + ")"

// note notes a row, or the rows that from gives, as they are.
func (t *table) note(log, row, from string) string {
	to := noted(t.columns)
	vals := prefixed(row, quoted(t.columns))
	if t.rowid != "" {
		to, vals = append(to, rowColumn), append(vals, row+"."+t.rowid)
	}
	return "INSERT INTO " + log + " (position, present, " + strings.Join(to, ", ") + ") SELECT " + position + ", 1, " +
		strings.Join(vals, ", ") + from + ";"
}

// absent notes that there was no row where there is one now.
func (t *table) absent(log, where string) string {
	return "INSERT INTO " + log + " (position, present, " + strings.Join(t.identity(), ", ") + ") SELECT " + position + ", 0, " +
		strings.Join(prefixed("NEW", t.own()), ", ") + where + ";"
}

// count notes the AUTOINCREMENT counter, which moves when the statement ends.
func (t *table) count() string {
	if !t.counted {
		return ""
	}
	name := string(fixture.AppendLiteral(nil, t.name))
	return " INSERT INTO " + fixture.Quote(livePrefix+counters) + " (position, was_name, was_seq) VALUES (" + position + ", " + name +
		", (SELECT seq FROM " + counters + " WHERE name = " + name + "));"
}
