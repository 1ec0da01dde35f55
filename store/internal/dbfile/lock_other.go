//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package dbfile

import (
	"errors"
	"io/fs"
	"os"
)

func hold(string) (*os.File, error) {
	return nil, errors.New("folders cannot be locked on this system")
}

func ours(fs.FileInfo) bool { return false }
