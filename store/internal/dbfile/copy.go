package dbfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// copyTries bounds how often a copy starts anew because another process wrote
// the database meanwhile.
const copyTries = 5

// Copy copies the database at path and its companions to dst. The database and
// its folder are only read: SQLite itself would write beside it (a -shm file)
// where the database is in WAL mode. Blocks are shared in the place of copied
// where the file system can (btrfs, XFS).
func Copy(dst, path string) error {
	for range copyTries {
		before := look(path)
		if err := CopyFile(dst, path); err != nil {
			return err
		}
		for _, suffix := range companions {
			if err := copyCompanion(dst+suffix, path+suffix); err != nil {
				return err
			}
		}
		if before == look(path) {
			return nil
		}
	}
	return errors.New("another process keeps writing it; stop that process, or copy the file and open the copy")
}

// A Source is a database that is copied several times, the same each time: once
// the file changed it refuses. It may be used by several goroutines.
type Source struct {
	path  string
	mu    sync.Mutex
	taken bool
	first state
}

// NewSource returns the source of copies of the database at path.
func NewSource(path string) *Source { return &Source{path: path} }

// Copy makes a copy at dst, as [Copy] does.
func (s *Source) Copy(dst string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken && look(s.path) != s.first {
		return errors.New("the file changed since it was opened, so another copy would not be the same; start anew")
	}
	if err := Copy(dst, s.path); err != nil {
		return err
	}
	if !s.taken {
		s.first, s.taken = look(s.path), true
	}
	return nil
}

// state is what tells whether a database was written between two looks.
type state [3]struct {
	size int64
	mod  time.Time
}

func look(path string) (s state) {
	for i, suffix := range append([]string{""}, companions...) {
		if info, err := os.Stat(path + suffix); err == nil {
			s[i].size, s[i].mod = info.Size(), info.ModTime()
		}
	}
	return s
}

// CopyFile copies one file, which may be replaced.
func CopyFile(dst, src string) (err error) {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	// On Linux this is copy_file_range: no pass through user space.
	_, err = io.Copy(out, in)
	return err
}

// copyCompanion copies a file that may be missing, and then leaves none behind.
func copyCompanion(dst, src string) error {
	err := CopyFile(dst, src)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(dst); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
