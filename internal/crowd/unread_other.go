//go:build !unix

package crowd

import "net"

// unread is false: the system does not tell.
func unread(net.Conn) bool { return false }
