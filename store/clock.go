package store

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/anvil-sim/anvil/internal/pattern"
)

// epoch is when the virtual clock starts if nobody says otherwise.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// impure finds what in a schema asks for the time or for chance: defaults such
// as CURRENT_TIMESTAMP, triggers with datetime('now'), lower(hex(randomblob(16))).
var impure = pattern.Of(`(?i)\bcurrent_(timestamp|date|time)\b|'now'|"now"|` +
	`\b(date|time|datetime|julianday|unixepoch|random)\s*\(\s*\)|\brandomblob\s*\(`)

// A clock answers a connection's time and random functions, so that a call's
// answer depends on the seed and the call's position and on nothing else.
// SQLite's date functions still do the work, on a connection of their own; only
// what they would read from the machine is replaced.
type clock struct {
	now  string // as SQLite reads it: 2026-01-01 00:00:05.000
	rand *rand.Rand
	aux  *conn // opened when a date function is first called
}

// set moves the clock to a call: one second a call.
func (c *clock) set(base time.Time, seed uint32, call int64) {
	if c == nil {
		return
	}
	c.now = base.Add(time.Duration(call) * time.Second).UTC().Format("2006-01-02 15:04:05.000")
	c.rand = rand.New(rand.NewPCG(uint64(seed), uint64(call)))
}

func (c *clock) close() {
	if c != nil && c.aux != nil {
		c.aux.close()
	}
}

// timePosition says which argument of a date function is the time.
var timePosition = map[string]int{"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}

// install puts the clock's functions in the place of SQLite's own.
func (c *clock) install(raw engine) error {
	for _, name := range []string{"date", "time", "datetime", "julianday", "unixepoch", "strftime"} {
		fn := func(args ...any) (any, error) { return c.date(name, args) }
		if err := raw.RegisterFunc(name, fn, true); err != nil {
			return err
		}
	}
	plain := map[string]any{
		"current_timestamp": func() string { return c.now[:19] },
		"current_date":      func() string { return c.now[:10] },
		"current_time":      func() string { return c.now[11:19] },
		"random":            func() int64 { return int64(c.rand.Uint64()) },
		"randomblob":        c.blob,
	}
	for name, fn := range plain {
		if err := raw.RegisterFunc(name, fn, strings.HasPrefix(name, "current")); err != nil {
			return err
		}
	}
	return nil
}

// blob is randomblob(n): at least one byte, as SQLite has it.
func (c *clock) blob(n int64) []byte {
	out := make([]byte, min(max(n, 1), 1<<20))
	for i := 0; i < len(out); i += 8 {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], c.rand.Uint64())
		copy(out[i:], word[:])
	}
	return out
}

// date asks the untouched function of SQLite, with the virtual time as "now".
func (c *clock) date(name string, args []any) (any, error) {
	at := timePosition[name]
	if len(args) == at {
		args = append(args, "now")
	}
	vals := make([]driver.Value, len(args))
	marks := make([]string, len(args))
	for i, a := range args {
		if b, ok := a.([]byte); ok && b == nil {
			a = nil
		}
		if text, ok := a.(string); ok && i == at && strings.EqualFold(text, "now") {
			a = c.now
		}
		vals[i], marks[i] = a, "?"
	}
	if c.aux == nil {
		raw, err := openEngine(":memory:")
		if err != nil {
			return nil, err
		}
		c.aux = &conn{raw: raw, stmts: map[string]*prepared{}}
	}
	var out driver.Value
	sql := "SELECT " + name + "(" + strings.Join(marks, ",") + ")"
	err := c.aux.query(context.Background(), sql, vals, 1, func(row []driver.Value) error {
		out = row[0]
		return nil
	})
	return out, err
}
