package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"

	"github.com/anvil-sim/anvil/internal/pattern"
)

// A private copy goes back to the fixture without being copied again: all that
// was written since stands in its write-ahead log, and the file itself is as it
// was. With the log cut to nothing and the head of the log's index blank, SQLite
// reads an empty log anew and finds the fixture ("WAL-mode File Format", 2.1 and
// "Recovery"). No other process knows the copy, and no call runs meanwhile.
//
// The log may grow to logLimit before SQLite folds it into the file. From then
// on a reset makes a new copy.

// logLimit is how many bytes of log the copy keeps apart. Reading looks the
// pages of the log up in tables of 4096 entries, the newest first, so that a long
// log costs little.
const logLimit = 32 << 20

// Sizes of the parts of a log ("WAL-mode File Format", 1 and 2.1).
const (
	logHeader   = 32
	frameHeader = 24
	indexHead   = 2 * 48 // two copies of the index's header
)

// An origin can bring a private copy back to what it was when it was opened. Nil
// is none.
type origin struct {
	log   *os.File
	index []byte // the head of the log's index, as every connection sees it
	most  int64  // a log of this size may have been folded in
	unmap func() error
}

// newOrigin remembers the present moment of a copy, which is settled: nothing
// stands in its log, and SQLite folds it in when it has a number of frames, one
// for a page. It returns nil where the system cannot do it.
func newOrigin(file string, frames, pageSize int64) *origin {
	log, err := os.OpenFile(file+"-wal", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	index, unmap, err := mapHead(file+"-shm", indexHead)
	if err != nil {
		log.Close()
		return nil
	}
	return &origin{log: log, index: index, unmap: unmap, most: logHeader + frames*(frameHeader+pageSize)}
}

// intact tells whether all that was written still stands in the log.
func (o *origin) intact() bool {
	if o == nil {
		return false
	}
	info, err := o.log.Stat()
	return err == nil && info.Size() < o.most
}

// restore drops what was written. Every connection must be idle.
func (o *origin) restore() error {
	clear(o.index)
	return o.log.Truncate(0)
}

func (o *origin) close() error {
	if o == nil {
		return nil
	}
	err := o.unmap()
	if closeErr := o.log.Close(); err == nil {
		err = closeErr
	}
	return err
}

// settle puts what stands in the log of a fresh copy into its file, and keeps
// apart what is written from now on, up to a limit in bytes. It returns the limit
// in pages.
func (c *conn) settle(limit int64) (frames, pageSize int64, err error) {
	if pageSize, err = c.number("PRAGMA page_size"); err != nil {
		return 0, 0, err
	}
	frames = max(limit/pageSize, 1)
	return frames, pageSize, c.exec(fmt.Sprintf("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint=%d", frames))
}

// number runs a statement that gives one whole number.
func (c *conn) number(sql string) (n int64, err error) {
	err = c.query(context.Background(), sql, nil, 1, func(v []driver.Value) error {
		n = number(v[0])
		return nil
	})
	return n, err
}

// remembered finds SQL functions whose value a connection keeps from call to
// call. A copy that uses them goes back by new connections.
var remembered = pattern.Of(`(?i)\b(last_insert_rowid|changes|total_changes)\s*\(`)

// remembers tells whether SQL of the map asks for such a value.
func (r *rules) remembers() bool {
	if r == nil {
		return false
	}
	for _, op := range r.operations {
		if op.custom == nil {
			continue
		}
		for _, step := range op.custom.steps {
			if remembered().MatchString(step.sql) {
				return true
			}
		}
	}
	return false
}

// rewind brings the copy of a pool back to its origin. done is false where it
// cannot; then nothing has changed. restart runs while no call does.
func (db *DB) rewind(ctx context.Context, p *pool, restart func()) (done bool, err error) {
	if !p.origin.intact() || db.schema.remembers || db.rules.remembers() {
		return false, nil
	}
	held, release, err := p.hold(ctx)
	if err != nil {
		return false, err
	}
	for _, c := range held {
		if !c.raw.AutoCommit() { // a rollback that failed
			release()
			return false, nil
		}
	}
	if !p.origin.intact() {
		release()
		return false, nil
	}
	defer release()
	if err := p.origin.restore(); err != nil {
		return false, nil // the log is whole, and SQLite reads it anew
	}
	restart()
	if err := held[0].forgetLog(); err != nil {
		return false, err
	}
	for _, c := range held {
		if _, err := exists(context.WithoutCancel(ctx), c, "SELECT 1 FROM sqlite_schema LIMIT 1", nil); err != nil {
			return false, err
		}
	}
	return true, nil
}
