// Package trace writes and reads call traces: one JSON line a call, schema
// anvil.simulator.trace/v1.
//
// A line has one spelling: fixed key order, no spaces, one \n. No clock is
// recorded, so two runs of one call sequence write equal files.
package trace

import (
	"encoding/json"
)

// Schema is the value of every entry's first key.
const Schema = "anvil.simulator.trace/v1"

// An Entry is one call. Values that are JSON are carried in canonical spelling
// and spliced into the line as they are; nil is null where the key always
// stands, absent where it does not.
type Entry struct {
	Seq        int
	RequestID  string
	Transport  string  // "http" or "in_process"
	Tool       *string // nil when no operation was found
	Operation  *string
	Request    json.RawMessage // what the client sent
	Normalized json.RawMessage // what the provider was asked, nil when a gate answered
	Provider   json.RawMessage // what the provider answered
	Result     json.RawMessage // the simulator's result before wire encoding
	Status     int             // final HTTP status; 0 leaves status and response out (in process)
	Response   json.RawMessage // final body, nil when it has none
	Headers    json.RawMessage // provider headers that were served; nil is absent
	Warnings   []string        // what was dropped from the provider's answer and why
	Validated  bool            // values were checked against their schemas
}
