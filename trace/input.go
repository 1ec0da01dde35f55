package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// An Input is a trace to read: the file Name, or Reader under that name when it
// is not nil. Gzip and zstd are told by their content, not by a name.
type Input struct {
	Name   string
	Reader io.Reader
}

// A source is an opened input that can be read from any offset, and twice:
// comparing looks for the runs first.
type source struct {
	name  string
	r     io.ReaderAt
	size  int64
	close func() error
}

// inMemory is the longest stream that is held in memory, in bytes.
const inMemory = 32 << 20

func openSource(in Input, memory int64) (*source, error) {
	if in.Reader != nil {
		return spool(in.Name, in.Reader, memory)
	}
	f, err := os.Open(in.Name)
	if err != nil {
		return nil, openInputError(in.Name, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, errors.Join(&InputError{Name: in.Name, Msg: "cannot be read", Err: err}, f.Close())
	case info.IsDir():
		f.Close()
		return nil, &InputError{Name: in.Name, Msg: "is a folder, want a trace file", Next: "name the .jsonl file that --trace wrote"}
	case !info.Mode().IsRegular():
		defer f.Close()
		return spool(in.Name, f, memory)
	}
	var magic [4]byte
	if n, _ := f.ReadAt(magic[:], 0); compression(magic[:n]) != "" {
		defer f.Close()
		return spool(in.Name, f, memory)
	}
	return &source{name: in.Name, r: f, size: info.Size(), close: f.Close}, nil
}

func openInputError(name string, err error) error {
	e := &InputError{Name: name, Msg: "cannot be opened", Err: err}
	var path *fs.PathError
	if errors.As(err, &path) {
		e.Err = path.Err // the path is said already
	}
	if errors.Is(err, fs.ErrNotExist) {
		e.Msg, e.Next = "the trace file does not exist", "record one with 'anvil-sim serve --trace "+name+"', or check the path"
		e.Err = nil
	}
	return e
}

func compression(magic []byte) string {
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	}
	return ""
}

// spool reads a stream, decompressed, to where it can be read twice: so many
// bytes to memory, more to a temporary file.
func spool(name string, r io.Reader, memory int64) (*source, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	magic, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return nil, &InputError{Name: name, Msg: "cannot be read", Err: err}
	}
	kind := compression(magic)
	in, closeIn, err := decompress(kind, br)
	if err != nil {
		return nil, &InputError{Name: name, Msg: "is not whole " + kind, Err: err}
	}
	defer closeIn()
	var head bytes.Buffer
	if _, err := io.CopyN(&head, in, memory); err != nil && err != io.EOF {
		return nil, streamError(name, kind, int64(head.Len()), err)
	} else if err == io.EOF {
		return &source{name: name, r: bytes.NewReader(head.Bytes()), size: int64(head.Len()), close: func() error { return nil }}, nil
	}
	return spoolFile(name, kind, &head, in)
}

func decompress(kind string, r io.Reader) (io.Reader, func(), error) {
	switch kind {
	case "gzip":
		z, err := gzip.NewReader(r)
		return z, func() {}, err
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return r, func() {}, nil
}

func streamError(name, kind string, offset int64, err error) error {
	e := &InputError{Name: name, Offset: offset, Msg: fmt.Sprintf("cannot be read beyond byte %d", offset), Err: err}
	if kind != "" {
		e.Msg = fmt.Sprintf("the %s stream is cut or damaged after %d bytes of trace", kind, offset)
		e.Next = "compress the trace again from the original"
	}
	return e
}

func spoolFile(name, kind string, head *bytes.Buffer, rest io.Reader) (*source, error) {
	f, err := os.CreateTemp("", "anvil-trace-*")
	if err != nil {
		return nil, &InputError{Name: name, Msg: "needs a temporary file", Err: err, Next: "set TMPDIR to a folder with room for the whole trace"}
	}
	path := f.Name()
	os.Remove(path) // where an open file can be removed, nothing is left behind even by a kill
	s := &source{name: name, r: f, close: func() error {
		err := f.Close()
		os.Remove(path)
		return err
	}}
	src := &readError{r: rest}
	s.size, err = io.Copy(f, io.MultiReader(head, src))
	switch {
	case src.err != nil:
		err = streamError(name, kind, s.size, src.err)
	case err != nil:
		err = &InputError{Name: name, Msg: "its temporary copy cannot be written", Err: err, Next: "set TMPDIR to a folder with room for the whole trace"}
	default:
		return s, nil
	}
	return nil, errors.Join(err, s.close())
}

// readError remembers an error of the reading side of a copy.
type readError struct {
	r   io.Reader
	err error
}

func (r *readError) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}
