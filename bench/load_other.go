//go:build !linux

package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// askAll asks on all connections for a while and counts the answers, one at least
// of each.
func askAll(ctx context.Context, clients []*client, until time.Time) error {
	errs := make([]error, len(clients))
	var all sync.WaitGroup
	for i, c := range clients {
		all.Go(func() {
			c.last = time.Now()
			for more := true; more && errs[i] == nil; more = c.last.Before(until) && ctx.Err() == nil {
				if errs[i] = c.send(); errs[i] == nil {
					errs[i] = c.count()
				}
			}
		})
	}
	all.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}
