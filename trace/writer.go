package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// A Writer writes entries as lines. Several goroutines may use it at once; lines
// never mix. Those that are ready together share a write, and each goroutine
// waits for the one that holds its line.
type Writer struct {
	check func() error
	close func() error
	hurry func() // makes a write that waits for the reader of a pipe fail; nil for files

	mu    sync.Mutex
	queue []*pending // ready to be written; whoever put the first one writes them all
	alone int        // writes of one line since the last one of several

	writing sync.Mutex // held by who writes; guards all below
	w       io.Writer
	torn    bool       // what was written last does not end in a line break
	room    []*pending // of an older queue
	joined  []byte     // lines of one write
}

// A pending line is an entry on its way into the trace.
type pending struct {
	text    []byte     // a line break, which is written only after a torn line, then the line
	written chan error // of capacity 1: what came of a line that another goroutine wrote
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
		w.hurry = func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) }
		return w, nil // a pipe or device has no last byte and cannot be synced
	}
	w.check = func() error { return stillAt(path, info) }
	w.close = func() error { return errors.Join(w.check(), f.Sync(), f.Close()) }
	if w.torn, err = endsInsideLine(path, info.Size()); err != nil {
		return nil, errors.Join(fmt.Errorf("trace file %s: its last line cannot be checked: %w", path, err), f.Close())
	}
	return w, nil
}

// A MovedError says that the path given to [OpenFile] no longer leads to the file
// that lines are written to: what was written is in a file without that name.
type MovedError struct{ err error }

// Error implements error.
func (e *MovedError) Error() string { return e.err.Error() }

// Unwrap returns what the system said, if anything.
func (e *MovedError) Unwrap() error { return errors.Unwrap(e.err) }

// stillAt says that a path no longer leads to the file that was opened there.
func stillAt(path string, opened fs.FileInfo) error {
	now, err := os.Stat(path)
	switch {
	case err == nil && os.SameFile(now, opened):
		return nil
	case err == nil:
		err = fmt.Errorf("trace file %s: another file has its name now; the lines since then are in the one that was removed or renamed", path)
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("trace file %s: it was removed or renamed while lines were written to it; removed, its lines are lost", path)
	default:
		err = fmt.Errorf("trace file %s: it cannot be found any more: %w", path, err)
	}
	return &MovedError{err}
}

func openError(path string, err error) error {
	if dir := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("trace file %s: the folder %s does not exist; create it or name another file", path, dir)
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return fmt.Errorf("trace file %s: it is a folder; name a file in it", path)
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

const (
	keepLine = 1 << 20  // the largest line buffer that goes back to the pool, in bytes
	joinSize = 64 << 10 // lines are joined up to so many bytes
	pipeWait = time.Second

	// So many writes of one line in a row let others go on first, then each so many.
	// Goroutines that take turns on a processor never meet here: that there are others
	// shows when one waits for them. That may wake a processor, which is too much for
	// each line of a client that is alone.
	patience = 64
)

var pendings = sync.Pool{New: func() any { return &pending{written: make(chan error, 1)} }}

// Write writes one entry. An error says that the line is not, or not whole, in
// the trace; the next line then still starts on a line of its own.
func (w *Writer) Write(e *Entry) error {
	l := pendings.Get().(*pending)
	defer func() {
		if cap(l.text) <= keepLine {
			pendings.Put(l)
		}
	}()
	l.text = e.AppendLine(append(l.text[:0], '\n'))
	text := l.text[1:]
	if i := bytes.IndexByte(text, '\n'); i != len(text)-1 {
		return fmt.Errorf("trace entry %d: a value holds a line break at byte %d, want canonical JSON", e.Seq, i)
	}
	if err := w.writeLine(l); err != nil {
		return fmt.Errorf("trace entry %d: %w", e.Seq, err)
	}
	return nil
}

// writeLine writes a line and those that become ready meanwhile, or waits until
// another goroutine has written it.
func (w *Writer) writeLine(l *pending) error {
	first, wait := w.enqueue(l)
	if !first {
		return <-l.written
	}
	if wait {
		runtime.Gosched() // others that are about to come share the write
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	batch := w.takeQueue()
	err := w.writeBatch(batch)
	clear(batch)
	return err
}

func (w *Writer) enqueue(l *pending) (first, wait bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, l)
	return len(w.queue) == 1, w.alone < patience || w.alone%patience == 0
}

func (w *Writer) takeQueue() []*pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	batch := w.queue
	w.queue, w.room = w.room[:0], batch
	w.alone++
	if len(batch) > 1 {
		w.alone = 0
	}
	return batch
}

// writeBatch returns what came of the first line and sends what came of the
// others to those who wait.
func (w *Writer) writeBatch(batch []*pending) (first error) {
	for i := 0; i < len(batch); {
		text, n := w.join(batch[i:])
		written, err := w.writeText(text)
		end := 0
		for _, l := range batch[i : i+n] {
			var failed error
			if end += len(l.text) - 1; written < end {
				failed = err
			}
			if l == batch[0] {
				first = failed
			} else {
				l.written <- failed
			}
		}
		i += n
	}
	return first
}

// join gives the text of the first lines, one at least, and their number. The
// text begins with a line break.
func (w *Writer) join(batch []*pending) (text []byte, n int) {
	text, n = batch[0].text, 1
	if len(batch) == 1 || len(text)+len(batch[1].text) > joinSize {
		return text, n
	}
	text = append(w.joined[:0], text...)
	for _, l := range batch[1:] {
		if len(text)+len(l.text) > joinSize {
			break
		}
		text = append(text, l.text[1:]...)
		n++
	}
	w.joined = text
	return text, n
}

// writeText writes lines that begin with a line break, which goes out after a torn
// line alone. It tells how much of the rest was written; less than all is an error.
func (w *Writer) writeText(text []byte) (written int, err error) {
	before := 1
	if !w.torn {
		text, before = text[1:], 0
	}
	n, err := w.w.Write(text)
	if n > 0 && n <= len(text) {
		w.torn = text[n-1] != '\n'
	}
	if err == nil && n != len(text) {
		err = io.ErrShortWrite
	}
	return n - before, err
}

// Check tells a [MovedError] when the path given to OpenFile no longer leads to the
// file that lines are written to: it was removed, renamed or replaced.
func (w *Writer) Check() error { return w.check() }

// Close waits for lines being written, then brings a file that OpenFile opened
// to the disk and closes it, so that a write error the system held back is
// reported here, and what [Writer.Check] finds. A pipe whose reader takes nothing
// is given a second; lines that still wait are lost, and their Write says so.
func (w *Writer) Close() error {
	if w.hurry != nil {
		defer time.AfterFunc(pipeWait, w.hurry).Stop()
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.close()
}
