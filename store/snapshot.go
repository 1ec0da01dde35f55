package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/changelog"
	"github.com/anvil-sim/anvil/store/fixture"
)

// newLog makes the change log of the connection that writes, nil where none is
// asked for. It costs nothing before the first write.
func (db *DB) newLog(c *conn) *changelog.Log {
	if !db.opts.Log || db.opts.ReadOnly {
		return nil
	}
	var sql []string
	if db.rules != nil {
		sql = db.rules.sql()
	}
	return changelog.New(c.exec, c.query, sql...)
}

// change runs the work of a call in a transaction, and notes what it changes.
// touches names the table that is written, or is the SQL that writes. A fixture
// that no log can be kept of is served all the same; [DB.Snapshot] says why.
func (db *DB) change(ctx context.Context, c *conn, call int64, touches string, work func() error) error {
	if c.log != nil && !c.log.Watching(touches) {
		if err := db.watch(ctx, c, touches); err != nil {
			db.opts.Logf("fixture: there is no change log, and so no state of an earlier call: %v", err)
		}
	}
	return c.transaction("BEGIN IMMEDIATE", func() error {
		if c.log != nil && c.log.Begun() {
			s, err := c.prepare(changelog.Mark)
			if err != nil {
				return err
			}
			if _, err := s.Exec([]driver.Value{call}); err != nil { //nolint:staticcheck // see step
				return err
			}
		}
		return work()
	})
}

// watch has the log watch what a call is about to write. The call's own end must
// not leave it half done.
func (db *DB) watch(ctx context.Context, c *conn, touches string) error {
	c.raw.Guard(false)
	defer c.raw.Guard(true)
	return c.log.Watch(context.WithoutCancel(ctx), touches)
}

// forgetLog empties the change log of a connection whose copy was brought back to
// its origin.
func (c *conn) forgetLog() error {
	if c.log == nil {
		return nil
	}
	c.raw.Guard(false)
	defer c.raw.Guard(true)
	return c.log.Clear()
}

// carriesLog tells whether the fixture is a saved state that carries the log of
// the run that left it.
func carriesLog(ctx context.Context, c *conn) (has bool, err error) {
	err = c.query(ctx, fixture.HasLogSQL, nil, 1, func(v []driver.Value) error {
		has = number(v[0]) == 1
		return nil
	})
	return has, err
}

// Snapshot writes the state of a tenant, as it is or as it was after a call, to a
// SQLite file, whole or not at all: a file that is there stays as it is until the
// new one is complete. Calls may run meanwhile; the file has one moment of them.
//
// The present state carries the change log where one is kept, a past one does not.
// A call that changed nothing, or that never reached the database, left the state
// as it was; so did one that is still to come. The errors: a tenant that was never
// seen, no log to go back by. It implements provider.Snapshotter.
func (db *DB) Snapshot(ctx context.Context, p *provider.SnapshotParams) error {
	t, err := db.seen(p.TenantID)
	if err != nil {
		return err
	}
	defer db.left(t)
	return t.snapshot(ctx, p.Path, p.Call)
}

// A SaveError is the failure to write the state that a run was to leave. All calls
// were answered; what they changed is lost.
type SaveError struct {
	Path string // of the file or folder that could not be written
	Err  error
}

// Error implements error.
func (e *SaveError) Error() string { return "save state " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *SaveError) Unwrap() error { return e.Err }

// SaveState writes the present state of requests without a tenant: see
// [DB.Snapshot]. Its error is a [*SaveError].
func (db *DB) SaveState(ctx context.Context, path string) error {
	return db.save(ctx, &provider.SnapshotParams{Path: path})
}

func (db *DB) save(ctx context.Context, p *provider.SnapshotParams) error {
	if err := db.Snapshot(ctx, p); err != nil {
		return &SaveError{p.Path, err}
	}
	return nil
}

