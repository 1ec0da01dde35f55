package crowd

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// A Conn is a connection of a [Listener]. It is idle until it is said to be busy.
// A client that takes nothing of what is written for five minutes loses it.
type Conn struct {
	net.Conn
	crowd *Listener
	idle  atomic.Int64 // the move since which no request is under way, 0: one is
	asked atomic.Bool  // it was busy once
	born  int64        // how often others had waited when it came
	stuck *time.Timer

	awaits bool    // Await runs; of the crowd's lock
	first  [1]byte // what Await read
	ahead  bool    // it was not read on yet
}

// Busy says that a request is under way.
func (c *Conn) Busy() {
	c.idle.Store(0)
	c.asked.Store(true)
}

// Idle says that none is.
func (c *Conn) Idle() { c.idle.Store(c.crowd.moves.Add(1)) }

// Await waits until the client says something, which the next Read gets, and
// costs less than a Read with its buffer meanwhile. The connection is its
// listener's: closing that ends the waiting. The deadline is one of reading.
func (c *Conn) Await(deadline time.Time) error {
	if err := c.await(true); err != nil {
		return err
	}
	err := c.SetReadDeadline(deadline)
	if err == nil {
		_, err = c.Read(c.first[:])
	}
	if err != nil {
		return err
	}
	c.ahead = true
	return c.await(false)
}

// await begins and ends the waiting; net.ErrClosed when the connection or its
// listener was closed.
func (c *Conn) await(begin bool) error {
	l := c.crowd
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.members[c]; !ok || l.closed {
		return net.ErrClosed
	}
	c.awaits = begin
	if begin {
		l.waiting++
	} else {
		l.waiting--
	}
	l.count()
	return nil
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	if c.ahead && len(p) > 0 {
		c.ahead = false
		return copy(p, c.first[:]), nil
	}
	n, err := c.Conn.Read(p)
	if n > 0 && c.idle.Load() > 0 {
		c.Idle() // a request may be on its way
	}
	return n, err
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	c.stuck.Reset(stuckTimeout)
	defer c.stuck.Stop()
	return c.Conn.Write(p)
}

// giveUp ends a write that waits for its client.
func (c *Conn) giveUp() { _ = c.Conn.SetWriteDeadline(time.Unix(1, 0)) }

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.crowd.leave(c)
	c.stuck.Stop()
	return c.Conn.Close()
}

// NetConn is the connection below, as of a tls.Conn.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Of is the Conn that a connection stands on, nil for none. Connections between
// them tell what they stand on by a method NetConn.
func Of(c net.Conn) *Conn {
	for {
		if own, ok := c.(*Conn); ok {
			return own
		}
		over, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = over.NetConn()
	}
}

// NoteState keeps whether a request is under way on a connection of net/http, as
// its ConnState.
func NoteState(c net.Conn, state http.ConnState) {
	own := Of(c)
	switch {
	case own == nil:
	case state == http.StateActive:
		own.Busy()
	case state == http.StateIdle:
		own.Idle()
	}
}

// Rotate has the handler's answers over HTTP/1 end their connections while another
// one waits for room.
func (l *Listener) Rotate(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.Pressed() && r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}
