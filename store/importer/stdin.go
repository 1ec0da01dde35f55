package importer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// What [Options.Stdin] is called: as a path, and in every message.
const (
	stdinPath = "-"
	stdinName = "stdin"
)

// A spool is what came through [Options.Stdin], in a file: types are inferred
// before rows are taken, so everything is read twice.
type spool struct{ dir, path string }

// takeStdin puts [Options.Stdin] into a file where paths name it.
func takeStdin(paths []string, opts *Options) (s spool, files []string, err error) {
	files = append(files, paths...)
	for i, p := range files {
		switch {
		case p != stdinPath:
			continue
		case s.path != "":
			return s, nil, errors.New("- stands for stdin and is given twice")
		case opts.Stdin == nil:
			return s, nil, errors.New("- stands for stdin, and there is none to read")
		case opts.Format == "":
			return s, nil, fmt.Errorf("stdin has no name that says what it is; say it with --format %s", formatList)
		}
		if s.dir, err = os.MkdirTemp("", "anvil-import-"); err != nil {
			return s, nil, err
		}
		s.path = filepath.Join(s.dir, stdinName+"."+opts.Format)
		if err := copyTo(s.path, opts.Stdin); err != nil {
			return s, nil, s.rename(err)
		}
		files[i] = s.path
	}
	return s, files, nil
}

func copyTo(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// remove removes the file.
func (s spool) remove() error {
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// rename has an error call the file stdin.
func (s spool) rename(err error) error {
	var bad *BadRowsError
	switch {
	case err == nil || s.path == "":
		return err
	case errors.As(err, &bad):
		for i, r := range bad.Rows {
			bad.Rows[i] = s.shown(r)
		}
		return bad
	}
	return &stdinError{s, err}
}

func (s spool) shown(text string) string {
	if s.path == "" {
		return text
	}
	return strings.ReplaceAll(text, s.path, stdinName)
}

// A stdinError is an error about stdin, which its own text calls by the file's
// name.
type stdinError struct {
	spool spool
	err   error
}

// Error implements error.
func (e *stdinError) Error() string { return e.spool.shown(e.err.Error()) }

// Unwrap returns the error.
func (e *stdinError) Unwrap() error { return e.err }
