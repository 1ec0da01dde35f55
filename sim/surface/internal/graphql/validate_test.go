package graphql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/internal/canon"
)

func value(t testing.TB, text string) *canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text), canon.Strict)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func testSchema(t testing.TB) *Schema {
	t.Helper()
	schemas := value(t, `{
		"Repo": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": ["null", "integer"]}, "owner": {"$ref": "#/components/schemas/User"}, "any": {}}},
		"User": {"type": "object", "additionalProperties": false, "properties": {"login": {"type": "string"}}},
		"Admin": {"allOf": [{"$ref": "#/components/schemas/User"}, {"$ref": "#/components/schemas/Repo"}]}}`)
	return NewSchema([]Binding{
		{Document: `query Repo($owner: String!, $first: Int = 5, $ids: [ID!]) { repo(owner: $owner, first: $first, ids: $ids) @cached { id } }`,
			Operation: "Repo", Kind: Query, Type: "RootQuery", Field: "repo", Inputs: []string{"owner", "first", "ids", "extra"},
			Output: schemas.Get("Repo"), OutputName: "Repo"},
		{Document: `query Other { repo { id } }`, Operation: "Other", Kind: Query, Field: "repo", Open: true},
		{Document: `mutation Add($title: String!, $tags: [String]) { add(input: {title: $title, tags: $tags}, mode: FAST) { id } }`,
			Operation: "Add", Kind: Mutation, Field: "add", Inputs: []string{"title", "tags"}},
		{Document: `not graphql`, Operation: "Odd", Kind: Mutation, Field: "odd", Inputs: []string{"a"}},
		{Document: `subscription S { s }`, Kind: Subscription, Field: "s"},
	}, schemas)
}

