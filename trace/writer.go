package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A Writer writes entries as lines, each with one Write call. Several
// goroutines may use it at once; lines never mix.
type Writer struct {
	mu    sync.Mutex
	w     io.Writer
	torn  bool // what was written last does not end in a line break
	check func() error
	close func() error
}

// NewWriter returns a Writer on w. Its Close leaves w open.
func NewWriter(w io.Writer) *Writer {
	nothing := func() error { return nil }
	return &Writer{w: w, check: nothing, close: nothing}
}

// OpenFile opens the trace file path to append to it, and makes it when it is
// not there; it never truncates, and its folder must exist. When the file ends
// in the middle of a line, as a killed writer leaves it, the first line written
// starts on a line of its own. A named pipe needs a reader that has it open.
func OpenFile(path string) (*Writer, error) {
	flags := os.O_WRONLY | os.O_APPEND | os.O_CREATE
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		flags |= syscall.O_NONBLOCK // else opening it waits for a reader, deaf to signals
	}
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return nil, openError(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("trace file %s: %w", path, err), f.Close())
	}
	w := NewWriter(f)
	w.close = f.Close
	if !info.Mode().IsRegular() {
		return w, nil // a pipe or device has no last byte and cannot be synced
	}
	w.check = func() error { return stillAt(path, info) }
	w.close = func() error { return errors.Join(w.check(), f.Sync(), f.Close()) }
	if w.torn, err = endsInsideLine(path, info.Size()); err != nil {
		return nil, errors.Join(fmt.Errorf("trace file %s: its last line cannot be checked: %w", path, err), f.Close())
	}
	return w, nil
}

// stillAt says that a path no longer leads to the file that was opened there.
func stillAt(path string, opened fs.FileInfo) error {
	now, err := os.Stat(path)
	switch {
	case err == nil && os.SameFile(now, opened):
		return nil
	case err == nil:
		return fmt.Errorf("trace file %s: another file has its name now; the lines since then are in the one that was removed or renamed", path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("trace file %s: it was removed or renamed while lines were written to it; removed, its lines are lost", path)
	}
	return fmt.Errorf("trace file %s: it cannot be found any more: %w", path, err)
}

func openError(path string, err error) error {
	if dir := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("trace file %s: the folder %s does not exist; create it or name another file: %w", path, dir, err)
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return fmt.Errorf("trace file %s: it is a folder; name a file in it: %w", path, err)
	}
	if errors.Is(err, syscall.ENXIO) {
		return fmt.Errorf("trace file %s: it is a named pipe that nobody reads; start the reader first: %w", path, err)
	}
	return fmt.Errorf("trace file %s: it cannot be opened for appending: %w", path, err)
}

func endsInsideLine(path string, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// keepLine is the largest line buffer that goes back to the pool, in bytes.
const keepLine = 1 << 20

var lines = sync.Pool{New: func() any { return new([]byte) }}

// Write writes one entry. An error says that the line is not, or not whole, in
// the trace; the next line then still starts on a line of its own.
func (w *Writer) Write(e *Entry) error {
	buf := lines.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= keepLine {
			lines.Put(buf)
		}
	}()
	// The leading line break is written only after a torn line.
	*buf = e.AppendLine(append((*buf)[:0], '\n'))
	line := (*buf)[1:]
	if i := bytes.IndexByte(line, '\n'); i != len(line)-1 {
		return fmt.Errorf("trace entry %d: a value holds a line break at byte %d, want canonical JSON", e.Seq, i)
	}
	if err := w.writeLine(*buf); err != nil {
		return fmt.Errorf("trace entry %d: %w", e.Seq, err)
	}
	return nil
}

// writeLine writes a line that has a line break at both ends.
func (w *Writer) writeLine(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.torn {
		line = line[1:]
	}
	n, err := w.w.Write(line)
	if n > 0 && n <= len(line) {
		w.torn = line[n-1] != '\n'
	}
	if err == nil && n != len(line) {
		err = io.ErrShortWrite
	}
	return err
}

// Check tells an error when the path given to OpenFile no longer leads to the file
// that lines are written to: it was removed, renamed or replaced.
func (w *Writer) Check() error { return w.check() }

// Close waits for a line being written, then brings a file that OpenFile opened
// to the disk and closes it, so that a write error the system held back is
// reported here, and what [Writer.Check] finds.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.close()
}
