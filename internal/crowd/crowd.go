// Package crowd bounds the connections of a server. Its [Listener] knows its
// connections: where no more may be open, or can be, the ones that are idle for
// longest make room, so clients that connect and say nothing keep nobody out, and
// new ones wait until there is room. Want of files ends no server.
package crowd

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Options change how a [Listener] works; the zero value is ready to use.
type Options struct {
	// Most is how many connections may be open, beside one that was accepted and
	// waits; 0 is any number.
	Most int
	// Say is told, in a sentence, that connections begin to make room or to wait: once
	// for the bound, and once for want of files. It must not block. Nil: nobody is told.
	Say func(text string)
	// Left is called, in a goroutine of its own, when of many connections (64 at
	// least) no more than a quarter are left, or do not [Conn.Await]. Nil: nobody is.
	Left func()
}

const (
	// roomWait is how long a new connection waits before it looks for room, how long
	// one must be idle before it makes some, and the time between two attempts to
	// accept while there are no files.
	roomWait = 50 * time.Millisecond
	// share is which part of a full crowd makes room at once, at least a few, for
	// connections to come.
	share, few = 16, 4
	// stuckTimeout is how long a client may take nothing of what is written.
	stuckTimeout = 5 * time.Minute
	// patience is how often a new connection must have waited for room until one makes
	// some that has not asked for anything since it was opened.
	patience = 10
	// many is how many connections are a crowd, for Options.Left.
	many = 64
)

// A Listener is a net.Listener whose connections, each a [Conn], are bounded.
// Accept is for one goroutine at a time.
type Listener struct {
	net.Listener
	opts Options

	moves   atomic.Int64 // orders the moments at which connections became idle
	waits   atomic.Int64 // how often a new one has waited for roomWait
	want    sync.Once    // that there are no files was said
	bound   sync.Once    // that there are too many was said
	pressed atomic.Bool  // a connection waits for room
	done    chan struct{}
	freed   chan struct{} // gets something when a connection ended while another waited
	close   func() error

	mu      sync.Mutex
	members map[*Conn]struct{}
	waiting int // of them those that await
	open    tide
	active  tide // of those that do not await
	closed  bool
}

// Listen bounds the connections of l, which the listener closes; nil options are
// the zero value.
func Listen(l net.Listener, opts *Options) *Listener {
	c := &Listener{Listener: l, done: make(chan struct{}), freed: make(chan struct{}, 1), members: map[*Conn]struct{}{}}
	if opts != nil {
		c.opts = *opts
	}
	c.close = sync.OnceValue(func() error {
		close(c.done)
		err := l.Close()
		c.mu.Lock()
		c.closed = true
		var await []*Conn
		for m := range c.members {
			if m.awaits {
				await = append(await, m)
			}
		}
		c.mu.Unlock()
		for _, m := range await {
			_ = m.Close()
		}
		return err
	})
	return c
}

// Close implements net.Listener. Connections that [Conn.Await] are closed, since
// nobody else knows them.
func (l *Listener) Close() error { return l.close() }

// Pressed reports whether a new connection waits for room. A server then does well
// to close connections that it has answered.
func (l *Listener) Pressed() bool { return l.pressed.Load() }

// Accept implements net.Listener. An error is final: want of files is waited out.
func (l *Listener) Accept() (net.Conn, error) {
	defer l.pressed.Store(false)
	conn, err := l.Listener.Accept()
	for err != nil && isWant(err) {
		l.say(&l.want, "no new connection can be opened (%v): from now on those that are idle for longest make room, and new ones wait", cause(err))
		if !l.await() {
			return nil, net.ErrClosed
		}
		conn, err = l.Listener.Accept()
	}
	if err != nil {
		return nil, err
	}
	for l.full() {
		l.say(&l.bound, "%d connections are open, as many as may be: from now on those that are idle for longest make room, and new ones wait", l.opts.Most)
		if !l.await() {
			_ = conn.Close()
			return nil, net.ErrClosed
		}
	}
	return l.enter(conn), nil
}

// isWant reports whether an error of accepting passes by itself: no files, no
// memory, or a client that left before its turn.
func isWant(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary() || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ECONNABORTED)
}

// cause is an error without the addresses of a connection.
func cause(err error) error {
	var code syscall.Errno
	if errors.As(err, &code) {
		return code
	}
	return err
}

// say notes that a connection waits, and tells so once.
func (l *Listener) say(first *sync.Once, format string, arg any) {
	l.pressed.Store(true)
	first.Do(func() {
		if l.opts.Say != nil {
			l.opts.Say(fmt.Sprintf(format, arg))
		}
	})
}

// await waits until a connection ends, or a little, and then makes room; false when
// the listener was closed.
func (l *Listener) await() bool {
	before := l.moves.Load() // what came just now is about to ask
	t := time.NewTimer(roomWait)
	defer t.Stop()
	select {
	case <-t.C:
		l.waits.Add(1)
		l.makeRoom(before)
		return true
	case <-l.freed:
		return true
	case <-l.done:
		return false
	}
}

func (l *Listener) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opts.Most > 0 && len(l.members) >= l.opts.Most
}

// makeRoom closes the connections that are idle for longest, of those that were
// idle before a move and have said nothing that was not read. A client that has just
// connected is about to ask, and gets more time.
func (l *Listener) makeRoom(before int64) {
	type idler struct {
		conn  *Conn
		since int64
	}
	var idle []idler
	l.mu.Lock()
	for m := range l.members {
		if since := m.idle.Load(); since > 0 && since <= before && (m.asked.Load() || l.waits.Load()-m.born >= patience) {
			idle = append(idle, idler{m, since})
		}
	}
	most := max(len(l.members)/share, few)
	l.mu.Unlock()
	slices.SortFunc(idle, func(a, b idler) int { return cmp.Compare(a.since, b.since) })
	for _, m := range idle {
		if most == 0 {
			return
		}
		if !unread(m.conn.Conn) {
			_ = m.conn.Close() // who reads it sees its end
			most--
		}
	}
}

func (l *Listener) enter(conn net.Conn) *Conn {
	m := &Conn{Conn: conn, crowd: l, born: l.waits.Load()}
	m.stuck = time.AfterFunc(stuckTimeout, m.giveUp)
	m.stuck.Stop()
	m.idle.Store(l.moves.Add(1))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.members[m] = struct{}{}
	l.count()
	return m
}

// count looks whether most of a crowd has left; of a caller that holds the lock.
func (l *Listener) count() {
	all := l.open.falls(len(l.members))
	if active := l.active.falls(len(l.members) - l.waiting); (all || active) && l.opts.Left != nil {
		go l.opts.Left()
	}
}

// A tide is the highest of some numbers since they fell to a quarter of it.
type tide struct{ high int }

// falls takes the next number, and reports whether it is a quarter of many.
func (t *tide) falls(now int) bool {
	if t.high >= many && now <= t.high/4 {
		t.high = now
		return true
	}
	t.high = max(t.high, now)
	return false
}

func (l *Listener) leave(m *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.members[m]; !ok {
		return
	}
	delete(l.members, m)
	if m.awaits {
		l.waiting--
	}
	l.count()
	if l.pressed.Load() {
		select {
		case l.freed <- struct{}{}:
		default:
		}
	}
}
