package graphql

import (
	"fmt"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/anvil-sim/anvil/internal/canon"
)

// An Error is one entry of a response's errors.
type Error struct {
	Message   string
	Locations []Location
	Path      []any // response keys (string) and indexes (int); nil for none
	Code      string
}

// A Location is a place in a document, both counted from 1.
type Location struct{ Line, Column int }

// Append appends the error as a response holds it: message, locations, path,
// extensions.code, the last three when there are any.
func (e *Error) Append(dst []byte) []byte {
	dst = canon.AppendString(append(dst, `{"message":`...), e.Message)
	if len(e.Locations) > 0 {
		dst = append(dst, `,"locations":[`...)
		for i, l := range e.Locations {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(append(dst, `{"line":`...), int64(l.Line), 10)
			dst = strconv.AppendInt(append(dst, `,"column":`...), int64(l.Column), 10)
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	if e.Path != nil {
		dst = append(dst, `,"path":[`...)
		for i, p := range e.Path {
			if i > 0 {
				dst = append(dst, ',')
			}
			switch p := p.(type) {
			case string:
				dst = canon.AppendString(dst, p)
			case int:
				dst = strconv.AppendInt(dst, int64(p), 10)
			}
		}
		dst = append(dst, ']')
	}
	if e.Code != "" {
		dst = canon.AppendString(append(dst, `,"extensions":{"code":`...), e.Code)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// problem makes an error at places of a document.
func problem(pos *ast.Position, format string, args ...any) *Error {
	e := &Error{Message: fmt.Sprintf(format, args...)}
	if pos != nil {
		e.Locations = []Location{{pos.Line, pos.Column}}
	}
	return e
}

// also adds a second place to an error.
func (e *Error) also(pos *ast.Position) *Error {
	if pos != nil {
		e.Locations = append(e.Locations, Location{pos.Line, pos.Column})
	}
	return e
}

// placeOf is where a value begins. The parser's column of a string is that of
// its first character, behind the quote.
func placeOf(v *ast.Value) *ast.Position {
	if v.Kind != ast.StringValue || v.Position == nil {
		return v.Position
	}
	at := *v.Position
	at.Column--
	return &at
}
