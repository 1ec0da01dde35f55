package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An Error says where an expression is wrong.
type Error struct {
	Source string
	Column int // 1-based, in characters; 0 when it has no place
	Msg    string
}

// Error implements error. Of a long expression it shows what stands around the
// column.
func (e *Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("expression %q: %s", clip(e.Source, 1), e.Msg)
	}
	return fmt.Sprintf("expression %q, column %d: %s", clip(e.Source, e.Column), e.Column, e.Msg)
}

// Hint says what to do about it.
func (e *Error) Hint() string {
	return `expressions are CEL, such as: status >= 400 && request.path.startsWith("/tickets")`
}

// A LimitError says that an expression took more steps for one call than it may.
type LimitError struct {
	Source string
	Limit  int // in the steps that CEL counts
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("expression %q: took more than %d million steps for one call, want at most that", clip(e.Source, 1), e.Limit/1_000_000)
}

// Hint says what to do about it.
func (e *LimitError) Hint() string {
	return "all, exists, map and filter inside one another multiply: use fewer, or over shorter lists; " +
		"conditions beside it (tool, operation, status) spare it the other calls"
}

// Limited reports whether an evaluation took too long, and so tells nothing.
func Limited(err error) bool {
	var limit *LimitError
	return errors.As(err, &limit)
}

// mostShown bounds how much of an expression an error shows, in characters.
const mostShown = 160

// clip shortens a source to what stands around a column, counted in characters
// from 1.
func clip(source string, column int) string {
	n := utf8.RuneCountInString(source)
	if n <= mostShown {
		return source
	}
	from := max(0, min(column-1-mostShown/2, n-mostShown))
	part := string([]rune(source)[from : from+mostShown])
	if from > 0 {
		part = "..." + strings.TrimLeft(part, " ")
	}
	if from+mostShown < n {
		part += "..."
	}
	return part
}
