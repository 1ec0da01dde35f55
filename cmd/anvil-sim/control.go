package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim/surface"
)

// snapshot gives a state as a SQLite file, which is gone when it is closed.
func (st *state) snapshot(ctx context.Context, which surface.StateOf) (_ io.ReadCloser, size int64, err error) {
	if n := int64(st.sim.Calls()); which.Call != nil && *which.Call > n {
		return nil, 0, fmt.Errorf("call %d is still to come, the last one was %d", *which.Call, n)
	}
	dir, err := os.MkdirTemp("", "anvil-state-")
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	path := filepath.Join(dir, "state.db")
	if err := st.snapshotter.Snapshot(ctx, &provider.SnapshotParams{Path: path, Call: which.Call, TenantID: which.Tenant}); err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return &tempFile{f, dir}, info.Size(), nil
}

// A tempFile is a file in a folder of its own that goes with it.
type tempFile struct {
	*os.File
	dir string
}

// Close closes the file and removes its folder.
func (t *tempFile) Close() error { return errors.Join(t.File.Close(), os.RemoveAll(t.dir)) }
