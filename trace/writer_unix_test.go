//go:build unix

package trace

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A named pipe that nobody reads is an error, and no wait for a reader.
func TestOpenFileNamedPipe(t *testing.T) {
	path := makePipe(t)
	if _, err := OpenFile(path); err == nil || !strings.Contains(err.Error(), path+": it is a named pipe that nobody reads; start the reader first") {
		t.Fatalf("error %v", err)
	}
	r, w := openPipe(t, path)
	// More than a pipe holds: writes wait for the reader.
	const lines = 2000
	written := make(chan error, 1)
	go func() {
		for range lines {
			if err := w.Write(&Entry{}); err != nil {
				written <- err
				return
			}
		}
		written <- w.Close()
	}()
	got := 0
	for in := bufio.NewScanner(r); in.Scan(); got++ {
	}
	if err := <-written; err != nil || got != lines {
		t.Errorf("%d lines, want %d; error %v", got, lines, err)
	}
}

// A pipe whose reader takes nothing does not hold up Close.
func TestClosePipeNobodyReads(t *testing.T) {
	path := makePipe(t)
	_, w := openPipe(t, path)
	const writers = 3 // two of them wait for the one that holds their lines
	failed := make(chan error, writers)
	for range writers {
		go func() {
			var err error
			for err == nil {
				err = w.Write(&Entry{})
			}
			failed <- err
		}()
	}
	// Whether they wait already or not: the pipe is never read.
	if err := w.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for range writers {
		if err := <-failed; err == nil {
			t.Error("a write into a closed pipe is fine")
		}
	}
}

// makePipe makes a named pipe.
func makePipe(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// openPipe opens a named pipe's two ends, the reader first.
func openPipe(t *testing.T, path string) (*os.File, *Writer) {
	t.Helper()
	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	w, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}
