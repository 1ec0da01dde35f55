package trace

import (
	"bytes"
	"fmt"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A head is what numbers a call.
type head struct {
	seq       int64
	requestID []byte // as it stands, quotes included; nil when it is no string
}

const headPrefix = `{"schema":"` + Schema + `","seq":`

// readHead reads the head of an entry. A line in the writer's spelling costs no
// more than its first bytes.
func readHead(name string, ln line) (head, error) {
	text := ln.text
	if text[len(text)-1] == '}' && bytes.HasPrefix(text, []byte(headPrefix)) {
		seq, n := parseSeq(text[len(headPrefix):])
		rest := text[len(headPrefix)+n:]
		const key = `,"requestId":"`
		if n > 0 && bytes.HasPrefix(rest, []byte(key)) {
			if end := skipString(rest, len(key)-1); end > 0 {
				return head{seq, rest[len(key)-1 : end]}, nil
			}
		}
	}
	return readHeadAnywhere(name, ln)
}

// parseSeq reads a whole number that an int64 holds; n is 0 without one.
func parseSeq(b []byte) (seq int64, n int) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		seq = seq*10 + int64(b[n]-'0')
		n++
	}
	if n > 18 || n < len(b) && scalarByte[b[n]] {
		return 0, 0
	}
	return seq, n
}

func readHeadAnywhere(name string, ln line) (head, error) {
	text := bytes.Trim(ln.text, " \t\r")
	if err := checkWhole(name, ln, text); err != nil {
		return head{}, err
	}
	schema := lookup(text, "schema")
	if len(schema) < 2 || schema[0] != '"' || canon.Unquote(schema) != Schema {
		found := "has no schema"
		if schema != nil {
			found = "has the schema " + string(shorten(schema, 60))
		}
		return head{}, lineError(name, ln, found+fmt.Sprintf(", want %q", Schema), "compare traces that 'anvil-sim serve --trace' wrote")
	}
	seqText := lookup(text, "seq")
	seq, n := parseSeq(seqText)
	if n == 0 || n != len(seqText) {
		return head{}, lineError(name, ln, fmt.Sprintf("has the seq %s, want a whole number", shorten(seqText, 60)), "")
	}
	id := lookup(text, "requestId")
	if len(id) == 0 || id[0] != '"' {
		id = nil
	}
	return head{seq, id}, nil
}

// checkWhole parses a line that is not in the writer's spelling.
func checkWhole(name string, ln line, text []byte) error {
	if text[0] == '{' && text[len(text)-1] == '}' {
		return checkJSON(name, ln)
	}
	if !ln.ended || text[0] == '{' && text[len(text)-1] != '}' {
		return cutError(name, ln)
	}
	return lineError(name, ln, fmt.Sprintf("found %q, want a JSON object", shorten(text, 40)), "compare traces that 'anvil-sim serve --trace' wrote")
}

func cutError(name string, ln line) *InputError {
	return lineError(name, ln, fmt.Sprintf("the line is cut after %d bytes", len(ln.text)),
		"the writer was stopped in the middle of a line: record the run again, or remove the line")
}

// checkJSON judges a whole line; duplicate keys are an error, since a trace is
// this project's own file.
func checkJSON(name string, ln line) error {
	_, err := parseEntry(name, ln)
	return err
}

func parseEntry(name string, ln line) (*canon.Value, error) {
	v, err := canon.Parse(ln.text, canon.Strict)
	if err == nil {
		return v, nil
	}
	e := lineError(name, ln, "is not an entry", "")
	if !ln.ended {
		e = cutError(name, ln)
	}
	e.Err = err
	return nil, e
}

func lineError(name string, ln line, msg, next string) *InputError {
	return &InputError{Name: name, Line: ln.number, Offset: ln.offset, Msg: msg, Next: next}
}

// shorten cuts text to about n bytes, between characters.
func shorten(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return append(text[:n:n], "..."...)
}
