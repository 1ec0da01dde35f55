package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/anvil-sim/anvil/store/changelog"
	"github.com/anvil-sim/anvil/store/internal/dbfile"
	"github.com/anvil-sim/anvil/store/internal/native"
)

// stmtLimit bounds the prepared statements that a connection keeps: filters in
// every combination would be without end. A list takes two, its plan is one.
const stmtLimit = 512

// A conn is one SQLite connection with its prepared statements. It is used by
// one goroutine at a time.
type conn struct {
	raw   engine
	stmts map[string]*prepared
	args  []driver.NamedValue
	vals  []driver.Value
	cells []cell
	block native.Block
	text  []byte         // of the statement that is put together
	pool  *pool          // that it belongs to
	clock *clock         // nil when the schema asks no time and no chance
	log   *changelog.Log // of what it writes, nil without one
}

// A prepared is a statement that a connection keeps, with its plan.
type prepared struct {
	stmt
	plan    []string
	planned bool  // plan is known
	at      int64 // stmt.Prepared then
}

// access is how a file is opened.
type access uint8

const (
	accessCopy  access = iota // a private copy, to write
	accessRead                // to read
	accessPlace               // somebody's own file, to write
)

// dsn builds the address of a database. Pragmas stand in it so that no
// connection can be without them.
func dsn(file string, a access) string {
	opts := "_busy_timeout=10000&_foreign_keys=on&_mutex=no"
	// No mmap: page cache hits cost less than looking mapped pages up again.
	switch a {
	case accessCopy:
		// The copy dies with the process, so nothing needs to reach the disk.
		opts += "&_synchronous=OFF"
	case accessRead:
		// There are several, and what is not in theirs is in the system's cache.
		return "file:" + dbfile.EscapeURI(file) + "?" + opts + "&_query_only=1&_cache_size=-8000"
	}
	opts += "&_cache_size=-16000"
	return "file:" + dbfile.EscapeURI(file) + "?" + opts
}

func openConn(file string, a access) (*conn, error) {
	raw, err := openEngine(dsn(file, a))
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw, stmts: map[string]*prepared{}}
	pragmas := "PRAGMA cell_size_check=ON"
	if a == accessCopy {
		// In WAL mode readers and the writer do not wait for each other. It does not
		// stand in the DSN: there the driver would set it before synchronous, and the
		// switch would wait until the whole copy is on the disk.
		pragmas += "; PRAGMA journal_mode=WAL"
	}
	if err := c.exec(pragmas); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conn) close() error {
	c.dropStmts()
	c.clock.close()
	return c.raw.Close()
}

func (c *conn) dropStmts() {
	for _, s := range c.stmts {
		s.Close()
	}
	clear(c.stmts)
}

// prepare returns the statement of an SQL text, from the cache when it is there.
func (c *conn) prepare(sql string) (*prepared, error) {
	if s := c.stmts[sql]; s != nil {
		return s, nil
	}
	if len(c.stmts) >= stmtLimit {
		c.dropStmts()
	}
	st, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, err
	}
	s := &prepared{stmt: st}
	c.stmts[sql] = s
	return s, nil
}

// exec runs SQL that takes no values and gives no rows.
func (c *conn) exec(sql string) error {
	_, err := c.raw.Exec(sql, nil)
	return err
}

// first runs a statement that a key bounds to one row, with the arguments in
// c.cells, and calls row for it. cells are valid until row returns. It is too short
// to be interrupted: to listen to a context costs more than a step.
func (c *conn) first(sql []byte, cols int, row func(cells []cell)) (err error) {
	s := c.stmts[string(sql)] // without a copy of the text
	if s == nil {
		if s, err = c.prepare(string(sql)); err != nil {
			return err
		}
	}
	one := func(cells []cell) error { row(cells); return nil }
	if !s.Known() {
		args := make([]driver.Value, len(c.cells))
		for i, v := range c.cells {
			args[i] = valueOf(v)
		}
		return c.slowly(context.Background(), string(sql), args, cols, one)
	}
	return c.run(s, cols, one)
}

