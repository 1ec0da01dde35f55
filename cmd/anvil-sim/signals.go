package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSecondSignal is a context that ends with the second signal that ends
// programs. The first one ends ctx; what is cleaned up then is given the time
// it needs until somebody asks again.
func untilSecondSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer signal.Stop(signals)
		for range 2 {
			select {
			case <-signals:
			case <-hard.Done():
				return
			}
		}
		cancel()
	}()
	return hard, cancel
}
