package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Exit codes of both programs.
const (
	CodeOK    = 0 // fine
	CodeNo    = 1 // the answer is no: differs, an assertion failed, the provider died
	CodeError = 2 // could not run
)

// An ExitError ends the program with a code of its own. Any other error ends it
// with [CodeError].
type ExitError struct {
	Code int
	Err  error // printed; nil prints nothing, for a command that has said all
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error that is printed.
func (e *ExitError) Unwrap() error { return e.Err }

// Exit returns an error that ends the program with code; err may be nil.
func Exit(code int, err error) error { return &ExitError{Code: code, Err: err} }

// A Hinter is an error that knows what to do next. Packages that do not know
// this one give their errors a Hint method to be heard.
type Hinter interface {
	error
	Hint() string // one or more lines, "" for none
}

type hinted struct {
	error
	hint string
}

func (h *hinted) Hint() string  { return h.hint }
func (h *hinted) Unwrap() error { return h.error }

// WithHint adds hint lines to an error; a nil error stays nil.
func WithHint(err error, hints ...string) error {
	if err == nil || len(hints) == 0 {
		return err
	}
	return &hinted{err, strings.Join(hints, "\n")}
}

// Report prints an error as the programs do and returns the exit code that
// belongs to it. A nil error prints nothing and is [CodeOK].
func Report(w io.Writer, program string, err error) int {
	if err == nil {
		return CodeOK
	}
	code := CodeError
	var exit *ExitError
	if errors.As(err, &exit) {
		if code = exit.Code; exit.Err == nil {
			return code
		}
	}
	fmt.Fprintf(w, "%s: %s\n", program, Text(err))
	for _, hint := range hints(err) {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
	return code
}

// hints collects the hints of an error and of what it wraps, outermost first,
// each once.
func hints(err error) []string {
	var out []string
	seen := map[string]bool{}
	var walk func(error)
	walk = func(err error) {
		if h, ok := err.(Hinter); ok {
			for line := range strings.SplitSeq(h.Hint(), "\n") {
				if line != "" && !seen[line] {
					seen[line] = true
					out = append(out, line)
				}
			}
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			if inner := e.Unwrap(); inner != nil {
				walk(inner)
			}
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				walk(inner)
			}
		}
	}
	walk(err)
	return out
}