// values is room for a row.
func (c *conn) values(cols int) []driver.Value {
	for len(c.vals) < cols {
		c.vals = append(c.vals, nil)
	}
	return c.vals[:cols]
}

// query runs a statement and calls row for each row of cols columns. vals are
// valid until row returns. The end of ctx interrupts a long step.
func (c *conn) query(ctx context.Context, sql string, args []driver.Value, cols int, row func(vals []driver.Value) error) (err error) {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, c.named(args))
	if err != nil {
		return ended(ctx, err)
	}
	defer func() {
		// Closing resets the statement, which repeats its last error.
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			err = ended(ctx, closeErr)
		}
	}()
	vals := c.values(cols)
	for {
		switch err := rows.Next(vals); {
		case err == io.EOF:
			return nil
		case err != nil:
			return ended(ctx, err)
		}
		if err := row(vals); err != nil {
			return err
		}
	}
}

// named are the values of a statement's parameters by their places.
func (c *conn) named(args []driver.Value) []driver.NamedValue {
	c.args = c.args[:0]
	for i, v := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return c.args
}

// rows runs a statement and calls row for each row of cols columns, as query does. It
// reads many rows at once, and no value of its own for each: it is for rows that are
// shown. cells are valid until row returns.
func (c *conn) rows(ctx context.Context, sql string, args []driver.Value, cols int, row func(cells []cell) error) (err error) {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	if !s.Known() {
		return c.slowly(ctx, sql, args, cols, row)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := c.watch(ctx)
	c.cells = appendCells(c.cells[:0], args)
	err = c.run(s, cols, row)
	stop()
	if err != nil {
		err = ended(ctx, err)
	}
	return err
}

// slowly is rows by the driver alone, where its version keeps the statement to itself.
func (c *conn) slowly(ctx context.Context, sql string, args []driver.Value, cols int, row func(cells []cell) error) error {
	return c.query(ctx, sql, args, cols, func(vals []driver.Value) error {
		c.cells = appendCells(c.cells[:0], vals)
		return row(c.cells)
	})
}

// run runs a statement with the arguments in c.cells.
func (c *conn) run(s stmt, cols int, row func(cells []cell) error) error {
	defer c.block.Trim()
	more, err := s.Run(&c.block, c.cells, cols)
	c.cells = slices.Grow(c.cells[:0], cols)[:cols]
	for {
		for c.block.Next(c.cells) {
			if err := row(c.cells); err != nil {
				if more {
					s.Reset()
				}
				return err
			}
		}
		if !more {
			return err
		}
		more, err = s.Read(&c.block, cols)
	}
}

// watch interrupts what the connection runs when ctx ends, until stop is called.
func (c *conn) watch(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	var mu sync.Mutex
	over := false
	forget := context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			c.raw.Interrupt()
		}
	})
	return func() {
		if forget() {
			return
		}
		mu.Lock() // whoever uses the connection next is not to be interrupted
		defer mu.Unlock()
		over = true
	}
}

// ended prefers the reason why ctx ended over what SQLite calls an interrupt.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// transaction runs work between begin and COMMIT, or rolls it back.
func (c *conn) transaction(begin string, work func() error) error {
	if err := c.step(begin); err != nil {
		return err
	}
	err := work()
	if err == nil {
		err = c.step("COMMIT")
	}
	if err != nil && !c.raw.AutoCommit() {
		if rollback := c.step("ROLLBACK"); rollback != nil {
			return fmt.Errorf("%w; then rolling back: %w", err, rollback)
		}
	}
	return err
}

// step runs a prepared statement without rows to its end, whatever happens to
// the caller's context: half a COMMIT is none.
func (c *conn) step(sql string) error {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	_, err = s.Exec(nil)
	return err
}
