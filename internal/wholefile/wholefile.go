// Package wholefile makes files that appear whole or not at all: they are
// written under another name beside their place, brought to the disk and
// renamed.
package wholefile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Write makes one file from what fill writes, whole or not at all.
func Write(path string, fill func(w io.Writer) error) error {
	var s Set
	return s.Write(path, fill)
}

// Write makes the one file of an empty set from what fill writes. When fill or anything else fails, a file that was there before stays
// as it was. What exists and is no regular file, such as a pipe, is written to
// directly.
func (s *Set) Write(path string, fill func(w io.Writer) error) error {
	defer s.Abort()
	f, err := s.Create(path)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		return err
	}
	return s.Commit()
}

// A Set is some files that appear together: all of them have been written
// before the first one gets its name. The zero value is empty. A Set is for one
// goroutine, but for Remove.
type Set struct {
	mu    sync.Mutex // of files and their temp
	files []*File
}

// A File is one file being made. Writes to it are buffered.
type File struct {
	path   string // where it goes
	temp   string // where it is, "" when it is written directly or done
	direct bool
	file   *os.File
	buf    *bufio.Writer
	closed bool
	err    error
}

// Create begins the file path. Its folder must exist.
func (s *Set) Create(path string) (*File, error) {
	s.mu.Lock() // from here on: Remove misses nothing
	defer s.mu.Unlock()
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	f.buf = bufio.NewWriterSize(f.file, 256<<10)
	s.files = append(s.files, f)
	return f, nil
}

func create(path string) (*File, error) {
	target, mode := path, fs.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real // a link stays a link
	}
	if info, err := os.Stat(target); err == nil {
		if mode = info.Mode().Perm(); info.IsDir() {
			return nil, fmt.Errorf("%s: it is a folder; name a file in it", path)
		}
		if !info.Mode().IsRegular() {
			file, err := os.OpenFile(target, os.O_WRONLY, 0)
			return &File{path: target, file: file, direct: true}, err
		}
	}
	dir, name := filepath.Split(target)
	for n := range 100 {
		temp := filepath.Join(dir, fmt.Sprintf(".%s.%d-%d.tmp", name, os.Getpid(), n))
		file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		switch {
		case err == nil:
			return &File{path: target, temp: temp, file: file}, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: the folder %s does not exist; create it or name another file", path, filepath.Clean(dir))
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("%s: it cannot be made: %w", path, err)
		}
	}
	return nil, fmt.Errorf("%s: its folder is full of unfinished files .%s.*.tmp; remove them", path, name)
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) { return f.buf.Write(p) }

// Close writes out what is buffered and brings the file to the disk; it gets
// its name with Commit. Closing again does nothing.
func (f *File) Close() error {
	if f.closed {
		return f.err
	}
	f.closed = true
	err := f.buf.Flush()
	if !f.direct && err == nil {
		err = f.file.Sync()
	}
	if err = errors.Join(err, f.file.Close()); err != nil {
		f.err = fmt.Errorf("%s: it cannot be written: %w", f.path, err)
	}
	return f.err
}

// Commit closes all files and gives them their names, in the order in which they
// were begun. After an error none that has no name yet gets one.
func (s *Set) Commit() error {
	for _, f := range s.files {
		if err := f.Close(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.temp == "" {
			continue
		}
		if err := os.Rename(f.temp, f.path); err != nil {
			return fmt.Errorf("%s: it cannot be put in its place: %w", f.path, err)
		}
		f.temp = ""
		syncDir(filepath.Dir(f.path))
	}
	return nil
}

// syncDir makes the rename last. Not every system can; the file is whole in any case.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// Abort removes what has not been committed. After Commit it does nothing.
func (s *Set) Abort() {
	for _, f := range s.files {
		if !f.closed {
			f.closed = true
			f.file.Close()
		}
	}
	s.Remove()
}

// Remove removes what has not been committed while the owner of the set may still
// be writing, for a process that is about to end.
func (s *Set) Remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.temp != "" {
			os.Remove(f.temp)
			f.temp = ""
		}
	}
}
