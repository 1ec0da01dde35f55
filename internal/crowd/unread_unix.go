//go:build unix

package crowd

import (
	"net"
	"syscall"
)

// unread reports whether a connection holds something that nobody has read.
func unread(c net.Conn) bool {
	own, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := own.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	err = raw.Control(func(fd uintptr) {
		n, _, _ = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK) // Go's sockets do not block
	})
	return err == nil && n > 0
}
