// Package dbfile knows SQLite databases as files: how one begins, what stands
// beside it, how it is copied, and where private copies lie while they are made.
// It never opens a database.
package dbfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Header is how every SQLite database begins ("Database File Format", 1.3.1).
const Header = "SQLite format 3\x00"

// companions are the files beside a database that belong to its content: a
// write-ahead log not yet checkpointed, a rollback journal of a crashed writer.
// SQLite folds them in when it first opens the database to write.
var companions = []string{"-wal", "-journal"}

// Check says early, and in its owner's terms, why path cannot be a database. The
// error does not name the path.
func Check(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the file does not exist")
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("this is a folder, want a SQLite file")
	case !info.Mode().IsRegular():
		return fmt.Errorf("this is no regular file (%s), want a SQLite file", info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(Header))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	return checkHeader(path, string(head[:n]))
}

func checkHeader(path, head string) error {
	switch {
	case head == Header:
		return nil
	case head == "":
		return errors.New("the file is empty, want a SQLite database with at least one table")
	case looksLikeSQL(head):
		return fmt.Errorf("this looks like SQL text and is not a SQLite database; make one of it with: anvil-sim fixtures import %s -o fixtures.db", filepath.Base(path))
	}
	return fmt.Errorf("this is not a SQLite database, or an encrypted one: it begins with %q, want %q; make one of a table or a dump with: anvil-sim fixtures import %s -o fixtures.db",
		head, Header, filepath.Base(path))
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

// HasCompanion tells whether a file with content of the database stands beside it.
func HasCompanion(path string) bool {
	for _, suffix := range companions {
		if info, err := os.Stat(path + suffix); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// Companions are the paths of the files that may hold content of the database
// beside it, whether they exist or not.
func Companions(path string) (list []string) {
	for _, suffix := range companions {
		list = append(list, path+suffix)
	}
	return list
}

// EscapeURI protects what has a meaning in a SQLite URI.
func EscapeURI(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(path)
}
