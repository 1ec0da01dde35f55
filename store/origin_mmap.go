//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"os"
	"syscall"
)

// mapHead maps the first bytes of a file, as SQLite maps the index of a log.
func mapHead(file string, size int) (head []byte, unmap func() error, err error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	head, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	// The file stays open as long as the connections: closing it would drop their
	// locks on it.
	return head, func() error { return errors.Join(syscall.Munmap(head), f.Close()) }, nil
}
