package values_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim/values"
)

func parse(t testing.TB, text string) *air.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text), canon.Strict)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checker has a contract with a few shared schemas.
func checker(t testing.TB) *values.Checker {
	t.Helper()
	doc, err := air.Parse("s.json", []byte(`{"service":{"id":"s","version":"1","source":{"kind":"openapi"}},"schemas":{
		"Id":{"type":"integer","minimum":1},
		"Cat":{"type":"object","required":["kind","lives"],"properties":{"kind":{"type":"string"},"lives":{"type":"integer"}}},
		"Dog":{"type":"object","required":["kind"],"properties":{"kind":{"type":"string"},"bark":{"type":"string"}}},
		"Node":{"type":"object","properties":{"next":{"$ref":"#/components/schemas/Node"},"n":{"$ref":"#/components/schemas/Id"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return values.New(doc)
}

const pet = `{"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],"discriminator":{"propertyName":"kind","mapping":{"cat":"#/components/schemas/Cat"}}}`

// inlinePet is a choice as a compiled contract has it: branches written out.
const inlinePet = `{"oneOf":[
	{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}}},
	{"allOf":[{"type":"object","properties":{"kind":{"enum":["b","c"]},"s":{"type":"string"}}}]},
	{"type":"object","properties":{"kind":{"type":"string"},"bark":{"type":"string"}},"x-anvil-schema":"Dog"},
	{"type":"object","properties":{"hoot":{"type":"string"}},"x-anvil-schema":"Owl"},
	{"type":"null"}],
	"discriminator":{"propertyName":"kind","mapping":{"dog":"#/components/schemas/Dog"}}}`

var cases = []struct{ name, schema, value, fault string }{
	{"integer", `{"type":"integer"}`, `5`, ``},
	{"integer as 5.0", `{"type":"integer"}`, `5.0`, ``},
	{"string for integer", `{"type":"integer"}`, `"x"`, `got string, want integer`},
	{"minimum", `{"type":"integer","minimum":1}`, `0`, `got 0, want at least 1`},
	{"boolean exclusiveMinimum", `{"minimum":1,"exclusiveMinimum":true}`, `1`, `got 1, want more than 1`},
	{"exclusiveMaximum of its own", `{"exclusiveMaximum":1}`, `1`, `got 1, want less than 1`},
	{"multipleOf is exact", `{"multipleOf":0.1}`, `0.3`, ``},
	{"multipleOf", `{"multipleOf":0.5}`, `0.3`, `got 0.3, want a multiple of 0.5`},
	{"exact big integers", `{"maximum":9007199254740992}`, `9007199254740993`, `got 9007199254740993, want at most 9007199254740992`},
	{"nullable", `{"type":"string","nullable":true,"enum":["a"]}`, `null`, ``},
	{"nullable elsewhere", `{"type":"string","nullable":true,"enum":["a"]}`, `"b"`, `value must be 'a'`},
	{"nullable list of values", `{"type":"string","nullable":true,"enum":["a","b",null]}`, `"c"`, `value must be one of 'a', 'b', null`},
	{"inside nullable", `{"properties":{"a":{"type":"object","nullable":true,"properties":{"n":{"type":"integer"}}}}}`, `{"a":{"n":"x"}}`, `at '/a/n': got string, want integer`},
	{"type beside null", `{"anyOf":[{"type":"string"},{"type":"null"},{"type":"integer"}]}`, `true`, `got boolean, want string or null or integer`},
	{"constants as branches", `{"oneOf":[{"const":"a"},{"const":2},{"type":"null"}]}`, `"b"`, `value must be one of 'a', 2`},
	{"not nullable", `{"type":"string"}`, `null`, `got null, want string`},
	{"type list", `{"type":["integer","null"]}`, `null`, ``},
	{"format date-time", `{"format":"date-time"}`, `"yesterday"`, `'yesterday' is not valid date-time`},
	{"format int32", `{"type":"integer","format":"int32"}`, `2147483648`, `not a 32-bit integer`},
	{"format int64", `{"type":"integer","format":"int64"}`, `9223372036854775808`, `not a 64-bit integer`},
	{"format byte", `{"format":"byte"}`, `"not base64!"`, `not base64`},
	{"unknown format", `{"format":"phone"}`, `"x"`, ``},
	{"look-ahead", `{"pattern":"^(?!x)[a-z]+$"}`, `"xa"`, `does not match pattern`},
	{"ECMA digit class", `{"pattern":"^\\d$"}`, `"٣"`, `does not match pattern`},
	{"property", `{"properties":{"a":{"properties":{"b/c":{"type":"integer"}}}}}`, `{"a":{"b/c":"x"}}`, `at '/a/b~1c': got string, want integer`},
	{"element", `{"items":{"type":"integer"}}`, `[1,"2",3,"4"]`, `at '/1': got string, want integer`},
	{"element ten is after two", `{"items":{"type":"integer"}}`, `[0,0,"2",0,0,0,0,0,0,0,"10"]`, `at '/2': got string, want integer`},
	{"required", `{"required":["b","a"]}`, `{}`, `lacks the required properties 'a', 'b'`},
	{"readOnly is not required", `{"required":["id","n"],"properties":{"id":{"readOnly":true},"n":{}}}`, `{"n":1}`, ``},
	{"additional", `{"properties":{"a":{}},"additionalProperties":false}`, `{"z":1,"y":2,"a":3}`, `has the undeclared properties 'y', 'z'`},
	{"reference", `{"$ref":"#/components/schemas/Id"}`, `0`, `got 0, want at least 1`},
	{"recursive", `{"$ref":"#/components/schemas/Node"}`, `{"next":{"next":{"n":0}}}`, `at '/next/next/n': got 0, want at least 1`},
	{"oneOf twice", `{"oneOf":[{"required":["x"]},{"required":["y"]}]}`, `{"x":1,"y":2}`, `matches more than one of the alternatives`},
	{"oneOf never", `{"oneOf":[{"required":["x"]},{"required":["y"]}]}`, `{}`, `matches none of the alternatives`},
	{"not", `{"not":{"type":"string"}}`, `"x"`, `matches a schema that it must not match`},
	{"discriminator by mapping", pet, `{"kind":"cat","lives":9}`, ``},
	{"discriminator by name", pet, `{"kind":"Dog"}`, ``},
	{"discriminator names no branch", pet, `{"kind":"cow"}`, `at '/kind': value must be one of 'cat', 'Dog'`},
	{"discriminator is missing", pet, `{"lives":9}`, `lacks the required property 'kind'`},
	{"discriminated branch", pet, `{"kind":"cat"}`, `lacks the required property 'lives'`},
	{"inside a discriminated branch", `{"items":` + pet + `}`, `[{"kind":"Dog"},{"kind":"Dog","bark":1}]`, `at '/1/bark': got number, want string`},
	{"no object for a discriminator", pet, `"cat"`, `got string, want object`},
	{"written-out branch by const", inlinePet, `{"kind":"a","n":"x"}`, `at '/n': got string, want integer`},
	{"written-out branch by enum", inlinePet, `{"kind":"c","s":1}`, `at '/s': got number, want string`},
	{"written-out branch by enum fits", inlinePet, `{"kind":"b","s":"x"}`, ``},
	{"written-out branch by mapping of its name", inlinePet, `{"kind":"dog","bark":1}`, `at '/bark': got number, want string`},
	{"written-out branch by its name", inlinePet, `{"kind":"Owl","hoot":1}`, `at '/hoot': got number, want string`},
	{"written-out branches, none meant", inlinePet, `{"kind":"z"}`, `at '/kind': value must be one of 'a', 'b', 'c', 'dog', 'Owl'`},
	{"null beside written-out branches", inlinePet, `null`, ``},
	{"branches without a discriminator, told by a constant", `{"anyOf":[{"properties":{"k":{"enum":["a"]},"n":{"type":"integer"}}},{"properties":{"k":{"const":"b"}}}]}`, `{"k":"a","n":"x"}`, `at '/n': got string, want integer`},
	{"nullable discriminated branch", `{"nullable":true,` + inlinePet[1:], `{"kind":"a","n":"x"}`, `at '/n': got string, want integer`},
	{"false", `{"properties":{"a":false}}`, `{"a":1}`, `at '/a': false schema`},
	{"huge exponent", `{"type":"number"}`, `1e999999999`, `at '': the number is too large or too small to be checked`},
	{"huge fraction", `{"multipleOf":0.5}`, `0.` + strings.Repeat("1", 2000), `the number is too large or too small to be checked`},
	{"endless pattern lets through", `{"pattern":"^(?!(a+)+c$)[a-z]+$"}`, `"` + strings.Repeat("a", 19) + `b"`, ``},
	{"empty schema", `{}`, `{"any":["thing"]}`, ``},
}

func TestCheck(t *testing.T) {
	c := checker(t)
	for _, tc := range cases {
		schema := parse(t, tc.schema)
		for range 2 { // compiled, then kept
			got, err := c.Check(schema, []byte(tc.value))
			if err != nil || (got == "") != (tc.fault == "") || !strings.Contains(got, tc.fault) {
				t.Errorf("%s: Check(%s, %s) = %q, %v; want %q", tc.name, tc.schema, tc.value, got, err, tc.fault)
			}
		}
	}
}

// TestFaultIsStable: the library walks maps, the named fault may not follow.
func TestFaultIsStable(t *testing.T) {
	var props, vals []string
	for i := range 20 {
		props = append(props, fmt.Sprintf(`"p%02d":{"type":"integer"}`, i))
		vals = append(vals, fmt.Sprintf(`"p%02d":"x"`, i))
	}
	schema := parse(t, `{"properties":{`+strings.Join(props, ",")+`}}`)
	for range 50 {
		got, err := checker(t).Check(schema, []byte("{"+strings.Join(vals, ",")+"}"))
		if err != nil || got != "at '/p00': got string, want integer" {
			t.Fatalf("got %q, %v", got, err)
		}
	}
}

func TestUnusableSchema(t *testing.T) {
	c := checker(t)
	for _, schema := range []string{`{"pattern":"("}`, `{"$ref":"#/components/schemas/Nope"}`, `{"$ref":"https://example.com/schema.json"}`, `{"type":"objekt"}`} {
		if fault, err := c.Check(parse(t, schema), []byte(`"x"`)); err == nil {
			t.Errorf("%s: fault %q and no error, want one that says the schema cannot be used", schema, fault)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, tc := range cases {
		f.Add(tc.schema, tc.value)
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := canon.Parse([]byte(schema), canon.Strict)
		if err != nil {
			return
		}
		v, err := canon.AppendCompact(nil, []byte(value), canon.Lenient)
		if err != nil {
			return
		}
		c := checker(t)
		first, errFirst := c.Check(s, v)
		again, errAgain := c.Check(s, v)
		if first != again || (errFirst == nil) != (errAgain == nil) {
			t.Fatalf("Check(%s, %s): %q %v, then %q %v", schema, value, first, errFirst, again, errAgain)
		}
	})
}
