package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A signal while a file is made leaves nothing behind, even when the command waits
// for standard input.
func TestSignalLeavesNoHalfFile(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "anvil-trace") // a name that TestMain knows
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(bin, "sort", "-", "--out", "sorted.jsonl")
	cmd.Dir = dir
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for deadline := time.Now().Add(20 * time.Second); count() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("no file was begun")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 2 || strings.TrimSpace(stderr.String()) != "anvil-trace: interrupted" {
		t.Errorf("%v, code %d, %q", err, code, stderr.String())
	}
	if n := count(); n != 0 {
		t.Errorf("%d file(s) left behind", n)
	}
}
