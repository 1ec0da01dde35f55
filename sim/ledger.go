package sim

import (
	"crypto/sha256"
	"sync"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A replayKey identifies a keyed call: tool, input, principal, tenant and key.
type replayKey [sha256.Size]byte

// replayKeyOf hashes what a replay is keyed by. Inputs are equal as values:
// key order and number spelling do not make a new call.
func replayKeyOf(c *Call, principal string) replayKey {
	dst := make([]byte, 0, 512)
	for _, part := range []string{c.Op.ToolName, principal, c.TenantID, c.IdempotencyKey} {
		dst = canon.AppendString(dst, part)
	}
	members := make([]canon.Member, 0, len(c.Input))
	for _, a := range c.Input {
		v, err := canon.Parse(a.Value, canon.Lenient)
		if err != nil {
			panic("sim: an input value is not canonical JSON: " + err.Error())
		}
		members = append(members, canon.Member{Key: a.Key, Value: v})
	}
	return sha256.Sum256(canon.AppendIdentity(dst, canon.NewObject(members...)))
}

// A ledger remembers the answers of keyed mutations, failures too.
type ledger struct {
	mu      sync.Mutex
	entries map[replayKey]*pending
}

// A pending is a keyed call that is being answered or was.
type pending struct {
	done   chan struct{} // closed when the call has ended
	result *Result       // set before done is closed; nil: not remembered
}

func newLedger() *ledger { return &ledger{entries: map[replayKey]*pending{}} }

// answered is the remembered result of a key, nil when there is none yet.
func (l *ledger) answered(k replayKey) *Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.entries[k]; p != nil {
		return p.result
	}
	return nil
}

// claim gives the caller the key (mine) or whom to wait for.
func (l *ledger) claim(k replayKey) (p *pending, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.entries[k]; p != nil {
		return p, false
	}
	p = &pending{done: make(chan struct{})}
	l.entries[k] = p
	return p, true
}

// settle ends a claim: the result is remembered, or with nil the key is free
// again.
func (l *ledger) settle(k replayKey, p *pending, result *Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.result = result
	if result == nil {
		delete(l.entries, k)
	}
	close(p.done)
}

func (r Result) replayed() Result {
	if r.OK {
		r.Replayed = true
	}
	return r
}
