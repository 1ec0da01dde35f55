//go:build unix && !aix && !solaris

package vcr

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock of an open file: it ends with the file, a kill leaves none.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return nil // another error says that there are no locks here
}
