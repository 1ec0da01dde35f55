package vcr

import (
	"errors"
	"fmt"
	"os"
)

// ErrLocked says that another recorder, of this process or another one, is writing
// the file.
var ErrLocked = errors.New("another recorder is writing this file")

// Lock keeps other recorders from the file until f is closed, by whatever ends the
// process too. The error wraps [ErrLocked] when one holds it. Where the system or
// the file system has no locks, nothing is kept.
func Lock(f *os.File) error {
	if err := lock(f); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	// A recorder that ended in between has put another file in its place.
	named, err := os.Stat(f.Name())
	if err != nil {
		return err
	}
	held, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(named, held) {
		return fmt.Errorf("%s: %w: it was replaced while it was opened", f.Name(), ErrLocked)
	}
	return nil
}

// Hold locks a file that is there, for a change of it as a whole, until release is
// called. Of one that is missing there is nothing to hold.
func Hold(path string) (release func(), err error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := Lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
