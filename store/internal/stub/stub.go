// Package stub reads the places where a compiled contract cut a named schema
// short to stay small.
package stub

import (
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// Name is the name of the schema that was cut to a stub: a type and a
// description which begins with A 'NAME' object; nested. Of any other schema it
// is "".
func Name(schema *canon.Value) string {
	rest, ok := strings.CutPrefix(schema.Get("description").Text(), "A '")
	if !ok || schema.Get("properties") != nil || schema.Get("allOf") != nil {
		return ""
	}
	name, tail, ok := strings.Cut(rest, "' object; nested")
	if !ok || tail == "" {
		return ""
	}
	return name
}
