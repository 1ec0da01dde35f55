package stdio

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/anvil-sim/anvil/provider"
)

// Close ends the provider: it sends `shutdown`, waits for the answer (at most
// 5 s, and no longer than a request may take), closes stdin, sends SIGTERM to the
// process group 2 s later and SIGKILL 2 s after that. A provider that answered is
// willing to end and may be short of time alone: it has 10 s instead. When Close
// returns, nothing of the process group is left. When ctx ends, SIGKILL comes at
// once.
//
// Calls that are still pending then fail with upstream_unavailable. Close of a
// provider that has ended already does nothing. The error says that the provider
// is still there all the same. Further calls wait for the first and return the
// same.
func (p *Process) Close(ctx context.Context) error {
	p.closeOnce.Do(func() { p.closeErr = p.shutDown(ctx) })
	return p.closeErr
}

// shutDown goes down the rungs. The specification: "Answer, then exit. Anvil
// closes stdin after the answer, and terminates a provider that is still running
// 2 seconds later."
func (p *Process) shutDown(ctx context.Context) error {
	if isClosed(p.done) {
		return nil
	}
	close(p.closing)
	p.conn.refuse()
	force := p.bounds.force
	if p.sendShutdown(ctx) {
		force = max(force, p.bounds.heeded)
	}
	p.stdin.Close()
	if p.gone(ctx, p.bounds.term) {
		return nil
	}
	if ctx.Err() == nil {
		signalGroup(p.cmd.Process, syscall.SIGTERM)
		if p.gone(ctx, force) {
			return nil
		}
	}
	signalGroup(p.cmd.Process, syscall.SIGKILL)
	close(p.forced)
	if p.gone(context.WithoutCancel(ctx), p.bounds.kill) {
		return nil
	}
	return fmt.Errorf("the state provider (process group %d) is still running %v after SIGKILL", p.cmd.Process.Pid, p.bounds.kill)
}

// sendShutdown waits for the answer or for the provider's exit. It reports whether
// there was an answer, whatever it is.
func (p *Process) sendShutdown(ctx context.Context) (answered bool) {
	ctx, cancel := context.WithTimeout(ctx, p.bounds.answer)
	defer cancel()
	go func() {
		select {
		case <-p.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	return p.conn.ask(ctx, provider.MethodShutdown, []byte("{}")).err == nil
}

// gone waits for the end of the provider, at most for d.
func (p *Process) gone(ctx context.Context, d time.Duration) bool {
	bound := time.NewTimer(d)
	defer bound.Stop()
	select {
	case <-p.done:
		return true
	case <-bound.C:
	case <-ctx.Done():
	}
	return isClosed(p.done)
}