var validations = []struct{ document, want string }{
	{`{ repo(owner: "o") { id } }`, ``},
	{`query Repo($owner: String!) { repo(owner: $owner) @cached { id } }`, ``},
	{`query ($extra: X) { repo(owner: "o") { id } }`, ``},
	{``, `Syntax Error: the document has no operation.`},
	{`fragment F on RootQuery { x }`, `Syntax Error: the document has no operation.`},
	{`{ repo(`, `1:8 Syntax Error: Expected Name, found <EOF>.`},
	{"{\n  repo { \x00 } }", `2:10 Syntax Error: Expected Name, found <Invalid>.`},
	{`{ nope { id } }`, `1:3 Cannot query field "nope" on type "RootQuery".`},
	{`mutation { repo { id } }`, `1:12 Cannot query field "repo" on type "Mutation".`},
	{`subscription { repo { id } }`, `1:1 Subscriptions are not served: they have no request and response form.`},
	{`{ __schema { types { name } } }`, `1:3 Introspection is not served: the contract binds operations and holds no GraphQL schema.`},
	{`{ repo { id } }`, `1:3 Field "repo" argument "owner" of type "String!" is required, but it was not provided.`},
	{`query Other { repo(any: 1) { id } }`, ``},
	{`{ repo(owner: "o", nope: 1) { id } }`, `1:20 Unknown argument "nope" on field "RootQuery.repo".`},
	{`{ repo(owner: "o", owner: "p") { id } }`, `1:8 1:20 There can be only one argument named "owner".`},
	{`{ repo(owner: 5) { id } }`, `1:15 String cannot represent a non string value: 5`},
	{`{ repo(owner: null) { id } }`, `1:15 Expected value of type "String!", found null.`},
	{`{ repo(owner: "o", first: 2147483648) { id } }`, `1:27 Int cannot represent non 32-bit signed integer value: 2147483648`},
	{`{ repo(owner: "o", first: 1.5) { id } }`, `1:27 Int cannot represent non-integer value: 1.5`},
	{`{ repo(owner: "o", ids: [1, "a", true]) { id } }`, `1:34 ID cannot represent a non-string and non-integer value: true`},
	{`query ($f: Float = "x", $b: Boolean = 1) { repo(owner: "o") { id @skip(if: $b) any(f: $f) } }`,
		`1:20 Float cannot represent non numeric value: "x" | 1:39 Boolean cannot represent a non boolean value: 1`},
	{`query ($o: String) { repo(owner: $o) { id } }`, `1:8 1:34 Variable "$o" of type "String" used in position expecting type "String!".`},
	{`query ($o: String = "d") { repo(owner: $o) { id } }`, ``},
	{`query ($i: ID!) { repo(owner: "o", ids: [$i]) { id } }`, ``},
	{`query ($i: [ID]) { repo(owner: "o", ids: $i) { id } }`, `1:8 1:42 Variable "$i" of type "[ID]" used in position expecting type "[ID!]".`},
	{`query ($i: ID) { repo(owner: "o", ids: $i) { id } }`, `1:8 1:40 Variable "$i" of type "ID" used in position expecting type "[ID!]".`},
	{`query Q { repo(owner: $x) { id } }`, `1:23 Variable "$x" is not defined by operation "Q".`},
	{`query Q($x: Int) { repo(owner: "o") { id } }`, `1:9 Variable "$x" is never used in operation "Q".`},
	{`query ($x: Int, $x: Int) { repo(owner: "o", first: $x) { id } }`, `1:8 1:17 There can be only one variable named "$x".`},
	{`query A { repo(owner: "o") { id } } query A { repo(owner: "o") { id } }`, `1:1 1:37 There can be only one operation named "A".`},
	{`{ repo(owner: "o") { id } } query A { repo(owner: "o") { id } }`, `1:1 This anonymous operation must be the only defined operation.`},
	{`{ repo(owner: "o") { ...F } }`, `1:25 Unknown fragment "F".`},
	{`{ repo(owner: "o") { id } } fragment F on Repo { id }`, `1:29 Fragment "F" is never used.`},
	{`{ repo(owner: "o") { ...F } } fragment F on Repo { ...G } fragment G on Repo { ...F }`, `1:83 Cannot spread fragment "F" within itself.`},
	{`{ repo(owner: "o") { ...F } } fragment F on Repo { id } fragment F on Repo { id }`, `1:31 1:57 There can be only one fragment named "F".`},
	{`{ repo(owner: "o") { ...F } } fragment F($x: Int) on Repo { id }`, `1:31 Fragment "F" defines variables, which GraphQL does not allow.`},
	{`{ ... on Repo { repo(owner: "o") { id } } }`, `1:17 Fields of type "Repo" cannot stand here: the root type is "RootQuery".`},
	{`{ ... on RootQuery { repo(owner: "o") { id } } }`, ``},
	{`{ repo(owner: "o") { id @nope } }`, `1:26 Unknown directive "@nope".`},
	{`{ repo(owner: "o") { id @skip } }`, `1:26 Directive "@skip" argument "if" of type "Boolean!" is required, but it was not provided.`},
	{`{ repo(owner: "o") { id @skip(if: 1, x: 2) } }`,
		`1:38 Unknown argument "x" on directive "@skip". | 1:35 Boolean cannot represent a non boolean value: 1`},
	{`{ repo(owner: "o") { id @skip(if: true) @skip(if: true) } }`, `1:42 The directive "@skip" can only be used once at this location.`},
	{`query @skip(if: true) { repo(owner: "o") { id } }`, `1:8 Directive "@skip" may not be used on an operation or a fragment definition.`},
	{`query ($b: Int) { repo(owner: "o") { id @skip(if: $b) } }`, `1:8 1:51 Variable "$b" of type "Int" used in position expecting type "Boolean!".`},
	{`{ repo(owner: "o") }`, `1:3 Field "repo" of type "Repo" must have a selection of subfields. Did you mean "repo { ... }"?`},
	{`{ repo(owner: "o") { id { x } } }`, `1:22 Field "id" must not have a selection since type "string" has no subfields.`},
	{`{ repo(owner: "o") { n { x } __typename { y } } }`,
		`1:22 Field "n" must not have a selection since type "integer" has no subfields. | 1:30 Field "__typename" must not have a selection since type "string" has no subfields.`},
	{`{ repo(owner: "o") { any { x } unknown owner { login __typename nope } } }`, `1:65 Cannot query field "nope" on type "User".`},
	{`{ repo(owner: "o") { owner { ... on Admin { more } } } }`, ``},
	{`{ repo(owner: "o") { a: id a: n } }`,
		`1:22 1:28 Fields "a" conflict because "id" and "n" are different fields. Use different aliases on the fields to fetch both if this was intentional.`},
	{`{ repo(owner: "o") { id } repo(owner: "p") { id } }`,
		`1:3 1:27 Fields "repo" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional.`},
	{`{ repo(owner: "o", first: 1) { id } repo(first: 1, owner: "o") { n } }`, ``},
	{`{ repo(owner: "o") { any { ... on A { x: a } ... on B { x: b } } } }`, ``},
	{`{ repo(owner: "o") { any { ... on A { x: a } x: b } } }`,
		`1:39 1:46 Fields "x" conflict because "a" and "b" are different fields. Use different aliases on the fields to fetch both if this was intentional.`},
	{`{ repo(owner: "o") { any { x { a: b } } any { x { a: c } } } }`,
		`1:32 1:51 Fields "a" conflict because "b" and "c" are different fields. Use different aliases on the fields to fetch both if this was intentional.`},
	{`mutation { add(input: {title: "t", title: "u"}) { id } odd(a: 1) { x } }`, `1:24 1:36 There can be only one input field named "title".`},
	{`mutation { odd(b: 1) { x } }`, `1:16 Unknown argument "b" on field "Mutation.odd".`},
}

