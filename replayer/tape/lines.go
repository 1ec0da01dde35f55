package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/ndjson"
	"github.com/anvil-sim/anvil/trace"
)

// RecordingSchema is the value of the key "schema" of each line of a provider
// recording: {"schema": ..., "request": <normalized request>, "answer": <raw
// answer>}, or "error": {"code", "message"} instead of the answer when the
// provider could not answer.
const RecordingSchema = "anvil.provider.recording/v1"

const maxLine = 256 << 20

// isLines tells one JSON object a line by the schema of the first.
func (t *Tape) isLines(start []byte) bool {
	line, _, _ := bytes.Cut(start, []byte{'\n'})
	obj, err := canon.AppendCompact(nil, line, canon.Lenient)
	if err != nil {
		return false
	}
	switch textOf(obj, "schema") {
	case RecordingSchema:
		t.Format = Provider
	case trace.Schema:
		t.Format = Trace
	default:
		return false
	}
	return true
}

func textOf(obj []byte, key string) string {
	val, _ := canon.Lookup(obj, key)
	if len(val) == 0 || val[0] != '"' {
		return ""
	}
	return canon.Unquote(val)
}

// readLines reads a provider recording or a call trace. A last line that was cut
// off, as a kill leaves it, is noted and dropped.
func (t *Tape) readLines(data []byte) error {
	lines := ndjson.NewReader(bytes.NewReader(data), maxLine)
	for pos := 0; ; {
		line, err := lines.Next()
		if err != nil {
			return endOfLines(err)
		}
		if len(bytes.TrimSpace(line.Bytes)) == 0 {
			continue
		}
		it := &Interaction{Tape: t.Name, Position: pos, Line: line.Number}
		pos++
		obj, err := canon.AppendCompact(nil, line.Bytes, canon.Lenient)
		switch {
		case err != nil && !line.Ended:
			t.Notes = append(t.Notes, Skip{it.Position, it.Line, "the last line is cut off; it was left out"})
			return nil
		case err != nil:
			return fmt.Errorf("line %d: %w", line.Number, err)
		}
		it.ID = textOf(obj, "requestId")
		switch textOf(obj, "schema") {
		case RecordingSchema:
			t.add(it, nil, it.readRecording(obj))
		case trace.Schema:
			t.add(it, nil, it.readTrace(obj))
		default:
			return fmt.Errorf("line %d: the schema is %q, want %q", line.Number, clip(textOf(obj, "schema")), schemaOf(t.Format))
		}
	}
}

func endOfLines(err error) error {
	var tooLong *ndjson.TooLongError
	if errors.As(err, &tooLong) {
		return err
	}
	return nil // the end of data in memory
}

func schemaOf(f Format) string {
	if f == Trace {
		return trace.Schema
	}
	return RecordingSchema
}

func (i *Interaction) readRecording(obj []byte) error {
	request, _ := canon.Lookup(obj, "request")
	if len(request) == 0 || request[0] != '{' {
		return errors.New("want the request as an object")
	}
	i.Call = &Call{Request: request}
	i.ID = textOf(request, "requestId")
	if answer, ok := canon.Lookup(obj, "answer"); ok {
		i.Call.Answer = answer
		return nil
	}
	failed, ok := canon.Lookup(obj, "error")
	if !ok {
		return errors.New("want an answer or an error")
	}
	i.Failure = failure(textOf(failed, "message"))
	i.Failure.TimedOut = i.Failure.TimedOut || textOf(failed, "code") == "upstream_timeout"
	return nil
}

// readTrace reads one trace entry: what the provider was asked, when it was, and
// what the client saw.
func (i *Interaction) readTrace(obj []byte) error {
	request, _ := canon.Lookup(obj, "request")
	asked, _ := canon.Lookup(obj, "normalized")
	if len(asked) > 0 && asked[0] == '{' {
		i.Call = &Call{Request: asked}
		answer, _ := canon.Lookup(obj, "provider")
		if failed := textOf(answer, "transportError"); failed != "" {
			i.Failure = failure(failed)
		} else if len(answer) > 0 && answer[0] == '{' {
			i.Call.Answer = answer
		} else {
			i.Call = nil // the built-in store answered, which is no provider
		}
	}
	if textOf(request, "method") == "" {
		if i.Call == nil {
			return errors.New("an in-process call that no provider answered")
		}
		return nil
	}
	i.traceHTTP(obj, request)
	return nil
}

func (i *Interaction) traceHTTP(obj, request []byte) {
	r := &i.Request
	r.Method, r.URL = textOf(request, "method"), textOf(request, "path")
	if query, _ := canon.Lookup(request, "query"); len(query) > 2 {
		r.URL += "?" + traceQuery(query)
	}
	headers, _ := canon.Lookup(request, "headers")
	r.Header = headerObject(headers)
	if body, _ := canon.Lookup(request, "body"); len(body) > 0 && string(body) != "null" {
		if body[0] == '"' {
			r.Body = []byte(canon.Unquote(body))
		} else {
			r.Body = body
			r.Header = append(r.Header, Field{"content-type", "application/json"})
		}
	}
	resp := &i.Response
	status, _ := canon.Lookup(obj, "status")
	_ = json.Unmarshal(status, &resp.Status)
	resp.Header = Header{{"content-type", "application/json"}, {"x-request-id", textOf(obj, "requestId")}}
	if body, _ := canon.Lookup(obj, "response"); resp.Status != 204 {
		resp.Body = body
	} else {
		resp.Header = resp.Header[1:]
	}
	served, _ := canon.Lookup(obj, "headers")
	resp.Header = append(resp.Header, headerObject(served)...)
}

func traceQuery(query []byte) string {
	var b strings.Builder
	add := func(name string, val []byte) {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(scalarText(val)))
	}
	canon.Members(query, func(key, val []byte) bool {
		name := canon.Unquote(key)
		if val[0] != '[' {
			add(name, val)
		}
		canon.Elements(val, func(e []byte) bool {
			add(name, e)
			return true
		})
		return true
	})
	return b.String()
}

func headerObject(obj []byte) (h Header) {
	canon.Members(obj, func(key, val []byte) bool {
		h = append(h, Field{canon.Unquote(key), scalarText(val)})
		return true
	})
	return h
}

func scalarText(val []byte) string {
	if len(val) > 0 && val[0] == '"' {
		return canon.Unquote(val)
	}
	return string(val)
}
