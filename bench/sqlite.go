package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
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
	flags := flag.NewFlagSet("bench sqlite", flag.ContinueOnError)
	flags.SetOutput(stderr)
	short := flags.Bool("short", false, "a quick run: 1 round, 0.05 s, 10000 rows; flags that are given win")
	flags.IntVar(&s.Rounds, "rounds", 5, "rounds; medians are taken over them")
	secs := flags.Float64("secs", 0.3, "seconds of one measurement")
	rows := flags.String("rows", "10000,100000,1000000", "rows of the table")
	flags.BoolVar(&s.JSON, "json", false, "print JSON instead of a table")
	flags.BoolVar(&s.CPU, "cpu", false, "measure processor time: on a machine with other work the clock says little")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if *short {
		given := map[string]bool{}
		flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
		for name, value := range map[string]string{"rounds": "1", "secs": "0.05", "rows": "10000"} {
			if !given[name] {
				if err := flags.Set(name, value); err != nil {
					return s, err
				}
			}
		}
	}
	for _, text := range strings.Split(*rows, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1000 {
			return s, fmt.Errorf("--rows %s: %q is no number from 1000; give numbers separated by commas", *rows, text)
		}
		s.Sizes = append(s.Sizes, n)
	}
	s.For = time.Duration(*secs * float64(time.Second))
	if s.Rounds < 1 || s.For <= 0 || flags.NArg() > 0 {
		return s, fmt.Errorf("--rounds and --secs want more than 0, and there are no arguments; got %d, %v, %q", s.Rounds, *secs, flags.Args())
	}
	return s, nil
}

// sqliteBench is `bench sqlite`.
func sqliteBench(ctx context.Context, args []string, out io.Writer, stderr io.Writer) error {
	s, err := parseStoreRun(args, stderr)
	if err != nil {
		return err
	}
	rep := &storeReport{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Rounds: s.Rounds, Seconds: s.For.Seconds()}
	for _, n := range s.Sizes {
		rows, err := s.size(ctx, n)
		if err != nil {
			return fmt.Errorf("%d rows: %w", n, err)
		}
		rep.Rows = append(rep.Rows, rows...)
	}
	if s.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(rep)
	}
	return rep.table(out)
}

// size measures everything on one size of table.
func (s storeRun) size(ctx context.Context, n int) (rows []*storeRow, err error) {
	dir, err := os.MkdirTemp("", "anvil-bench-sqlite")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "tickets.db")
	if err := writeTickets(ctx, file, n); err != nil {
		return nil, err
	}
	calls, err := s.calls(ctx, file, n)
	if err != nil {
		return nil, err
	}
	copies, err := s.copies(ctx, dir, file, n)
	return append(calls, copies...), err
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
	name  string
	limit func(i int) error
	store func(i int) error
}

// calls measures reads and writes against the prepared statement of the same
// query, read by database/sql as a program would.
func (s storeRun) calls(ctx context.Context, file string, n int) (rows []*storeRow, err error) {
	db, err := store.Open(ctx, file, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close(context.WithoutCancel(ctx))) }()
	copied := file + ".limit"
	if err := copyPlain(copied, file); err != nil {
		return nil, err
	}
	bare, err := sql.Open("sqlite3", "file:"+copied+"?_journal_mode=WAL&_synchronous=OFF&_cache_size=-16000")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	q := &asker{ctx: ctx, db: db, bare: bare}
	pairs := q.pairs(n)
	if q.err != nil {
		return nil, q.err
	}
	for _, p := range pairs {
		row := &storeRow{Name: p.name, Table: n}
		for range s.Rounds {
			limit, err := s.time(p.limit)
			if err != nil {
				return nil, fmt.Errorf("%s, the statement: %w", p.name, err)
			}
			got, err := s.time(p.store)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			row.add(got, limit)
		}
		rows = append(rows, row.finish())
	}
	return rows, nil
}

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
func (s storeRun) copies(ctx context.Context, dir, file string, n int) ([]*storeRow, error) {
	open := &storeRow{Name: "open, against cp", Table: n}
	reset := &storeRow{Name: "reset after 100 writes, against cp", Table: n}
	for range s.Rounds {
		plain := filepath.Join(dir, "cp.db")
		cp, err := s.once(func() error { return copyPlain(plain, file) })
		if err = errors.Join(err, os.Remove(plain)); err != nil {
			return nil, err
		}
		var db *store.DB
		opened, err := s.once(func() (err error) {
			db, err = store.Open(ctx, file, nil)
			return err
		})
		if err != nil {
			return nil, err
		}
		q := &asker{ctx: ctx, db: db}
		create := q.create()
		for i := range 100 {
			q.err = errors.Join(q.err, create(i))
		}
		took, err := s.once(func() error { return errors.Join(q.err, db.Reset(ctx, 1)) })
		if err = errors.Join(err, db.Close(ctx)); err != nil {
			return nil, err
		}
		open.add(opened, cp)
		reset.add(took, cp)
	}
	return []*storeRow{open.finish(), reset.finish()}, nil
}

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

// A storeReport is what a run found: medians over the rounds.
type storeReport struct {
	Go       string      `json:"go"`
	Platform string      `json:"platform"`
	CPUs     int         `json:"cpus"`
	Rounds   int         `json:"rounds"`
	Seconds  float64     `json:"seconds"`
	Rows     []*storeRow `json:"results"`
}

type storeRow struct {
	Name   string  `json:"name"`
	Table  int     `json:"rows"`
	Micros float64 `json:"microseconds"`
	Limit  float64 `json:"limit_microseconds"`
	Ratio  float64 `json:"of_limit"` // how much of the limit's rate is reached

	got, limit, ratio []float64
}

func (r *storeRow) add(got, limit time.Duration) {
	r.got = append(r.got, float64(got.Nanoseconds())/1e3)
	r.limit = append(r.limit, float64(limit.Nanoseconds())/1e3)
	r.ratio = append(r.ratio, float64(limit)/float64(got))
}

func (r *storeRow) finish() *storeRow {
	r.Micros, r.Limit, r.Ratio = median(r.got), median(r.limit), median(r.ratio)
	return r
}

func (rep *storeReport) table(out io.Writer) error {
	fmt.Fprintf(out, "%s %s, %d CPUs; %d rounds of %g s\n\n", rep.Go, rep.Platform, rep.CPUs, rep.Rounds, rep.Seconds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "what\trows\tus\tlimit us\tof limit\t")
	for _, r := range rep.Rows {
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.2f\t\n", r.Name, r.Table, r.Micros, r.Limit, r.Ratio)
	}
	return w.Flush()
}
