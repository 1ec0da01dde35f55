package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/internal/dbfile"
)

// Options change how a fixture database is opened. The zero value and nil are
// the defaults.
type Options struct {
	// Contract is the served contract. It tells how operations page, and another
	// contract's digest is refused by [DB.Initialize]. Nil: operations are taken as
	// `initialize` and each request describe them.
	Contract *air.Document
	// Seed decides what random functions in the schema give, and the ids of new
	// rows. 0 is the simulator's seed from `initialize`.
	Seed uint32
	// Now is where the virtual clock starts; each call moves it by one second. The
	// zero time is 2026-01-01T00:00:00Z.
	Now time.Time
	// Strict refuses parameters that no column takes with a validation_error. They
	// are told in an answer's meta otherwise.
	Strict bool
	// ReadOnly answers every write with policy_denied.
	ReadOnly bool
	// InPlace works on the file itself: writes change it, and nothing is copied.
	InPlace bool
	// SaveState is a file that Close writes the final state to, whole or not at all;
	// "" for none; the fixture itself is refused. The states of tenants go to a folder beside it: see
	// [TenantFile].
	SaveState string
	// Log keeps a change log, so that [DB.Snapshot] can give the state after any call.
	// A saved state carries it.
	Log bool
	// Map overrides what is mapped by rule, nil for nothing.
	Map *Map
	// Name is the service's name in the derived contract, "" for the file's name.
	Name string
	// TempDir is where the private copy is made, "" for the system's own.
	TempDir string
	// Logf hears of what is left out of a fixture, of tables that are served under
	// another name and of writes that cannot work. Nil hears nothing.
	Logf func(format string, args ...any)

	logLimit int64 // 0 is the constant
}

// A DB is a private copy of a fixture database and the provider over it. Its
// methods may be called by several goroutines at once.
type DB struct {
	opts     Options
	name     string // of the service
	schema   *schema
	pool     atomic.Pointer[pool]
	turn     sync.Mutex // of resets
	totals   *totals
	numbers  *numbers                // nil where a scan must find them
	fill     func(file string) error // makes a private copy
	frames   int64                   // of the copy's log, at most
	pageSize int64                   // of the copy
	place    string                  // the file itself, when no copy is made
	kept     []*dbfile.Folder        // of copies that could not be unlinked

	saved sync.Once

	tenantMu sync.Mutex
	tenants  map[string]*DB
	running  sync.WaitGroup // of a tenant: calls that found it, added to while it may be found

	rules    *rules // of the map, nil without one
	contract func() (*derivation, error)
	targets  sync.Map // targetKey to *target
	aliases  func() map[string][]string
	calls    sync.Mutex
	call     int64
	seed     atomic.Uint32 // of [Options], or what a reset follows
}

var (
	_ provider.Provider    = (*DB)(nil)
	_ provider.Initializer = (*DB)(nil)
	_ provider.Closer      = (*DB)(nil)
	_ provider.Resetter    = (*DB)(nil)
	_ provider.Snapshotter = (*DB)(nil)
)

// Open takes a private copy of the SQLite file at path and opens it. The file
// and its folder are only read, and may be read-only; what its -wal or -journal
// companion holds is in the copy. The copy is unlinked at once where the system
// allows it, so that not even a killed process leaves it behind. With
// [Options.InPlace] the file itself is opened and written.
//
// Virtual tables of modules that this build of SQLite does not have are left out
// with the tables of their data, broken views too; [Options.Logf] hears of them.
//
// Errors name the path and what is wrong with it: no SQLite file, no tables that
// can be served, a map that does not fit.
func Open(ctx context.Context, path string, opts *Options) (*DB, error) {
	if err := dbfile.Check(path); err != nil {
		return nil, fmt.Errorf("fixture %s: %w", path, err)
	}
	db := newDB(opts)
	if err := savable(db.opts.SaveState, path); err != nil {
		return nil, &SaveError{db.opts.SaveState, err}
	}
	if db.opts.InPlace {
		db.place = path
	}
	db.fill = dbfile.NewSource(path).Copy
	dbfile.Sweep(db.opts.TempDir)
	if err := db.open(ctx); err != nil {
		return nil, fmt.Errorf("fixture %s: %w", path, explain(err))
	}
	if db.name == "" {
		db.name = cmp.Or(slug(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))), "fixture")
	}
	return db, nil
}

