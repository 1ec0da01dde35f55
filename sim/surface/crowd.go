package surface

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A crowd is a listener that knows its connections. Where more would be open than
// it may have, those go first on which no request is under way, the longest idle
// before others: clients that connect and say nothing keep nobody out. Where a
// request is under way on all of them, a new one waits.
type crowd struct {
	net.Listener
	most int    // 0: any number
	tell func() // called once, when the first connection had to make room

	moves atomic.Int64 // orders the moments at which connections became idle
	short int64        // the move at which files were last short; of Accept alone
	done  chan struct{}
	close func() error

	mu      sync.Mutex
	members map[*member]struct{}
}

// roomWait is how long a new connection waits before it looks for room, and how
// long one must be idle before it makes some.
const roomWait = 50 * time.Millisecond

// share is which part of a full crowd makes room at once, for connections to come.
const share = 16

func newCrowd(l net.Listener, most int, tell func()) *crowd {
	c := &crowd{Listener: l, most: most, tell: sync.OnceFunc(tell), done: make(chan struct{}), members: map[*member]struct{}{}}
	c.close = sync.OnceValue(func() error {
		close(c.done)
		return l.Close()
	})
	return c
}

// Close implements net.Listener.
func (c *crowd) Close() error { return c.close() }

// Accept implements net.Listener.
func (c *crowd) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			c.makeRoom(c.short) // net/http tries again, at most every second
			c.short = c.moves.Load()
		}
		return nil, err
	}
	for c.full() {
		// What came just now may have sent a request that was not read yet.
		before := c.moves.Load()
		if !c.pause() {
			_ = conn.Close()
			return nil, net.ErrClosed
		}
		c.makeRoom(before)
	}
	return c.enter(conn), nil
}

// pause waits a little; false when the listener was closed.
func (c *crowd) pause() bool {
	t := time.NewTimer(roomWait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.done:
		return false
	}
}

func (c *crowd) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most > 0 && len(c.members) >= c.most
}

// makeRoom closes the connections that are idle for longest, of those that were
// idle before a move.
func (c *crowd) makeRoom(before int64) {
	type idler struct {
		*member
		since int64
	}
	var idle []idler
	c.mu.Lock()
	for m := range c.members {
		if since := m.idle.Load(); since > 0 && since <= before {
			idle = append(idle, idler{m, since})
		}
	}
	most := max(len(c.members)/share, 1)
	c.mu.Unlock()
	slices.SortFunc(idle, func(a, b idler) int { return cmp.Compare(a.since, b.since) })
	for _, m := range idle[:min(len(idle), most)] {
		_ = m.Close() // net/http, which reads it, sees its end
	}
	if len(idle) > 0 {
		c.tell()
	}
}

func (c *crowd) enter(conn net.Conn) net.Conn {
	m := &member{Conn: conn, crowd: c}
	m.stuck = time.AfterFunc(stuckTimeout, m.giveUp)
	m.stuck.Stop()
	m.idle.Store(c.moves.Add(1))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members[m] = struct{}{}
	return m
}

// A member is a connection of a crowd. A client that takes nothing of what is
// written for too long loses it.
type member struct {
	net.Conn
	crowd *crowd
	idle  atomic.Int64 // the move since which no request is under way, 0: one is
	stuck *time.Timer
}

// Write implements net.Conn.
func (m *member) Write(p []byte) (int, error) {
	m.stuck.Reset(stuckTimeout)
	defer m.stuck.Stop()
	return m.Conn.Write(p)
}

// giveUp ends a write that waits for its client.
func (m *member) giveUp() { _ = m.Conn.SetWriteDeadline(time.Unix(1, 0)) }

// Close implements net.Conn.
func (m *member) Close() error {
	m.crowd.mu.Lock()
	delete(m.crowd.members, m)
	m.crowd.mu.Unlock()
	m.stuck.Stop()
	return m.Conn.Close()
}

// noteState keeps what is known of a connection: whether a request is under way,
// and where the next one begins. It is a ConnState of net/http.
func noteState(c net.Conn, state http.ConnState) {
	follow(c, state)
	m := memberOf(c)
	switch {
	case m == nil:
	case state == http.StateActive:
		m.idle.Store(0)
	case state == http.StateIdle:
		m.idle.Store(m.crowd.moves.Add(1))
	}
}

// memberOf is the member that a connection of net/http reads from.
func memberOf(c net.Conn) *member {
	if t, ok := c.(*targetConn); ok {
		c = t.Conn
	}
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	m, _ := c.(*member)
	return m
}
