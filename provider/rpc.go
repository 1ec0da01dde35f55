package provider

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// The methods of the protocol.
const (
	MethodInitialize = "initialize"
	MethodInvoke     = "invoke"
	MethodShutdown   = "shutdown"
	MethodReset      = "reset"    // only to a provider that announced it
	MethodSnapshot   = "snapshot" // only to a provider that announced it
)

// The JSON-RPC 2.0 error codes that [Serve] uses.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
)

// An RPCError is a JSON-RPC error: the peer could not process the request. A
// provider that returns one chooses what the simulator is told; a domain error
// belongs into an answer instead ([Fail]).
type RPCError struct {
	Code    int
	Message string
	Data    json.RawMessage // more about the error, any JSON value; nil is absent
}

// Error implements error.
func (e *RPCError) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// A Message is one line of the protocol: a request (id and method), a
// notification (method), or an answer (id, and result or error). Values are
// canonical JSON; nil is absent, which null is not.
type Message struct {
	ID     json.RawMessage
	Method json.RawMessage // a string in a message that is well formed
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// ParseMessage reads a line as a message; keys match exactly and unknown keys
// are ignored. The values of the message are parts of one canonical copy of the
// line. A line that is JSON but no object is a message without any part. The
// error, for a line that is no JSON, says where it stops being JSON.
func ParseMessage(line []byte) (Message, error) {
	buf, err := canon.AppendCompact(make([]byte, 0, len(line)), line, canon.Lenient)
	if err != nil {
		return Message{}, err
	}
	var m Message
	canon.Members(buf, func(key, val []byte) bool {
		switch string(key) {
		case `"id"`:
			m.ID = val
		case `"method"`:
			m.Method = val
		case `"params"`:
			m.Params = val
		case `"result"`:
			m.Result = val
		case `"error"`:
			m.Error = val
		}
		return true
	})
	return m, nil
}

// NumericID is the message's id when that is a positive integer, as the
// simulator numbers its requests; 1.0 is 1. Strings and fractions are not ok.
func (m *Message) NumericID() (id uint64, ok bool) {
	n, ok := integer(m.ID)
	return uint64(max(n, 0)), ok && n > 0
}

// Failure is the JSON-RPC error of an answer, nil when it has none. An error of
// null, false, 0 or "" is none; one that is not of the form that JSON-RPC asks for
// becomes code 0 with its text as the message.
func (m *Message) Failure() *RPCError {
	switch string(m.Error) {
	case "", "null", "false", `""`:
		return nil
	}
	if n, ok := integer(m.Error); ok && n == 0 {
		return nil
	}
	e := new(RPCError)
	canon.Members(m.Error, func(key, val []byte) bool {
		switch string(key) {
		case `"code"`:
			n, _ := integer(val)
			e.Code = int(max(math.MinInt32, min(n, math.MaxInt32)))
		case `"message"`:
			if isString(val) {
				e.Message = canon.Unquote(val)
			}
		case `"data"`:
			e.Data = val
		}
		return true
	})
	if e.Message == "" {
		e.Message = clip(m.Error)
	}
	return e
}

// AppendRequest appends a request as one line, with its \n. params is spliced and
// must be JSON without a raw newline.
func AppendRequest(dst []byte, id uint64, method string, params []byte) []byte {
	dst = strconv.AppendUint(append(dst, `{"jsonrpc":"2.0","id":`...), id, 10)
	dst = appendText(dst, `,"method":`, method)
	dst = append(append(dst, `,"params":`...), params...)
	return append(dst, '}', '\n')
}

// AppendResult appends an answer as one line, with its \n. id and result are
// spliced and must be JSON without a raw newline; nil is null.
func AppendResult(dst []byte, id, result json.RawMessage) []byte {
	dst = appendValue(append(dst, `{"jsonrpc":"2.0","id":`...), id)
	dst = appendValue(append(dst, `,"result":`...), result)
	return append(dst, '}', '\n')
}

// AppendRPCError appends an error answer as one line, with its \n. A nil id is
// null: the request's id could not be read.
func AppendRPCError(dst []byte, id json.RawMessage, e *RPCError) []byte {
	dst = appendValue(append(dst, `{"jsonrpc":"2.0","id":`...), id)
	dst = strconv.AppendInt(append(dst, `,"error":{"code":`...), int64(e.Code), 10)
	dst = appendText(dst, `,"message":`, e.Message)
	var data splicer
	dst = data.value(dst, `,"data":`, e.Data)
	return append(dst, '}', '}', '\n')
}
