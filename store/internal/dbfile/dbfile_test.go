package dbfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		write(t, filepath.Join(dir, "good.db"), Header+"more"): "",
		filepath.Join(dir, "none.db"):                          "the file does not exist",
		dir:                                                    "this is a folder",
		os.DevNull:                                             "no regular file",
		write(t, filepath.Join(dir, "empty.db"), ""):          "the file is empty",
		write(t, filepath.Join(dir, "a.sql"), "\n--x\n"):      "fixtures import a.sql -o fixtures.db",
		write(t, filepath.Join(dir, "noise.db"), Header[:15]): "or an encrypted one: it begins with",
	} {
		err := Check(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, want)
		}
	}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	write(t, src, "content")
	write(t, src+"-wal", "log")
	write(t, dst+"-journal", "of an older copy")
	if err := Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dst) + " " + read(t, dst+"-wal"); got != "content log" {
		t.Errorf("the copy holds %q", got)
	}
	if _, err := os.Stat(dst + "-journal"); !os.IsNotExist(err) {
		t.Errorf("a companion of an older copy stayed: %v", err)
	}
	if !HasCompanion(src) || HasCompanion(filepath.Join(dir, "none.db")) {
		t.Error("HasCompanion does not see the log, or sees one that is not there")
	}
	if got := Companions("x.db"); !slices.Equal(got, []string{"x.db-wal", "x.db-journal"}) {
		t.Errorf("companions %q", got)
	}
	if err := Copy(dst, filepath.Join(dir, "none.db")); !os.IsNotExist(err) {
		t.Errorf("the copy of nothing: %v", err)
	}
}

func TestSource(t *testing.T) {
	dir := t.TempDir()
	src, dst := write(t, filepath.Join(dir, "a.db"), "content"), filepath.Join(dir, "b.db")
	s := NewSource(src)
	for range 2 {
		if err := s.Copy(dst); err != nil || read(t, dst) != "content" {
			t.Fatalf("%v, %q", err, read(t, dst))
		}
	}
	write(t, src, "another content")
	if err := s.Copy(dst); err == nil || !strings.Contains(err.Error(), "changed since it was opened") {
		t.Errorf("a copy of another content: %v", err)
	}
}

func TestEscapeURI(t *testing.T) {
	if got := EscapeURI("/a b/50%?#.db"); got != "/a b/50%25%3F%23.db" {
		t.Errorf("got %q", got)
	}
}
