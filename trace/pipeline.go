package trace

import (
	"context"
	"errors"
	"sync"
)

// A pipeline lets workers take turns at pieces of work and collects what became
// of them in the order in which they were made.
type pipeline[B any] struct {
	workers int
	worker  func() func(B) error // for one goroutine
	collect func(B) error
}

type piece[B any] struct {
	b    B
	err  error
	done chan struct{}
}

// run ends with the first error in the order of the pieces, or produce's own.
func (p *pipeline[B]) run(ctx context.Context, produce func(emit func(B) error) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs, order := make(chan *piece[B]), make(chan *piece[B], 2*p.workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(jobs)
	for range p.workers {
		wg.Go(func() {
			work := p.worker()
			for j := range jobs {
				j.err = work(j.b)
				close(j.done)
			}
		})
	}
	collected := make(chan error, 1)
	go func() { collected <- p.gather(ctx, cancel, order) }()
	err := produce(func(b B) error {
		j := &piece[B]{b: b, done: make(chan struct{})}
		for _, ch := range []chan<- *piece[B]{order, jobs} {
			select {
			case ch <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	close(order)
	return firstCause(<-collected, err)
}

func (p *pipeline[B]) gather(ctx context.Context, cancel func(), order <-chan *piece[B]) error {
	for j := range order {
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := j.err
		if err == nil {
			err = p.collect(j.b)
		}
		if err != nil {
			cancel()
			return err
		}
	}
	return nil
}

// firstCause prefers what a worker found to the end of work it brought about.
func firstCause(found, producing error) error {
	if found != nil && !errors.Is(found, context.Canceled) {
		return found
	}
	if producing != nil {
		return producing
	}
	return found
}
