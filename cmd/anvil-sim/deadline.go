package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/anvil-sim/anvil/provider"
)

// A deadline gives a provider in process the deadline that a process has.
type deadline struct {
	provider.Provider
	timeout time.Duration
}

// Invoke implements provider.Provider.
func (d *deadline) Invoke(ctx context.Context, req *provider.Request) (*provider.Response, error) {
	limited := &lateContext{Context: ctx, timeout: d.timeout}
	resp, err := d.Provider.Invoke(limited, req)
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = &provider.TransportError{
			Code:    provider.UpstreamTimeout,
			Message: fmt.Sprintf("State provider did not answer %s within %d ms.", req.OperationID, d.timeout.Milliseconds()),
		}
	}
	limited.stop()
	return resp, err
}

// A lateContext is a context with a timeout whose timer starts when somebody
// first waits for it: most calls of a provider in process are over before
// anybody does, and a timer costs as much as such a call.
type lateContext struct {
	context.Context // what it is derived from
	timeout         time.Duration

	mu     sync.Mutex
	timed  context.Context // nil until it is waited for
	cancel context.CancelFunc
}

func (c *lateContext) start() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithTimeout(c.Context, c.timeout)
	}
	return c.timed
}

// Deadline implements context.Context.
func (c *lateContext) Deadline() (time.Time, bool) { return c.start().Deadline() }

// Done implements context.Context.
func (c *lateContext) Done() <-chan struct{} { return c.start().Done() }

// Value implements context.Context. The timer's context answers too, so that
// contexts derived from this one hang on it without a goroutine.
func (c *lateContext) Value(key any) any {
	c.mu.Lock()
	timed := c.timed
	c.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return c.Context.Value(key)
}

// Err implements context.Context.
func (c *lateContext) Err() error {
	c.mu.Lock()
	timed := c.timed
	c.mu.Unlock()
	if timed != nil {
		return timed.Err()
	}
	return c.Context.Err()
}

// stop ends the timer, and with it everything derived from the context.
func (c *lateContext) stop() {
	c.mu.Lock()
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
