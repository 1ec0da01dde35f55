package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/anvil-sim/anvil/store"
)

// A storeRun measures the fixture database in this process, without HTTP and
// without a pipe, beside what SQLite itself can do with the same rows.
type storeRun struct {
	Rounds int
	For    time.Duration // of one measurement
	Sizes  []int         // rows of the table
	JSON   bool
	CPU    bool // processor time instead of the clock's
}

func parseStoreRun(args []string, stderr io.Writer) (s storeRun, err error) {
	flags := newFlags("bench sqlite", stderr)
	flags.IntVar(&s.Rounds, "rounds", 5, "rounds; medians are taken over them")
	secs := flags.Float64("secs", 0.3, "seconds of one measurement")
	rows := flags.String("rows", "10000,100000,1000000", "rows of the table")
	flags.BoolVar(&s.JSON, "json", false, "print JSON instead of a table")
	flags.BoolVar(&s.CPU, "cpu", false, "measure processor time: on a machine with other work the clock says little")
	if _, err := parseShort(flags, args, map[string]string{"rounds": "1", "secs": "0.05", "rows": "10000"}); err != nil {
		return s, err
	}
	for _, text := range strings.Split(*rows, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1000 {
			return s, fmt.Errorf("--rows %s: %q is no number from 1000; give numbers separated by commas", *rows, text)
		}
		s.Sizes = append(s.Sizes, n)
	}
	s.For = time.Duration(*secs * float64(time.Second))
	if s.Rounds < 1 || s.For <= 0 {
		return s, fmt.Errorf("--rounds and --secs want more than 0, got %d, %v", s.Rounds, *secs)
	}
	return s, nil
}

// sqliteBench is `bench sqlite`.
func sqliteBench(ctx context.Context, args []string, out io.Writer, stderr io.Writer) error {
	s, err := parseStoreRun(args, stderr)
	if err != nil {
		return err
	}
	fig := newFigures("sqlite", s.Rounds)
	for _, n := range s.Sizes {
		if err := s.size(ctx, fig, n); err != nil {
			return fmt.Errorf("%d rows: %w", n, err)
		}
	}
	return fig.print(out, s.JSON)
}

// size measures everything on one size of table.
func (s storeRun) size(ctx context.Context, fig *figures, n int) (err error) {
	dir, err := os.MkdirTemp("", "anvil-bench-sqlite")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "tickets.db")
	if err := writeTickets(ctx, file, n); err != nil {
		return err
	}
	if err := s.calls(ctx, fig, file, n); err != nil {
		return err
	}
	return s.copies(ctx, fig, dir, file, n)
}

// writeTickets makes a table of n tickets, of about 130 bytes each.
func writeTickets(ctx context.Context, file string, n int) (err error) {
	db, err := sql.Open("sqlite3", "file:"+file+"?_journal_mode=OFF&_synchronous=OFF")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, `
		CREATE TABLE tickets (id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE, subject TEXT NOT NULL, status TEXT NOT NULL,
			priority INTEGER, score REAL, created_at TEXT NOT NULL, body TEXT);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO tickets SELECT i, 'T-' || i, 'Ticket number ' || i, CASE i % 4 WHEN 0 THEN 'open' WHEN 1 THEN 'pending' WHEN 2 THEN 'solved' ELSE 'closed' END,
			i % 5, i / 7.0, '2026-01-01T00:00:00Z', 'A body of some length, as tickets have, with "quotes" in it: ' || i FROM n;
		CREATE INDEX by_status ON tickets (status, id)`, n)
	return err
}

// A pairing is one thing done in two ways.
type pairing struct {
	name      string
	limitName string
	limit     func(i int) error
	store     func(i int) error
}

// calls measures reads and writes against the prepared statement of the same
// query, read by database/sql as a program would.
func (s storeRun) calls(ctx context.Context, fig *figures, file string, n int) (err error) {
	db, err := store.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(context.WithoutCancel(ctx))) }()
	copied := file + ".limit"
	if err := copyPlain(copied, file); err != nil {
		return err
	}
	bare, err := sql.Open("sqlite3", "file:"+copied+"?_journal_mode=WAL&_synchronous=OFF&_cache_size=-16000")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	q := &asker{ctx: ctx, db: db, bare: bare}
	pairs := q.pairs(n)
	if q.err != nil {
		return q.err
	}
	for _, p := range pairs {
		for range s.Rounds {
			limit, err := s.time(p.limit)
			if err != nil {
				return fmt.Errorf("%s, the limit: %w", p.name, err)
			}
			got, err := s.time(p.store)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			fig.addRatio(sized(n, p.name), "1/s", 1/got.Seconds(), p.limitName, 1/limit.Seconds())
		}
	}
	return nil
}

func sized(n int, name string) string { return fmt.Sprintf("%d rows: %s", n, name) }

// time runs a function for a while and returns the duration of one run.
func (s storeRun) time(run func(i int) error) (time.Duration, error) {
	for i := range 3 {
		if err := run(i); err != nil {
			return 0, err
		}
	}
	until := time.Now().Add(s.For)
	n := 0
	took, err := s.once(func() error {
		for ; n == 0 || time.Now().Before(until); n++ {
			if err := run(n); err != nil {
				return err
			}
		}
		return nil
	})
	return took / time.Duration(max(n, 1)), err
}

// once runs a function and says how long it took.
func (s storeRun) once(run func() error) (time.Duration, error) {
	if !s.CPU {
		began := time.Now()
		err := run()
		return time.Since(began), err
	}
	began, err := cpuTime()
	if err == nil {
		err = run()
	}
	ended, endErr := cpuTime()
	return ended - began, errors.Join(err, endErr)
}

// copies measures the private copy against a plain copy of the file, and what
// comes after it.
func (s storeRun) copies(ctx context.Context, fig *figures, dir, file string, n int) error {
	for range s.Rounds {
		plain := filepath.Join(dir, "cp.db")
		cp, err := s.once(func() error { return copyPlain(plain, file) })
		if err = errors.Join(err, os.Remove(plain)); err != nil {
			return err
		}
		var db *store.DB
		opened, err := s.once(func() (err error) {
			db, err = store.Open(ctx, file, nil)
			return err
		})
		if err != nil {
			return err
		}
		q := &asker{ctx: ctx, db: db}
		create := q.create()
		for i := range 100 {
			q.err = errors.Join(q.err, create(i))
		}
		reset, err := s.once(func() error { return errors.Join(q.err, db.Reset(ctx, 1)) })
		if err = errors.Join(err, db.Close(ctx)); err != nil {
			return err
		}
		fig.addRatio(sized(n, "open"), "ms", millis(opened), "plain copy", millis(cp))
		fig.addRatio(sized(n, "reset after 100 writes"), "ms", millis(reset), "plain copy", millis(cp))
	}
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func copyPlain(dst, src string) (err error) {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(dst)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
