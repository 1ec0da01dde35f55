package dbfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// prefix is how the names of folders with private copies begin.
const prefix = "anvil-fixture-"

// folderTries bounds how often a new folder is lost to a process that sweeps.
const folderTries = 10

// errHeld is the error of a folder whose owner lives.
var errHeld = errors.New("the folder is in use")

// A Folder is a temporary folder for a private copy. While its process lives it
// is locked, so that [Sweep] knows the folders of the dead.
type Folder struct {
	path string
	lock *os.File // nil where folders cannot be locked
}

// NewFolder makes a folder in parent, "" for the system's temporary folder.
func NewFolder(parent string) (*Folder, error) {
	for range folderTries {
		path, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return nil, err
		}
		lock, err := hold(path)
		if errors.Is(err, errHeld) {
			continue // swept away before it was locked
		}
		// Without locks on this file system nobody sweeps either.
		return &Folder{path: path, lock: lock}, nil
	}
	return nil, errors.New("another process removes every folder for a private copy; name another temporary folder with TMPDIR")
}

// File is the path of a file in the folder.
func (f *Folder) File(name string) string { return filepath.Join(f.path, name) }

// Remove removes the folder and what is in it. After an error it can be called
// again.
func (f *Folder) Remove() error {
	if err := os.RemoveAll(f.path); err != nil {
		return err
	}
	if f.lock != nil {
		_ = f.lock.Close() // the folder is gone, and the lock with it
		f.lock = nil
	}
	return nil
}

// Sweep removes the folders in parent that were left behind by processes that
// were killed while they made a copy. It is a courtesy: what cannot be removed
// stays, without a word.
func Sweep(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	dir, err := os.Open(parent)
	if err != nil {
		return
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		path := filepath.Join(parent, name)
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !ours(info) {
			continue
		}
		if lock, err := hold(path); err == nil {
			_ = os.RemoveAll(path)
			_ = lock.Close()
		}
	}
}
