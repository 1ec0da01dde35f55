package wholefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(path string, fill func(w io.Writer) error) error { return new(Set).Write(path, fill) }

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := write(path, func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return boom
	})
	if got, _ := os.ReadFile(path); !errors.Is(err, boom) || string(got) != "old" {
		t.Errorf("after a failure: %v, %q", err, got)
	}
	err = write(path, func(w io.Writer) error {
		if got, _ := os.ReadFile(path); string(got) != "old" {
			t.Errorf("while it is written: %q", got)
		}
		_, err := fmt.Fprint(w, "new")
		return err
	})
	if got, _ := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("%v, %q", err, got)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want the one it had", info.Mode())
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
}

func TestLinkStays(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := write(link, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if got, _ := os.ReadFile(target); err != nil || info.Mode()&os.ModeSymlink == 0 || string(got) != "x" {
		t.Errorf("link %v, target %q, %v", info.Mode(), got, err)
	}
}

func TestSetAppearsTogether(t *testing.T) {
	dir := t.TempDir()
	var set Set
	for _, name := range []string{"b", "a"} {
		f, err := set.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, name)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names(t, dir) {
		if !strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s has its name before the commit", name)
		}
	}
	if err := set.Commit(); err != nil {
		t.Fatal(err)
	}
	set.Abort()
	if got := strings.Join(names(t, dir), " "); got != "a b" {
		t.Errorf("got %s", got)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "no", "a"): "does not exist; create it or name another file",
		dir:                           "it is a folder; name a file in it",
	} {
		err := write(path, func(io.Writer) error { t.Error("filled"); return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := write(os.DevNull, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Errorf("a device: %v", err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}