// OpenSQL builds a database from SQL text and opens it as [Open] does.
func OpenSQL(ctx context.Context, sql string, opts *Options) (*DB, error) {
	db := newDB(opts)
	db.fill = func(file string) error {
		c, err := openConn(file, accessCopy)
		if err != nil {
			return err
		}
		return errors.Join(c.exec(sql), c.close())
	}
	dbfile.Sweep(db.opts.TempDir)
	if err := db.open(ctx); err != nil {
		return nil, fmt.Errorf("fixture SQL: %w", explain(err))
	}
	if db.name == "" {
		db.name = "fixture"
	}
	return db, nil
}

func newDB(opts *Options) *DB {
	db := &DB{totals: newTotals(), tenants: map[string]*DB{}}
	if opts != nil {
		db.opts = *opts
		db.seed.Store(opts.Seed)
	}
	if db.opts.Logf == nil {
		db.opts.Logf = func(string, ...any) {}
	}
	if db.opts.Now.IsZero() {
		db.opts.Now = epoch
	}
	db.name = slug(db.opts.Name)
	db.aliases = sync.OnceValue(func() map[string][]string { return learnAliases(db.opts.Contract) })
	db.contract = sync.OnceValues(func() (*derivation, error) {
		d, err := derive(db.name, db.schema, db.rules)
		if err == nil && db.opts.Contract == nil {
			d.tellRenamed(db.opts.Logf)
		}
		return d, err
	})
	return db
}

// open makes the copy and the connections on it.
func (db *DB) open(ctx context.Context) error {
	if db.place != "" {
		return db.connect(ctx, db.place)
	}
	folder, err := dbfile.NewFolder(db.opts.TempDir)
	if err != nil {
		return err
	}
	file := folder.File("fixture.db")
	if err := db.fill(file); err != nil {
		return errors.Join(err, folder.Remove())
	}
	if err := db.connect(ctx, file); err != nil {
		return errors.Join(err, folder.Remove())
	}
	if folder.Remove() != nil {
		db.kept = append(db.kept, folder) // in use, as Windows sees it: Close removes it
	}
	return nil
}

// connect opens every connection on the file and reads the schema.
func (db *DB) connect(ctx context.Context, file string) (err error) {
	var conns []*conn
	defer func() {
		if err != nil {
			for _, c := range conns {
				c.close()
			}
		}
	}()
	for i := range 1 + readerCount() {
		c, err := openConn(file, db.access(i == 0))
		if err != nil {
			return err
		}
		conns = append(conns, c)
		if i == 0 {
			if err := db.learn(ctx, c); err != nil {
				return err
			}
			c.log = db.newLog(c)
		}
		if err := db.equip(ctx, c, i == 0); err != nil {
			return err
		}
	}
	p := newPool(conns[0], conns[1:])
	if db.place == "" {
		p.origin = newOrigin(file, db.frames, db.pageSize)
	}
	db.pool.Store(p)
	return nil
}

func (db *DB) access(writer bool) access {
	switch {
	case !writer:
		return accessRead
	case db.place != "" && db.opts.ReadOnly:
		return accessRead
	case db.place != "":
		return accessPlace
	}
	return accessCopy
}

// learn reads the schema, unless a reset finds it known, and the map against it.
func (db *DB) learn(ctx context.Context, c *conn) (err error) {
	if db.schema != nil {
		return nil
	}
	if db.schema, err = readSchema(ctx, c, db.opts.Logf); err != nil {
		return err
	}
	if db.place == "" && !db.schema.entangled {
		// Nobody else writes, and no write reaches another table.
		db.numbers = &numbers{top: map[numberKey]givenID{}}
	}
	db.rules, err = db.opts.Map.compile(db.schema)
	return err
}

