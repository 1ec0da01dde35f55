package main

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// askAll asks on all connections for a while and counts the answers, one at least
// of each. One thread waits for whichever connection is answered next, as load
// generators written in C do. A goroutine for each reads in vain before it waits,
// and the processor time of the clients is the same on both sides of a ratio: the
// more of it, the more alike two servers look.
func askAll(ctx context.Context, clients []*client, until time.Time) error {
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	defer syscall.Close(poll)
	files := make([]*os.File, len(clients))
	for i, c := range clients {
		if files[i], err = blocking(c.conn); err != nil {
			return err
		}
		defer files[i].Close() // after an error
		if err := c.begin(poll, i, files[i]); err != nil {
			return err
		}
	}
	ready := make([]syscall.EpollEvent, len(clients))
	for open := len(clients); open > 0; {
		n, err := next(ctx, poll, ready)
		if err != nil {
			return err
		}
		for _, e := range ready[:n] {
			c := clients[e.Fd]
			if err = c.count(); err == nil && c.last.Before(until) {
				err = c.send()
			} else if err == nil {
				open--
				err = files[e.Fd].Close()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// begin asks once on the client's connection, whose answers poll then tells by i.
func (c *client) begin(poll, i int, conn *os.File) error {
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(i)}
	if err := syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, int(conn.Fd()), &event); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	c.in.Reset(conn)
	c.out = conn
	c.last = time.Now()
	return c.send()
}

// next waits for answers, and for the end of ctx.
func next(ctx context.Context, poll int, ready []syscall.EpollEvent) (int, error) {
	const patience = 100 // milliseconds, then ctx is looked at
	for {
		n, err := syscall.EpollWait(poll, ready, patience)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil && !errors.Is(err, syscall.EINTR):
			return 0, os.NewSyscallError("epoll_wait", err)
		case n > 0:
			return n, nil
		}
	}
}

// blocking is a connection as a file whose reads wait in the system, out of
// sight of Go's own poller. The connection is closed.
func blocking(conn net.Conn) (*os.File, error) {
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var failed error
	err = raw.Control(func(s uintptr) {
		if fd, failed = syscall.Dup(int(s)); failed == nil {
			syscall.CloseOnExec(fd)
			failed = syscall.SetNonblock(fd, false)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "connection"), conn.Close()
}
