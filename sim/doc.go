// Package sim is the deterministic core of the simulator: it takes one call by
// tool name and agent-keyed input through the gates, asks the state, and shapes
// the answer. It has no sockets, no processes, no clock and no randomness of
// its own; everything is a function of the contract, the seed and the sequence
// of calls.
//
// The gates, in order: the tool exists; the caller may call it; the request
// could be read; it is confirmed (in process only: over HTTP the client's side
// confirms before it sends); a required idempotency key is there; a repeated
// key is replayed; a named fault fires; required inputs are there. A call that
// passes them all reaches the state: a [provider.Provider], or the built-in
// seeded store.
package sim
