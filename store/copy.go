package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// companions are the files beside a database that belong to its content: a
// write-ahead log not yet checkpointed, a rollback journal of a crashed writer.
// SQLite folds them in when it first opens the copy.
var companions = []string{"-wal", "-journal"}

// copyName is the name of the private copy in its directory.
const copyName = "fixture.db"

// copyTries bounds how often a copy starts anew because another process wrote
// the fixture meanwhile.
const copyTries = 5

// header is how every SQLite database begins.
const header = "SQLite format 3\x00"

// checkFile says early, and in the fixture's own terms, why path cannot be a
// fixture.
func checkFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("fixture %s: no such file", path)
	case err != nil:
		return fmt.Errorf("fixture %s: %w", path, err)
	case info.IsDir():
		return fmt.Errorf("fixture %s: this is a directory, want a SQLite file", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("fixture %s: this is no regular file (%s), want a SQLite file", path, info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("fixture %s: %w", path, err)
	}
	defer f.Close()
	head := make([]byte, len(header))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("fixture %s: %w", path, err)
	}
	return checkHeader(path, head[:n])
}

func checkHeader(path string, head []byte) error {
	switch text := string(head); {
	case text == header:
		return nil
	case text == "":
		return fmt.Errorf("fixture %s: the file is empty, want a SQLite database with at least one table", path)
	case looksLikeSQL(text):
		return fmt.Errorf("fixture %s: this looks like SQL text, want a SQLite file; make one with: sqlite3 fixture.db < %s",
			path, filepath.Base(path))
	default:
		return fmt.Errorf("fixture %s: this is not a SQLite database, or an encrypted one: it begins with %q, want %q",
			path, text, header)
	}
}

func looksLikeSQL(text string) bool {
	upper := strings.ToUpper(strings.TrimSpace(text))
	for _, word := range []string{"CREATE ", "PRAGMA ", "BEGIN", "INSERT ", "--", "/*"} {
		if strings.HasPrefix(upper, word) {
			return true
		}
	}
	return false
}

// copyFixture copies the database at path and its companions to dir. The
// fixture and its folder are only read: SQLite itself would write beside it
// (a -shm file) where the database is in WAL mode.
func copyFixture(path, dir string) error {
	for range copyTries {
		before := snapshot(path)
		for _, suffix := range append([]string{""}, companions...) {
			err := copyFile(filepath.Join(dir, copyName+suffix), path+suffix, suffix != "")
			if err != nil {
				return err
			}
		}
		if before == snapshot(path) {
			return nil
		}
	}
	return fmt.Errorf("another process keeps writing it; stop that process, or copy the file and open the copy")
}

// fixtureCopier returns a function that copies a fixture to a folder, the same
// each time: once the file changed it refuses.
func fixtureCopier(path string) func(dir string) error {
	first := snapshot(path)
	copied := false
	return func(dir string) error {
		if copied && snapshot(path) != first {
			return errors.New("the file changed since it was opened, so another copy would not be the same; start anew")
		}
		if err := copyFixture(path, dir); err != nil {
			return err
		}
		if !copied {
			first, copied = snapshot(path), true
		}
		return nil
	}
}

// snapshot tells whether the fixture was written between two looks.
func snapshot(path string) (state [3]struct {
	size int64
	mod  time.Time
}) {
	for i, suffix := range append([]string{""}, companions...) {
		if info, err := os.Stat(path + suffix); err == nil {
			state[i].size, state[i].mod = info.Size(), info.ModTime()
		}
	}
	return state
}

// copyFile copies a file; an optional one that is missing leaves none behind.
func copyFile(dst, src string, optional bool) (err error) {
	in, err := os.Open(src)
	if optional && errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(dst); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
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
