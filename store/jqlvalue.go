package store

import (
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// The values of a query: how they are written, and what they mean to a column.

// A jqlValue is a value as it is written, or a function with its arguments.
type jqlValue struct {
	text   string
	quoted bool
	call   bool
	args   []jqlValue
	start  int
}

// isEmpty tells whether it is one of the two words for no value.
func (v jqlValue) isEmpty() bool {
	return !v.quoted && !v.call && (strings.EqualFold(v.text, "empty") || strings.EqualFold(v.text, "null"))
}

// failAt is the error that a value is not what is wanted.
func (p *jqlParser) failAt(v jqlValue, want string, args ...any) error {
	p.tok, p.quote, p.start = v.text, v.quoted, v.start
	return p.fail(want, args...)
}

// operand reads what follows an operator: of in a list or a function, else one value.
func (p *jqlParser) operand(word string) ([]jqlValue, error) {
	list := word == "in" || word == "nin"
	if list && p.is("(") {
		return p.list()
	}
	v, err := p.value()
	switch {
	case err != nil:
		return nil, err
	case list && !v.call:
		return nil, p.failAt(v, "want ( or a function")
	case (word == "is" || word == "isnot") && !v.isEmpty():
		return nil, p.failAt(v, "want EMPTY or NULL; other values are compared with = and !=")
	}
	return []jqlValue{v}, nil
}

// list reads values in parentheses.
func (p *jqlParser) list() (vals []jqlValue, err error) {
	for !p.is(")") {
		if err := p.next(); err != nil { // over ( and ,
			return nil, err
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		vals = append(vals, v)
		if !p.is(",") && !p.is(")") {
			return nil, p.fail("want , or )")
		}
	}
	return vals, p.next()
}

func (p *jqlParser) value() (v jqlValue, err error) {
	if !p.quote && (p.tok == "" || strings.ContainsAny(p.tok[:1], jqlSigns)) {
		return v, p.fail("want a value")
	}
	v = jqlValue{text: p.tok, quoted: p.quote, start: p.start}
	if err := p.next(); err != nil || v.quoted || !p.is("(") {
		return v, err
	}
	v.call = true
	for !p.is(")") {
		if err := p.next(); err != nil { // over ( and what parts arguments
			return v, err
		}
		if p.tok == "" && !p.quote {
			return v, p.fail("want )")
		}
		if p.quote || !strings.ContainsAny(p.tok[:1], jqlSigns) {
			v.args = append(v.args, jqlValue{text: p.tok, quoted: p.quote, start: p.start})
		}
	}
	return v, p.next()
}

// resolve is what a column is compared with, as JSON: an array for in.
func (p *jqlParser) resolve(col *column, word string, vals []jqlValue) ([]byte, error) {
	list := word == "in" || word == "nin"
	out := []byte{'['}
	for _, v := range vals {
		raw, err := p.resolveOne(col, word, v)
		if err != nil || !list {
			return raw, err
		}
		if string(raw) == "[]" { // nobody
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return append(out, ']'), nil
}

func (p *jqlParser) resolveOne(col *column, word string, v jqlValue) ([]byte, error) {
	text := word == "contains" || word == "lacks"
	switch {
	case v.isEmpty() && (text || isRange(word)):
		return nil, p.failAt(v, "which can only be compared with =, !=, is, is not and in")
	case v.isEmpty():
		return []byte("null"), nil
	case v.call && (text || isRange(word)) && strings.EqualFold(v.text, "currentUser"):
		return nil, p.failAt(v, "which can only be compared with =, != and in")
	case v.call && text:
		return nil, p.failAt(v, "want a text")
	case v.call:
		return p.call(col, v)
	case col.form != "" && !text:
		return p.time(v)
	case !v.quoted && canon.IsNumber(v.text):
		return []byte(v.text), nil
	}
	return quoteText(v.text), nil
}
