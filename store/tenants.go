package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/anvil-sim/anvil/provider"
)

// maxTenants bounds the copies that are open at once.
const maxTenants = 256

// tenant is the database of a request's tenant: a copy of the fixture of its
// own, made when the tenant is first seen. Requests without a tenant share one. The
// caller must call [DB.left] when it is done.
func (db *DB) tenant(ctx context.Context, req *provider.Request) (*DB, error) {
	if req.TenantID == nil || *req.TenantID == "" || db.place != "" {
		return db, nil
	}
	db.tenantMu.Lock()
	defer db.tenantMu.Unlock()
	if t := db.tenants[*req.TenantID]; t != nil {
		t.running.Add(1)
		return t, nil
	}
	if len(db.tenants) >= maxTenants {
		return nil, fmt.Errorf("more than %d tenants; start another simulator, or name fewer in X-Anvil-Tenant", maxTenants)
	}
	opts := db.opts
	opts.SaveState, opts.Seed = "", db.seed.Load()
	opts.Logf = nil // what is left out was said when the fixture was opened
	t := newDB(&opts)
	t.name, t.fill = db.name, db.fill
	if err := t.open(ctx); err != nil {
		return nil, fmt.Errorf("copy for the tenant %q: %w", *req.TenantID, err)
	}
	db.tenants[*req.TenantID] = t
	t.running.Add(1)
	return t, nil
}

// left ends the use of a copy that [DB.tenant] or [DB.seen] gave.
func (db *DB) left(t *DB) {
	if t != db {
		t.running.Done()
	}
}

// closeTenants forgets every tenant and closes their copies. Those who have found
// one use it to their end, unless ctx ends before.
func (db *DB) closeTenants(ctx context.Context) (err error) {
	for _, t := range db.dropTenants() {
		idle := make(chan struct{})
		go func() {
			t.running.Wait()
			close(idle)
		}()
		select {
		case <-idle:
		case <-ctx.Done():
		}
		err = errors.Join(err, t.Close(ctx))
	}
	return err
}

func (db *DB) dropTenants() (list []*DB) {
	db.tenantMu.Lock()
	defer db.tenantMu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(db.tenants)) {
		list = append(list, db.tenants[name])
	}
	clear(db.tenants)
	return list
}

// Tenants lists the tenants seen so far, sorted.
func (db *DB) Tenants() []string {
	db.tenantMu.Lock()
	defer db.tenantMu.Unlock()
	return slices.Sorted(maps.Keys(db.tenants))
}

// Reset puts the state of every tenant back to the fixture. It waits for the
// calls that run, at most until ctx ends; later ones see the fixture. A database
// opened in place cannot be reset. It implements provider.Resetter; ids and
// chances follow from seed.
//
// The cost does not grow with the size of the fixture, unless 32 MiB were written
// since the last time; then it is copied again.
func (db *DB) Reset(ctx context.Context, seed uint32) error {
	if db.place != "" {
		return errors.New("a fixture that is served in place cannot be reset: there is no copy to go back to")
	}
	db.turn.Lock()
	defer db.turn.Unlock()
	restart := func() {
		db.totals.forget()
		db.numbers.forget()
		db.calls.Lock()
		db.call = 0
		db.calls.Unlock()
		db.seed.Store(seed)
	}
	old := db.pool.Load()
	done, err := db.rewind(ctx, old, restart)
	if err == nil && !done {
		if err = db.open(ctx); err == nil {
			restart()
			err = old.close(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	return db.closeTenants(ctx)
}
