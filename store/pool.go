package store

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// errClosed answers calls after Close.
var errClosed = errors.New("the fixture database is closed")

// A pool holds the connections of one private copy: some that read, one that
// writes. All are opened at once, so that the copy's files can be unlinked while
// they are in use: nothing is left behind, however the process ends.
type pool struct {
	readers chan *conn
	writer  chan *conn
	done    chan struct{}
	once    sync.Once
	size    int     // readers
	origin  *origin // nil where the copy cannot go back to it
}

// readerCount is how many calls read at once: some more than can run, so that a
// thread that the system stops while it reads holds up nobody.
func readerCount() int { return min(max(runtime.GOMAXPROCS(0)+3, 5), 8) }

func newPool(writer *conn, readers []*conn) *pool {
	p := &pool{
		readers: make(chan *conn, len(readers)),
		writer:  make(chan *conn, 1),
		done:    make(chan struct{}),
		size:    len(readers),
	}
	writer.pool = p
	p.writer <- writer
	for _, r := range readers {
		r.pool = p
		p.readers <- r
	}
	return p
}

// take waits for a free connection of one kind.
func (p *pool) take(ctx context.Context, from chan *conn) (*conn, error) {
	select {
	case <-p.done:
		return nil, errClosed
	default:
	}
	select {
	case c := <-from: // without a look at ctx, which costs where it was never asked
		return c, nil
	default:
	}
	select {
	case c := <-from:
		return c, nil
	case <-p.done:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hold takes every connection, the writer first, so that no call runs. The
// function that it returns gives them back.
func (p *pool) hold(ctx context.Context) (held []*conn, release func(), err error) {
	release = func() {
		for i, c := range held {
			if i == 0 {
				p.writer <- c
			} else {
				p.readers <- c
			}
		}
	}
	c, err := p.take(ctx, p.writer)
	for err == nil {
		held = append(held, c)
		if len(held) == 1+p.size {
			return held, release, nil
		}
		c, err = p.take(ctx, p.readers)
	}
	release()
	return nil, nil, err
}

// close waits for running calls until ctx ends, then closes the connections.
// A second close does nothing.
func (p *pool) close(ctx context.Context) (err error) {
	p.once.Do(func() {
		close(p.done)
		for range p.size {
			err = errors.Join(err, closeNext(ctx, p.readers))
		}
		err = errors.Join(err, closeNext(ctx, p.writer), p.origin.close())
	})
	return err
}

func closeNext(ctx context.Context, from chan *conn) error {
	select {
	case c := <-from:
		return c.close()
	case <-ctx.Done():
		return ctx.Err()
	}
}
