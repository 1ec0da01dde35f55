package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Text is an error as people read it: what the system says about a path in its own
// words ("open a.yaml: no such file or directory") is said in this project's. It is
// the one home of that wording; whoever prints an error that was not handed to
// [Main] or [Report] prints its Text.
func Text(err error) string {
	text := strings.TrimRight(err.Error(), "\n")
	for _, e := range pathErrors(err, nil) {
		if own := pathText(e); own != "" {
			text = strings.ReplaceAll(text, e.Error(), own)
		}
	}
	return text
}

// pathErrors collects the errors about a path that an error wraps.
func pathErrors(err error, found []*fs.PathError) []*fs.PathError {
	if e, ok := err.(*fs.PathError); ok {
		return append(found, e)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			found = pathErrors(inner, found)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			found = pathErrors(inner, found)
		}
	}
	return found
}

// pathText says what is wrong with a path, "" where the system says it well enough:
// of a disk, a pipe, a closed file.
func pathText(e *fs.PathError) string {
	switch {
	case errors.Is(e.Err, syscall.ENOTDIR), e.Err.Error() == syscall.ENOTDIR.Error(): // os.OpenRoot has an error of its own
		if _, err := os.Stat(e.Path); err == nil {
			return e.Path + " is a file, want a folder"
		}
		return fmt.Sprintf("%s cannot be there: a part of its path is a file, not a folder", e.Path)
	case errors.Is(e.Err, fs.ErrNotExist):
		if dir := filepath.Dir(e.Path); missing(dir) {
			return fmt.Sprintf("%s does not exist, nor does the folder %s", e.Path, dir)
		}
		return e.Path + " does not exist"
	case errors.Is(e.Err, syscall.EISDIR):
		return e.Path + " is a folder, want a file"
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("%s may not be used by this user (%s)", e.Path, e.Err)
	case errors.Is(e.Err, syscall.ELOOP):
		return e.Path + " is a symbolic link that leads to itself"
	}
	return ""
}

func missing(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}
