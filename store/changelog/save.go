package changelog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/anvil-sim/anvil/store/fixture"
)

// Save puts a running log into the copy of its database at path: live is a copy of
// the attached database [Schema], of the same moment, or no file where nothing was
// written yet. What log the database carries from an earlier run is dropped.
func Save(ctx context.Context, path, live string) error {
	before, err := changes(path)
	if err != nil {
		return err
	}
	return edit(ctx, path, live, func(db *fixture.DB, running log) error {
		if err := drop(ctx, db); err != nil {
			return err
		}
		// The stamp is what the file's own counter of changes is going to be.
		err := db.Exec("CREATE TABLE main." + saved.calls + " (position INTEGER PRIMARY KEY, call INTEGER NOT NULL, stamp INTEGER);" +
			"INSERT INTO main." + saved.calls + " (position, call, stamp) VALUES (0, 0, " + fmt.Sprint(before+1) + ")")
		if err != nil || running.schema == "" {
			return err
		}
		err = db.Exec("INSERT INTO main." + saved.calls + " (position, call) SELECT position, call FROM " + running.schema + "." + running.calls)
		if err != nil {
			return err
		}
		names, err := running.tables(ctx, db)
		if err != nil {
			return err
		}
		for _, name := range append(names, counters) {
			from := running.schema + "." + fixture.Quote(running.prefix+name)
			n, err := db.Int(ctx, "SELECT EXISTS (SELECT 1 FROM "+from+")")
			if err == nil && n == 1 {
				err = db.Exec("CREATE TABLE main." + fixture.Quote(saved.prefix+name) + " AS SELECT * FROM " + from + " ORDER BY entry")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Restore makes the copy of a database at path what it was after a call: see
// [Rewind]. live is a copy of the running log, of the same moment.
func Restore(ctx context.Context, path, live string, call int64) error {
	return edit(ctx, path, live, func(db *fixture.DB, running log) error {
		if err := drop(ctx, db); err != nil || running.schema == "" {
			return err
		}
		return running.rewind(ctx, db, call)
	})
}

// Drop drops the log that the database at path carries, if it does.
func Drop(ctx context.Context, path string) error {
	return fixture.Edit(ctx, path, func(db *fixture.DB) error { return drop(ctx, db) })
}

// edit changes a copy with the copy of the running log at hand; running is zero
// where there is none.
func edit(ctx context.Context, path, live string, change func(db *fixture.DB, running log) error) error {
	return fixture.Edit(ctx, path, func(db *fixture.DB) error {
		if _, err := os.Stat(live); errors.Is(err, fs.ErrNotExist) {
			return change(db, log{})
		}
		if err := db.Exec("ATTACH ? AS "+Schema, live); err != nil {
			return err
		}
		return change(db, log{Schema, liveCalls, livePrefix})
	})
}

// ErrNoLog is the error of [Last] for a database that carries no
// change log.
var ErrNoLog = errors.New("it carries no change log: --save-state and GET /__anvil/state write states that do")

// Last is the number of the last call that the log of a saved state tells of, 0
// when no call changed anything. The errors are [ErrNoLog], and that the file was
// changed since it was saved: the log would lead to a state that never was.
func Last(ctx context.Context, path string) (call int64, err error) {
	db, err := fixture.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	has, err := db.HasLog(ctx)
	if err == nil && !has {
		err = ErrNoLog
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	if err := unchanged(ctx, db, path); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return db.Int(ctx, "SELECT max(call) FROM "+saved.calls)
}

// unchanged compares the file's counter of changes with the one that was noted.
func unchanged(ctx context.Context, db *fixture.DB, path string) error {
	stamp, err := db.Int(ctx, "SELECT stamp FROM "+saved.calls+" WHERE position = 0")
	if err != nil {
		return err
	}
	now, err := changes(path)
	if err == nil && stamp != now {
		err = errors.New("it was changed after it was saved, so its change log is of no use any more; save the state anew")
	}
	return err
}

// Open opens a private copy of a saved state as it was after a call: see [Rewind].
// Its errors call it name.
func Open(ctx context.Context, path, name string, call int64) (*fixture.DB, error) {
	return fixture.OpenChanged(ctx, path, name, func(db *fixture.DB) error { return Rewind(ctx, db, call) })
}

// changes is the counter of changes in a database file's header.
func changes(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [28]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return 0, fmt.Errorf("%s: the header of the database: %w", path, err)
	}
	return int64(binary.BigEndian.Uint32(head[24:])), nil
}
