//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dbfile

import (
	"io/fs"
	"os"
	"syscall"
)

// hold locks a folder until the file that it returns is closed, or the process
// ends. errHeld says that another holds it or has removed it.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if os.IsNotExist(err) {
		return nil, errHeld
	}
	if err != nil {
		return nil, err
	}
	switch err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
	case nil:
	case syscall.EWOULDBLOCK:
		err = errHeld
	}
	if err == nil && !stands(f, path) {
		err = errHeld
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// stands tells whether the folder that was locked is still the one of the name.
func stands(f *os.File, path string) bool {
	now, err := os.Lstat(path)
	if err != nil {
		return false
	}
	held, err := f.Stat()
	return err == nil && os.SameFile(now, held)
}

// ours tells whether a folder belongs to this process's user.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
