package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What the system says about a path is said in this project's words, wherever it
// stands in an error.
func TestText(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	read := func(path string) error { _, err := os.ReadFile(path); return err }
	none, far := filepath.Join(dir, "none"), filepath.Join(dir, "no", "none")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{read(none), none + " does not exist"},
		{read(far), far + " does not exist, nor does the folder " + filepath.Dir(far)},
		{read(dir), dir + " is a folder, want a file"},
		{read(file + "/x"), file + "/x cannot be there: a part of its path is a file, not a folder"},
		{func() error { _, err := os.ReadDir(file); return err }(), file + " is a file, want a folder"},
		{func() error { _, err := os.OpenRoot(file); return err }(), file + " is a file, want a folder"},
		{read(loop), loop + " is a symbolic link that leads to itself"},
		{&fs.PathError{Op: "open", Path: file, Err: syscall.EACCES}, file + " may not be used by this user (permission denied)"},
		{fmt.Errorf("--rules: %w", read(none)), "--rules: " + none + " does not exist"},
		{errors.Join(read(none), WithHint(fmt.Errorf("a: %w (again)", read(dir)), "b")), none + " does not exist\na: " + dir + " is a folder, want a file (again)"},
		{&fs.PathError{Op: "write", Path: file, Err: syscall.ENOSPC}, "write " + file + ": no space left on device"},
		{errors.New("plain\n"), "plain"},
	} {
		if got := Text(tt.err); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
		var b strings.Builder
		if Report(&b, "prog", tt.err); !strings.HasPrefix(b.String(), "prog: "+tt.want+"\n") {
			t.Errorf("printed %s", b.String())
		}
	}
}
