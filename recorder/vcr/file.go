package vcr

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/wholefile"
)

const (
	head    = "---\nversion: 1\ninteractions:\n"
	marker  = "...\n" // ends the document
	retired = "#..\n" // a marker that was passed
)

// ErrExists says that [Create] found a file and was not told to replace it.
var ErrExists = errors.New("the file exists already")

// A File is a cassette that is being written. Its methods may be called by several
// goroutines at once.
type File struct {
	mu     sync.Mutex
	path   string
	f      *os.File
	indent string // before the dash of an item
	end    int64  // offset of the end marker
	fixed  int64  // what stood before the first new item
	items  []item
	secret int   // the highest number of a placeholder that stood there already
	broken error // a write failed in a way that leaves the file's state open
}

// An item is one interaction that this File wrote.
type item struct {
	offset, size int64
	begin, end   uint64
	key          string
	method, path string
}

// Create starts an empty cassette. A file that is there already is ErrExists,
// unless replace is set: it is then replaced as a whole, now. One that another
// File is writing is [ErrLocked].
func Create(path string, replace bool) (*File, error) {
	if _, err := os.Lstat(path); err == nil && !replace {
		return nil, fmt.Errorf("%s: %w", path, ErrExists)
	}
	release, err := Hold(path)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := wholefile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, head+marker)
		return err
	}); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := Lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	n := int64(len(head))
	return &File{path: path, f: f, end: n, fixed: n}, nil
}

// Append goes on with a cassette, of this package or of another writer of format
// 1 in block style; what a killed writer left unfinished is dropped. A file that is
// missing is made. One that another File is writing is [ErrLocked].
func Append(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return Create(path, false)
	}
	if err != nil {
		return nil, err
	}
	if err := Lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t := &File{path: path, f: f}
	if err := t.resume(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return t, nil
}

// Path is the file's name as it was given.
func (t *File) Path() string { return t.path }

// Placeholders is the highest number of a placeholder that the file held when it
// was opened: new ones are counted on from there.
func (t *File) Placeholders() int { return t.secret }

// Len is how many interactions this File wrote.
func (t *File) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.items)
}

// Write puts one interaction on the tape. When it returns without an error, the
// interaction is on the disk and every reader of the file sees it.
func (t *File) Write(it *Interaction) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return t.broken
	}
	start := t.end + int64(len(marker))
	w := &tailWriter{f: t.f, at: start, small: 4}
	err := emit(w, it, t.indent)
	if err == nil {
		_, err = w.Write([]byte(marker))
	}
	if err == nil {
		err = t.f.Sync()
	}
	if err != nil {
		// Nobody has seen what stands behind the marker.
		if cut := t.f.Truncate(start); cut != nil {
			t.broken = fmt.Errorf("%s cannot be written any more: %w", t.path, cut)
		}
		return fmt.Errorf("%s: %w", t.path, err)
	}
	if err := t.commit(); err != nil {
		t.broken = fmt.Errorf("%s: %w", t.path, err)
		return t.broken
	}
	size := w.at - start - int64(len(marker))
	t.items = append(t.items, item{offset: start, size: size, begin: it.Begin, end: it.End, key: sortKey(it), method: it.Request.Method, path: pathOf(it.Request.URL)})
	t.end = start + size
	return nil
}

// commit turns the marker before the newest item into a comment: one byte, which
// is written or not.
func (t *File) commit() error {
	if _, err := t.f.WriteAt([]byte(retired[:1]), t.end); err != nil {
		return err
	}
	return t.f.Sync()
}

// A tailWriter writes behind the marker. Readers look a little way past it, so the
// first pieces are small and end between characters: a kill leaves no half one.
type tailWriter struct {
	f     *os.File
	at    int64
	small int // how many small pieces are left
}

func (w *tailWriter) Write(p []byte) (int, error) {
	const piece = 512
	done := 0
	for done < len(p) {
		part := p[done:]
		if w.small > 0 && len(part) > piece {
			n := piece
			for n > piece-utf8.UTFMax && !utf8.RuneStart(part[n]) {
				n--
			}
			part = part[:n]
			w.small--
		}
		n, err := w.f.WriteAt(part, w.at)
		w.at += int64(n)
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// Close ends the recording: the file is rewritten without markers and in canonical
// order, whole or not at all.
func (t *File) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.f == nil {
		return nil
	}
	err := t.broken
	if err == nil {
		err = wholefile.Write(t.path, t.canonical)
	}
	err = errors.Join(err, t.f.Close())
	t.f, t.broken = nil, errors.New(t.path+" is closed")
	return err
}

func (t *File) canonical(w io.Writer) error {
	n := NewNumberer(w)
	if len(t.items) == 0 && t.fixed == int64(len(head)) {
		_, err := io.WriteString(w, head[:len(head)-1]+" []\n")
		return err
	}
	if err := copyUnmarked(n, io.NewSectionReader(t.f, 0, t.fixed)); err != nil {
		return err
	}
	for _, it := range canonicalOrder(t.items) {
		if _, err := io.Copy(n, io.NewSectionReader(t.f, it.offset, it.size)); err != nil {
			return err
		}
	}
	return n.Flush()
}

// copyUnmarked copies what a tape held, without passed markers.
func copyUnmarked(w io.Writer, r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10)
	start := true // of a line
	for {
		part, err := br.ReadSlice('\n')
		if !start || string(part) != retired {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		start = bytes.HasSuffix(part, []byte("\n"))
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}
