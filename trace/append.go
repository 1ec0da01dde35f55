package trace

import (
	"encoding/json"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// AppendLine appends the entry's line, its \n included, to dst. The order of
// the keys is fixed: schema, seq, requestId, transport, tool, operationId,
// request, normalized, provider, result, status, response, then when they are
// there headers, warnings and validateValues (state-providers, "Call trace").
// Raw values are copied as they are and must be in canonical spelling.
func (e *Entry) AppendLine(dst []byte) []byte {
	dst = append(dst, `{"schema":"`+Schema+`","seq":`...)
	dst = strconv.AppendInt(dst, int64(e.Seq), 10)
	dst = canon.AppendString(append(dst, `,"requestId":`...), e.RequestID)
	dst = canon.AppendString(append(dst, `,"transport":`...), e.Transport)
	dst = appendText(append(dst, `,"tool":`...), e.Tool)
	dst = appendText(append(dst, `,"operationId":`...), e.Operation)
	dst = appendRaw(append(dst, `,"request":`...), e.Request)
	dst = appendRaw(append(dst, `,"normalized":`...), e.Normalized)
	dst = appendRaw(append(dst, `,"provider":`...), e.Provider)
	dst = appendRaw(append(dst, `,"result":`...), e.Result)
	if e.Status != 0 {
		dst = strconv.AppendInt(append(dst, `,"status":`...), int64(e.Status), 10)
		dst = appendRaw(append(dst, `,"response":`...), e.Response)
	}
	dst = e.appendOptional(dst)
	return append(dst, '}', '\n')
}

func (e *Entry) appendOptional(dst []byte) []byte {
	if e.Headers != nil {
		dst = append(append(dst, `,"headers":`...), e.Headers...)
	}
	if len(e.Warnings) > 0 {
		dst = append(dst, `,"warnings":[`...)
		for i, w := range e.Warnings {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = canon.AppendString(dst, w)
		}
		dst = append(dst, ']')
	}
	if e.Validated {
		dst = append(dst, `,"validateValues":true`...)
	}
	return dst
}

func appendText(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return canon.AppendString(dst, *s)
}

func appendRaw(dst []byte, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}
