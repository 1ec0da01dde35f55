//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dbfile

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// The test binary plays a process that is killed while it makes a copy.
func TestMain(m *testing.M) {
	if parent := os.Getenv("DBFILE_HELPER_PARENT"); parent != "" {
		f, err := NewFolder(parent)
		if err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.WriteFile(f.File("fixture.db"), []byte("half a copy"), 0o600)
		os.Stdout.WriteString("made\n")
		select {}
	}
	os.Exit(m.Run())
}

// A folder of a process that was killed goes at the next sweep, one of a process
// that lives stays.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	mine, err := NewFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(parent, "anvil-other-1")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(parent, prefix+"file"), "no folder")

	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DBFILE_HELPER_PARENT="+parent)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "made\n" {
		t.Fatalf("the helper said %q (%v)", line, err)
	}
	Sweep(parent)
	if got := len(list(t, parent)); got != 4 {
		t.Errorf("%q after a sweep while the owner lives, want 4 names", list(t, parent))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	Sweep(parent)
	want := []string{filepath.Base(mine.path), prefix + "file", "anvil-other-1"}
	slices.Sort(want)
	if got := list(t, parent); !slices.Equal(got, want) {
		t.Errorf("%q are left, want %q", got, want)
	}
	if err := mine.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := mine.Remove(); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	Sweep(filepath.Join(parent, "none"))
}

// A folder that is swept between its making and its locking is not taken for one's own.
func TestHoldOfWhatIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone")
	if _, err := hold(path); err == nil {
		t.Error("a folder that is not there was locked")
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	first, err := hold(path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := hold(path); err != errHeld {
		t.Errorf("locked twice: %v", err)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
