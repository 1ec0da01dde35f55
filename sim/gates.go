package sim

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/provider"
)

// Do takes a call through the gates to its outcome, which the caller must
// [Outcome.Release]. A context that ends while the provider is asked, or while an
// equal keyed call is waited for, makes the call upstream_unavailable.
func (s *Simulator) Do(ctx context.Context, c *Call) *Outcome {
	out := &Outcome{Seq: c.Seq, RequestID: "r" + strconv.Itoa(c.Seq), Op: c.Op, validated: s.opts.Values != nil}
	if c.Op == nil {
		out.Result = c.Op.refuse(provider.UnsupportedOperation, "No operation '"+c.Unknown+"'.")
		return out
	}
	who, refused := s.authorize(c)
	switch {
	case refused != nil:
		out.Result = *refused
	case c.Undecodable != nil:
		out.Result = c.Op.undecodable(c.Undecodable)
	case c.confirm:
		out.Result = c.Op.refuse(provider.ConfirmationRequired, "Confirmation required: repeat the call with confirm set to true.")
	case c.Op.keyed && c.IdempotencyKey == "":
		out.Result = c.Op.refuse(provider.IdempotencyRequired, "Idempotency key required.")
	case c.Op.mutation && c.IdempotencyKey != "":
		s.keyed(ctx, c, who, out)
	default:
		s.unkeyed(ctx, c, who, out)
	}
	return out
}

// authorize finds the caller. An operation without auth has no principal.
func (s *Simulator) authorize(c *Call) (*provider.Principal, *Result) {
	if c.Op.open {
		return nil, nil
	}
	id := c.Principal
	if id == "" {
		id = s.opts.Principal
	}
	if id == "" {
		id = DefaultPrincipal
	}
	who := s.principals[id]
	if who == nil {
		return nil, c.Op.refusal(provider.AuthRequired, "No principal supplied.")
	}
	if missing := missingScopes(c.Op.Auth.Scopes, who.Scopes); len(missing) > 0 {
		return nil, c.Op.refusal(provider.PermissionDenied, "Missing scope(s): "+strings.Join(missing, ", ")+".")
	}
	return who, nil
}

func missingScopes(want, have []string) (missing []string) {
	for _, w := range want {
		if !slices.Contains(have, w) {
			missing = append(missing, w)
		}
	}
	return missing
}

func (o *Operation) undecodable(r *Refusal) Result {
	res := o.refuse(provider.ValidationError, r.Message)
	if r.Status != 400 {
		res.Error.Status = r.Status
	}
	return res
}

// fault is the failure of a named scenario, nil when none fires. Each scenario
// has rate 1, so there is nothing to draw. "slow" succeeds later.
func (o *Operation) fault(name string) *Result {
	switch name {
	case "throttle":
		return o.refusal(provider.RateLimited, "Simulated rate limit.")
	case "outage":
		return o.refusal(provider.UpstreamUnavailable, "Simulated outage.")
	case "conflict":
		return o.refusal(provider.Conflict, "Simulated conflict.")
	}
	return nil
}

func (o *Operation) refusal(code provider.Code, message string) *Result {
	r := o.refuse(code, message)
	return &r
}

func (s *Simulator) unkeyed(ctx context.Context, c *Call, who *provider.Principal, out *Outcome) {
	if f := c.Op.fault(c.Fault); f != nil {
		out.Result = *f
		return
	}
	out.Slow = c.Fault == "slow"
	s.answer(ctx, c, who, out)
}

// keyed answers a mutation that carries a key: a repeat is replayed, and a
// repeat of a call in flight waits for it. A refusal for its inputs is not
// remembered, so a waiter may find the key free and take it.
func (s *Simulator) keyed(ctx context.Context, c *Call, who *provider.Principal, out *Outcome) {
	caller := ""
	if who != nil {
		caller = who.ID
	}
	key := replayKeyOf(c, caller)
	ledger, _ := s.state()
	if r := ledger.answered(key); r != nil {
		out.Result = r.replayed()
		return
	}
	if f := c.Op.fault(c.Fault); f != nil {
		out.Result = *f
		return
	}
	out.Slow = c.Fault == "slow"
	for {
		p, mine := ledger.claim(key)
		if mine {
			s.claimed(ctx, c, who, out, func(r *Result) { ledger.settle(key, p, r) })
			return
		}
		select {
		case <-p.done:
		case <-ctx.Done():
			out.Result = c.Op.refuse(provider.UpstreamUnavailable, "The simulator stopped while an equal call was being answered.")
			return
		}
		if p.result != nil {
			out.Result = p.result.replayed()
			return
		}
	}
}

// claimed answers a call that holds its key. The key is settled when the
// outcome is released.
func (s *Simulator) claimed(ctx context.Context, c *Call, who *provider.Principal, out *Outcome, settle func(*Result)) {
	var result *Result
	if s.answer(ctx, c, who, out) {
		r := out.Result
		result = &r
	}
	out.release = func() { settle(result) }
}

// answer checks the inputs and asks the state. It reports whether the state was
// reached: only then is the result remembered under a key.
func (s *Simulator) answer(ctx context.Context, c *Call, who *provider.Principal, out *Outcome) bool {
	if s.opts.Provider == nil {
		_, st := s.state()
		out.Result = st.answer(c)
		return true
	}
	if msg := c.Op.missingInput(c.Input); msg != "" {
		out.Result = c.Op.refuse(provider.ValidationError, msg)
		return false
	}
	if msg := s.misfit(c, out); msg != "" {
		out.Result = c.Op.refuse(provider.ValidationError, msg)
		return false
	}
	s.ask(ctx, c, who, out)
	return true
}
