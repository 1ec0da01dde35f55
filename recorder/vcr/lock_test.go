package vcr

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.yaml")
	first, err := Create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Append(path); !errors.Is(err, ErrLocked) {
		t.Errorf("append: %v", err)
	}
	if _, err := Create(path, true); !errors.Is(err, ErrLocked) {
		t.Errorf("replace: %v", err)
	}
	if _, err := Hold(path); !errors.Is(err, ErrLocked) {
		t.Errorf("hold: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(before) {
		t.Errorf("a refused writer changed the file: %v %q", err, got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := Append(path)
	if err != nil {
		t.Fatalf("after the first one's end: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	release, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if release, err = Hold(path + ".missing"); err != nil {
		t.Errorf("nothing to hold: %v", err)
	} else {
		release()
	}
}

// A killed writer leaves no lock behind.
func TestKilledWriterLeavesNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.yaml")
	if os.Getenv("VCR_HOLD") != "" {
		held, err := Append(os.Getenv("VCR_HOLD"))
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		os.Stdout.WriteString("held\n")
		os.Stdin.Read(make([]byte, 1)) // until it is killed
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriterLeavesNoLock$")
	cmd.Env = append(os.Environ(), "VCR_HOLD="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if _, err := Append(path); !errors.Is(err, ErrLocked) {
		t.Errorf("while it writes: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	f, err := Append(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
