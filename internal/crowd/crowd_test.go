package crowd

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A scarce listener has no files for a number of attempts.
type scarce struct {
	net.Listener
	mu   sync.Mutex
	fail int
	with error
}

func (s *scarce) Accept() (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail > 0 {
		s.fail--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: s.with}
	}
	return s.Listener.Accept()
}

// A stage is a crowd on a socket with what it accepted.
type stage struct {
	*Listener
	t        *testing.T
	accepted chan *Conn
	said     chan string
	left     chan struct{}
	ended    chan error
}

func begin(t *testing.T, most int, below func(net.Listener) net.Listener) *stage {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if below != nil {
		l = below(l)
	}
	s := &stage{t: t, accepted: make(chan *Conn, 1000), said: make(chan string, 1000), left: make(chan struct{}, 1000), ended: make(chan error, 1)}
	s.Listener = Listen(l, &Options{Most: most, Say: func(text string) { s.said <- text }, Left: func() { s.left <- struct{}{} }})
	go func() {
		for {
			c, err := s.Accept()
			if err != nil {
				s.ended <- err
				return
			}
			s.accepted <- c.(*Conn)
		}
	}()
	t.Cleanup(func() {
		s.Close()
		if err := <-s.ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept: %v, want %v", err, net.ErrClosed)
		}
	})
	return s
}

func (s *stage) dial() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// ends reports whether a connection was closed by the other side.
func ends(t *testing.T, c net.Conn) bool {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := c.Read(make([]byte, 1))
	var ne net.Error
	return !errors.As(err, &ne) || !ne.Timeout()
}

// Want of files is waited out, and told once however often accepting fails.
func TestWantOfFiles(t *testing.T) {
	for _, with := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		s := begin(t, 0, func(l net.Listener) net.Listener { return &scarce{Listener: l, fail: 3, with: with} })
		s.dial()
		<-s.accepted
		if text := <-s.said; len(s.said) > 0 || text == "" {
			t.Errorf("%v: %d sentences, the first %q; want one", with, len(s.said)+1, text)
		}
	}
	s := begin(t, 0, func(l net.Listener) net.Listener { return &scarce{Listener: l, fail: 1, with: syscall.EINVAL} })
	if err := <-s.ended; !errors.Is(err, syscall.EINVAL) {
		t.Errorf("another error: %v, want %v", err, syscall.EINVAL)
	}
	s.ended <- net.ErrClosed
}

// The oldest idle connection makes room; one that is busy stays, and so does one
// whose words nobody has read yet.
func TestWhoMakesRoom(t *testing.T) {
	s := begin(t, 3, nil)
	busy, spoke, silent := s.dial(), (net.Conn)(nil), (net.Conn)(nil)
	(<-s.accepted).Busy()
	spoke = s.dial()
	if _, err := io.WriteString(spoke, "unread"); err != nil {
		t.Fatal(err)
	}
	<-s.accepted
	silent = s.dial()
	<-s.accepted
	s.dial()
	<-s.accepted
	if !ends(t, silent) || ends(t, spoke) || ends(t, busy) {
		t.Error("of a busy, a speaking and a silent connection not just the last one was closed")
	}
	if len(s.said) != 1 || s.Pressed() {
		t.Errorf("%d sentences, want one; pressed: %v, want false", len(s.said), s.Pressed())
	}
}

// Where no connection is idle a new one waits, and enters when one ends.
func TestNewOnesWait(t *testing.T) {
	s := begin(t, 1, nil)
	s.dial()
	first := <-s.accepted
	first.Busy()
	s.dial()
	<-s.said
	if !s.Pressed() || len(s.accepted) > 0 {
		t.Error("a connection entered a full crowd, or is not known to wait")
	}
	first.Close()
	<-s.accepted
}

// Await keeps what the client says for the next Read, and ends with its listener.
func TestAwait(t *testing.T) {
	s := begin(t, 0, nil)
	client := s.dial()
	c := <-s.accepted
	if _, err := io.WriteString(client, "word"); err != nil {
		t.Fatal(err)
	}
	if err := c.Await(time.Time{}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "word" {
		t.Errorf("read %q, %v; want %q", got, err, "word")
	}
	awaited := make(chan error, 1)
	go func() { awaited <- c.Await(time.Time{}) }()
	s.Close()
	if err := <-awaited; err == nil {
		t.Error("Await outlives its listener")
	}
	if err := c.Await(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Await after Close: %v, want %v", err, net.ErrClosed)
	}
}

// A crowd has left when a quarter of it is left, or when so many await.
func TestCrowdLeaves(t *testing.T) {
	s := begin(t, 0, nil)
	conns := make([]*Conn, many)
	for i := range conns {
		s.dial()
		conns[i] = <-s.accepted
	}
	for _, c := range conns[:many/4*3] {
		go func() { _ = c.Await(time.Time{}) }()
	}
	<-s.left // those that ask
	for _, c := range conns[:many/4*3] {
		c.Close()
	}
	<-s.left // those that are open
	for _, c := range conns {
		c.Close()
	}
	if len(s.left) > 0 {
		t.Error("few connections are taken for a crowd")
	}
}