// seen finds the copy of a tenant that calls have come from. The caller must call
// [DB.left] when it is done.
func (db *DB) seen(tenant *string) (*DB, error) {
	if tenant == nil || *tenant == "" || db.place != "" {
		return db, nil
	}
	db.tenantMu.Lock()
	defer db.tenantMu.Unlock()
	if t := db.tenants[*tenant]; t != nil {
		t.running.Add(1)
		return t, nil
	}
	known := "none was"
	if names := slices.Sorted(maps.Keys(db.tenants)); len(names) > 0 {
		known = "seen were " + clip(strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("no call came from the tenant %q; %s", clip(*tenant), known)
}

// savable tells why a state cannot be written to a file: it would take the place of
// a device, a pipe or a folder, or of the fixture, which is never written.
func savable(path, fixture string) error {
	info, err := os.Stat(path)
	if path == "" || err != nil {
		return nil // what is wrong with its folder is told when it is written
	}
	if own, err := os.Stat(fixture); err == nil && os.SameFile(own, info) {
		return errors.New("this is the fixture itself, which is never written; name another file")
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("this is no regular file (%s); name another", info.Mode().Type())
	}
	return nil
}

func (db *DB) snapshot(ctx context.Context, path string, call *int64) (err error) {
	if err := savable(path, ""); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays a link
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".anvil-state-")
	if err != nil {
		return fmt.Errorf("cannot write in the folder %s: %w", filepath.Dir(path), unnamed(err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	state, live := filepath.Join(dir, "state.db"), filepath.Join(dir, "log.db")
	kept, err := db.copyOut(ctx, state, live, call != nil)
	switch {
	case err != nil:
	case call != nil:
		err = changelog.Restore(ctx, state, live, *call)
	case kept:
		err = changelog.Save(ctx, state, live)
	case db.schema.logged:
		err = changelog.Drop(ctx, state)
	}
	if err != nil {
		return err
	}
	if err := syncFile(state); err != nil {
		return err
	}
	if err := os.Rename(state, path); err != nil {
		return fmt.Errorf("cannot be put in its place: %w", unnamed(err))
	}
	return nil
}

// unnamed is an error of the file system without the name of a temporary file, which
// is another in each run and tells nobody anything.
func unnamed(err error) error {
	var path *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// copyOut copies the state and, where something was noted, the running log of the
// same moment to files. A past state wants a log; kept tells whether there is one.
func (db *DB) copyOut(ctx context.Context, state, live string, past bool) (kept bool, err error) {
	c, err := db.writer(ctx)
	if err != nil {
		return false, err
	}
	defer db.unwrite(c)
	switch {
	case past && db.opts.ReadOnly: // nothing was ever changed
	case past && c.log == nil:
		return false, errors.New("no change log was kept to go back by")
	case past && c.log.Err() != nil:
		return false, fmt.Errorf("there is no change log to go back by: %w", c.log.Err())
	}
	if err := c.raw.SaveTo(state, "main"); err != nil || c.log == nil || c.log.Err() != nil {
		return false, err
	}
	if c.log.Begun() {
		err = c.raw.SaveTo(live, changelog.Schema)
	}
	return true, err
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return unnamed(errors.Join(f.Sync(), f.Close()))
}

// saveOnce writes the final states where they are asked for, once: those of
// tenants, and last the one that all else is beside.
func (db *DB) saveOnce(ctx context.Context) (err error) {
	db.saved.Do(func() {
		if path := db.opts.SaveState; path != "" {
			if err = db.saveTenants(ctx, path); err == nil {
				err = db.SaveState(ctx, path)
			}
		}
	})
	return err
}

// TenantFolder is where the states of tenants go that are saved with the state
// at path.
func TenantFolder(path string) string { return path + ".tenants" }

// TenantFile is the file of a tenant's saved state: its name, with all but small
// letters, digits, - and _ spelled %XX, so that no name leaves the folder and no
// two share a file where letter case does not count.
func TenantFile(path, tenant string) string {
	var name []byte
	for i := 0; i < len(tenant); i++ {
		switch c := tenant[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			name = append(name, c)
		default:
			name = fmt.Appendf(name, "%%%02X", c)
		}
	}
	return filepath.Join(TenantFolder(path), string(name)+".db")
}

// saveTenants writes the state of each tenant, and removes what an earlier run
// left of tenants that this one has not seen.
func (db *DB) saveTenants(ctx context.Context, path string) error {
	var files []string
	for _, tenant := range db.Tenants() {
		if files == nil {
			if err := os.MkdirAll(TenantFolder(path), 0o777); err != nil {
				return &SaveError{TenantFolder(path), unnamed(err)}
			}
		}
		file := TenantFile(path, tenant)
		if err := db.save(ctx, &provider.SnapshotParams{Path: file, TenantID: &tenant}); err != nil {
			return err
		}
		files = append(files, filepath.Base(file))
	}
	entries, err := os.ReadDir(TenantFolder(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if name := e.Name(); err == nil && strings.HasSuffix(name, ".db") && !slices.Contains(files, name) {
			err = os.Remove(filepath.Join(TenantFolder(path), name))
		}
	}
	if err == nil && files == nil {
		_ = os.Remove(TenantFolder(path)) // stays where there is something else in it
	}
	if err != nil {
		return &SaveError{TenantFolder(path), err}
	}
	return nil
}
