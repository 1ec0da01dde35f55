// Package values checks the values of a call against the schemas that its
// contract declares for them.
//
// Schemas are read as OpenAPI means them in a request: formats are asserted,
// nullable adds null, boolean exclusiveMinimum and exclusiveMaximum belong to
// the bound beside them, a discriminator picks one branch, and what is readOnly
// is not required. Patterns are ECMA-262.
package values

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

// A Checker checks values against the schemas of one contract. Schemas are
// compiled on first use and kept; several goroutines may use one Checker.
type Checker struct {
	translator translator

	mu       sync.Mutex
	shared   any // the contract's schemas, ready for the compiler
	compiled map[*air.Value]entry
}

type entry struct {
	schema *jsonschema.Schema
	err    error
}

// New makes the checker of a contract.
func New(doc *air.Document) *Checker {
	t := translator{doc.Schemas}
	components := map[string]any{}
	for _, m := range doc.Schemas.Members() {
		components[m.Key] = t.request(m.Value)
	}
	return &Checker{
		translator: t,
		shared:     map[string]any{"components": map[string]any{"schemas": components}},
		compiled:   map[*air.Value]entry{},
	}
}

// Check compares a value, JSON in canonical spelling, with a schema of the
// contract. The fault is the first one in the order of JSON Pointers, "" when
// the value fits: "at '/parts/1/id': got string, want integer". The error says
// that the schema itself cannot be used, and nothing was checked.
func (c *Checker) Check(schema *air.Value, value []byte) (fault string, err error) {
	s, err := c.schema(schema)
	if err != nil {
		return "", err
	}
	tree, err := canon.Parse(value, canon.Lenient)
	if err != nil {
		return "", err
	}
	instance, fault := plain(tree, "")
	if fault != "" {
		return fault, nil
	}
	var invalid *jsonschema.ValidationError
	if err := s.Validate(instance); errors.As(err, &invalid) {
		return describe(invalid), nil
	} else if err != nil {
		return "", err
	}
	return "", nil
}

func (c *Checker) schema(schema *air.Value) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.compiled[schema]
	if !ok {
		e.schema, e.err = c.compile(schema)
		c.compiled[schema] = e
	}
	return e.schema, e.err
}

// Where schemas live for the compiler; nothing is ever loaded from there.
const (
	sharedURL = "anvil:///contract"
	ownURL    = "anvil:///schema"
)

func (c *Checker) compile(schema *air.Value) (*jsonschema.Schema, error) {
	jc := jsonschema.NewCompiler()
	jc.DefaultDraft(jsonschema.Draft2020)
	jc.AssertFormat()
	jc.UseRegexpEngine(ecmaRegexp)
	for name, check := range map[string]func(any) error{"int32": integerOf(32), "int64": integerOf(64), "byte": base64Text} {
		jc.RegisterFormat(&jsonschema.Format{Name: name, Validate: check})
	}
	jc.UseLoader(jsonschema.SchemeURLLoader{})
	if err := errors.Join(jc.AddResource(sharedURL, c.shared), jc.AddResource(ownURL, c.translator.request(schema))); err != nil {
		return nil, err
	}
	return jc.Compile(ownURL)
}

// patternTimeout bounds a pattern that backtracks without end. It is far beyond
// what a pattern that ends needs, so that a busy machine decides nothing.
const patternTimeout = 5 * time.Second

type ecma struct{ *regexp2.Regexp }

// MatchString implements jsonschema.Regexp. A text for which the pattern runs out
// of time is let through: it is not known to be wrong.
func (r ecma) MatchString(s string) bool {
	ok, err := r.Regexp.MatchString(s)
	return ok || err != nil
}

func ecmaRegexp(pattern string) (jsonschema.Regexp, error) {
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTimeout
	return ecma{re}, nil
}

func integerOf(bits int) func(any) error {
	return func(v any) error {
		n, ok := v.(json.Number)
		if !ok {
			return nil
		}
		whole, _, _ := strings.Cut(n.String(), ".")
		if _, err := strconv.ParseInt(whole, 10, bits); errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("not a %d-bit integer", bits)
		}
		return nil
	}
}

func base64Text(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	for _, r := range strings.TrimRight(s, "=") {
		if !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_\r\n", r) {
			return errors.New("not base64")
		}
	}
	return nil
}

// Numbers are compared exactly. What is longer than maxDigits, or has an exponent
// of more than maxExponent digits, is no number that anybody means and fills time
// and memory.
const (
	maxDigits   = 1000
	maxExponent = 4
)

// plain turns a value into what the schema library takes.
func plain(v *canon.Value, at string) (tree any, fault string) {
	switch v.Kind() {
	case canon.Bool:
		return v.True(), ""
	case canon.Number:
		_, exp, _ := strings.Cut(strings.ToLower(v.Text()), "e")
		if len(v.Text()) > maxDigits || len(strings.TrimLeft(exp, "+-0")) > maxExponent {
			return nil, "at '" + at + "': the number is too large or too small to be checked"
		}
		return json.Number(v.Text()), ""
	case canon.String:
		return v.Text(), ""
	case canon.Array:
		list := make([]any, 0, len(v.Elems()))
		for i, e := range v.Elems() {
			t, fault := plain(e, at+"/"+strconv.Itoa(i))
			if fault != "" {
				return nil, fault
			}
			list = append(list, t)
		}
		return list, ""
	case canon.Object:
		obj := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			t, fault := plain(m.Value, at+"/"+escape(m.Key))
			if fault != "" {
				return nil, fault
			}
			obj[m.Key] = t
		}
		return obj, ""
	}
	return nil, ""
}

func escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}