func TestValidate(t *testing.T) {
	r := NewReader(testSchema(t))
	for _, tc := range validations {
		for range 2 { // read, then remembered
			if diff := cmp.Diff(tc.want, printed(r.Read(tc.document).Errors())); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.document, diff)
			}
		}
	}
}

func printed(errs []*Error) string {
	var all []string
	for _, e := range errs {
		text := ""
		for _, l := range e.Locations {
			text += fmt.Sprintf("%d:%d ", l.Line, l.Column)
		}
		all = append(all, text+e.Message)
	}
	return strings.Join(all, " | ")
}

func TestPrepareErrors(t *testing.T) {
	s := testSchema(t)
	for _, tc := range []struct{ document, operation, variables, want string }{
		{`query A { repo(owner: "o") { id } } query B { repo(owner: "o") { id } }`, "", ``,
			`Must provide operation name if query contains multiple operations.`},
		{`query A { repo(owner: "o") { id } }`, "C", ``, `Unknown operation named "C".`},
		{`query ($o: String!) { repo(owner: $o) { id } }`, "", `[1]`, `Variables must be provided as an object, by name.`},
		{`query ($o: String!) { repo(owner: $o) { id } }`, "", ``, `1:8 Variable "$o" of required type "String!" was not provided.`},
		{`query ($o: String!) { repo(owner: $o) { id } }`, "", `{"o":null}`,
			`1:8 Variable "$o" got invalid value null; Expected non-nullable type "String!" not to be null.`},
		{`query ($o: String!) { repo(owner: $o) { id } }`, "", `{"o":5}`,
			`1:8 Variable "$o" got invalid value 5; String cannot represent a non string value: 5`},
		{`query ($f: Int) { repo(owner: "o", first: $f) { id } }`, "", `{"f":1.5}`,
			`1:8 Variable "$f" got invalid value 1.5; Int cannot represent non-integer value: 1.5`},
		{`query ($f: Int) { repo(owner: "o", first: $f) { id } }`, "", `{"f":3e9}`,
			`1:8 Variable "$f" got invalid value 3e9; Int cannot represent non 32-bit signed integer value: 3e9`},
		{`query ($i: [ID!]) { repo(owner: "o", ids: $i) { id } }`, "", `{"i":["a",1.5]}`,
			`1:8 Variable "$i" got invalid value ["a",1.5]; ID cannot represent value: 1.5`},
		{`query ($b: Boolean!) { repo(owner: "o") { id @skip(if: $b) } }`, "", `{"b":"x"}`,
			`1:8 Variable "$b" got invalid value "x"; Boolean cannot represent a non boolean value: "x"`},
		{`query ($o: String = "d") { repo(owner: $o) { id } }`, "", `{"o":null}`, `1:33 Argument "owner" of non-null type "String!" must not be null.`},
		{`mutation { add(input: {title: "t", nope: 1}) { id } }`, "", ``, `1:16 Field "nope" is not an input of argument "input" in the contract.`},
		{`mutation { add(input: {title: "t"}, mode: SLOW) { id } }`, "", ``, `1:37 Argument "mode" takes only the value FAST, which the contract fixes.`},
	} {
		_, errs := s.Prepare(NewReader(s).Read(tc.document), tc.operation, []byte(tc.variables))
		if diff := cmp.Diff(tc.want, printed(errs)); diff != "" {
			t.Errorf("%s %s\n(-want +got):\n%s", tc.document, tc.variables, diff)
		}
		for _, e := range errs {
			if e.Code != CodeInvalid {
				t.Errorf("%s: code %q", tc.document, e.Code)
			}
		}
	}
}