// equip makes a connection ready: its clock where the schema asks for one, and
// its files open before they are unlinked. What the writer has put into a copy
// until now is part of what a reset goes back to.
func (db *DB) equip(ctx context.Context, c *conn, writer bool) error {
	if db.schema.impure {
		c.clock = &clock{}
		c.clock.set(db.opts.Now, db.seed.Load(), 0)
		if err := c.clock.install(c.raw); err != nil {
			return err
		}
	} else if err := c.exec("PRAGMA trusted_schema=OFF"); err != nil {
		// The clock's functions would count as unsafe there; without a clock, a
		// fixture may use nothing but what is harmless.
		return err
	}
	c.dropStmts()
	if db.place == "" && writer {
		var err error
		if db.frames, db.pageSize, err = c.settle(cmp.Or(db.opts.logLimit, logLimit)); err != nil {
			return err
		}
	}
	if _, err := exists(ctx, c, "SELECT 1 FROM sqlite_schema LIMIT 1", nil); err != nil {
		return err
	}
	c.raw.Guard(true)
	return nil
}

// explain adds what to do to errors of SQLite that a fixture's owner can act on.
func explain(err error) error {
	msg := err.Error()
	switch {
	case strings.Contains(msg, "no such module: "):
		_, name, _ := strings.Cut(msg, "no such module: ")
		return fmt.Errorf("%w: the fixture needs the SQLite module %q, which this build does not have; "+
			"drop that table from the fixture, or use FTS4 in the place of FTS5", err, name)
	case strings.Contains(msg, "no such collation sequence"), strings.Contains(msg, "no such function"):
		return fmt.Errorf("%w: the fixture was made by a program that added it; drop what needs it from the fixture", err)
	}
	return err
}

// Close waits for running calls, at most until ctx ends, and drops the copies.
func (db *DB) Close(ctx context.Context) error {
	err := db.saveOnce(ctx)
	err = errors.Join(err, db.pool.Load().close(ctx))
	err = errors.Join(err, db.closeTenants(ctx))
	for _, folder := range db.kept {
		err = errors.Join(err, folder.Remove())
	}
	return err
}

// reader takes a connection for a call that only reads.
func (db *DB) reader(ctx context.Context, req *provider.Request) (*conn, error) {
	c, err := db.take(ctx, func(p *pool) chan *conn { return p.readers })
	if err == nil {
		db.setClock(c, req)
	}
	return c, err
}

// take waits for a connection; a reset meanwhile means the new copy's.
func (db *DB) take(ctx context.Context, kind func(*pool) chan *conn) (*conn, error) {
	for {
		p := db.pool.Load()
		c, err := p.take(ctx, kind(p))
		if err != errClosed || db.pool.Load() == p {
			return c, err
		}
	}
}

func (db *DB) release(c *conn) { c.pool.readers <- c }

// writer takes the connection for a call that writes.
func (db *DB) writer(ctx context.Context) (*conn, error) {
	return db.take(ctx, func(p *pool) chan *conn { return p.writer })
}

func (db *DB) unwrite(c *conn) { c.pool.writer <- c }

// now is the virtual time of a call, before a connection was taken for it.
func (db *DB) now(req *provider.Request) time.Time {
	n, ok := callNumber(req)
	if !ok {
		db.calls.Lock()
		n = db.call + 1
		db.calls.Unlock()
	}
	return db.opts.Now.Add(time.Duration(n) * time.Second).UTC()
}

// callNumber is the position of a call, as its request id tells it.
func callNumber(req *provider.Request) (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimPrefix(req.RequestID, "r"), 10, 32)
	return n, err == nil
}

// setClock moves a connection's clock to the call and returns its position: what
// its request id tells, else a count.
func (db *DB) setClock(c *conn, req *provider.Request) int64 {
	n, ok := callNumber(req)
	if !ok {
		db.calls.Lock()
		db.call++
		n = db.call
		db.calls.Unlock()
	}
	c.clock.set(db.opts.Now, db.seed.Load(), n)
	return n
}
