package trace

import (
	"fmt"
	"strings"
)

// An InputError says why a trace cannot be read. It is never a difference.
type InputError struct {
	Name   string // the file, "-" for standard input
	Line   int    // 1-based; 0 when the trouble has no line
	Offset int64  // bytes from the start of the trace, decompressed
	Msg    string // what was found, what is accepted; "" when Err says it
	Next   string // what to do, "" when Msg says it
	Err    error  // the cause, nil when there is none
}

// Error implements error.
func (e *InputError) Error() string {
	var b strings.Builder
	b.WriteString(displayName(e.Name))
	if e.Line > 0 {
		fmt.Fprintf(&b, ": line %d (byte %d)", e.Line, e.Offset)
	}
	if e.Msg != "" {
		b.WriteString(": " + e.Msg)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *InputError) Hint() string { return e.Next }

// An OptionError says what is wrong with an option of a comparison.
type OptionError struct {
	Option string // as on the command line: "--ignore"
	Msg    string
	Next   string
}

// Error implements error.
func (e *OptionError) Error() string { return e.Option + ": " + e.Msg }

// Hint says what to do about it.
func (e *OptionError) Hint() string { return e.Next }

func displayName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