func TestPrepare(t *testing.T) {
	s := testSchema(t)
	for _, tc := range []struct{ document, variables, binding, inputs string }{
		{`{ repo(owner: "o", ids: 7) { id } }`, ``, "0", `{"owner":"o","ids":["7"]}`},
		{`query ($i: [ID!], $extra: Any) { repo(ids: $i, owner: "é\n") { id } }`, `{"i":9007199254740993,"extra":{"b":1.10,"a":1e400}}`, "0",
			`{"ids":["9007199254740993"],"owner":"é\n","extra":{"b":1.10,"a":1e400}}`},
		{`query ($f: Int = 3, $i: [ID!]) { repo(owner: "o", first: $f, ids: $i) { id } }`, `{"i":null}`, "0", `{"owner":"o","first":3,"ids":null}`},
		{`query Other($x: Int, $y: Int) { repo(a: {x: $x, y: $y, e: RED, l: [$x, 1.0, null]}) { id } }`, `{"y":1}`, "1", `{"a":{"y":1,"e":"RED","l":[null,1.0,null]}}`},
		{`mutation ($in: I) { add(input: $in, mode: FAST) { id } }`, `{"in":{"tags":["a"],"title":"t"}}`, "2", `{"tags":["a"],"title":"t"}`},
		{`{ t: __typename }`, ``, "-1", ``},
	} {
		r, errs := s.Prepare(NewReader(s).Read(tc.document), "", []byte(tc.variables))
		if len(errs) > 0 || len(r.Fields) != 1 {
			t.Errorf("%s: %s", tc.document, printed(errs))
			continue
		}
		f := r.Fields[0]
		if got := fmt.Sprint(f.Binding, " ", string(f.Variables)); got != tc.binding+" "+tc.inputs {
			t.Errorf("%s: binding and inputs %s, want %s %s", tc.document, got, tc.binding, tc.inputs)
		}
	}
}

// A small document that spreads to a large one is refused, quickly.
func TestExpansionIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{ repo(owner: "o") { ...F0 } }`)
	for i := range 60 {
		fmt.Fprintf(&b, " fragment F%d on X { a { ...F%d } b { ...F%d } }", i, i+1, i+1)
	}
	b.WriteString(" fragment F60 on X { c }")
	got := printed(NewReader(testSchema(t)).Read(b.String()).Errors())
	if !strings.HasSuffix(got, "The document selects more than 50000 fields once its fragments are expanded.") {
		t.Errorf("got %s", got)
	}
	deep := `query Other { repo(a: ` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `) { id } }`
	schema := testSchema(t)
	if _, errs := schema.Prepare(NewReader(schema).Read(deep), "", nil); printed(errs) != `1:15 The arguments of field "repo" nest deeper than 512 levels.` {
		t.Errorf("got %s", printed(errs))
	}
	long := "{" + strings.Repeat(" a", maxTokens) + "}"
	if got := printed(Parse(long).Errors()); got != "Syntax Error: exceeded token limit of 100000." {
		t.Errorf("got %s", got)
	}
	if got := printed(Parse("{" + strings.Repeat("a{", 2000)).Errors()); !strings.Contains(got, "nesting depth") {
		t.Errorf("got %s", got)
	}
}

func TestReaderForgets(t *testing.T) {
	r := NewReader(nil)
	first := r.Read("{ f0 }")
	if r.Read("{ f0 }") != first {
		t.Error("a document was read twice")
	}
	for i := range maxCached {
		r.Read(fmt.Sprintf("{ f%d }", i+1))
	}
	if len(r.cached) != maxCached || r.Read("{ f0 }") == first {
		t.Errorf("%d documents are kept, the oldest one too", len(r.cached))
	}
	long := "{ x } #" + strings.Repeat("x", maxCachedText)
	if kept := r.Read(long); r.Read(long) == kept {
		t.Error("a long document was kept")
	}
}
