package surface

import (
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

func schemaOf(t testing.TB, text string) *air.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text), canon.Strict)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const (
	ints   = `{"type":"array","items":{"type":"integer"}}`
	strs   = `{"type":"array","items":{"type":"string"}}`
	nested = `{"type":"object","properties":{"t":{"type":"array","items":{"type":"integer"}},"o":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}}}`
	rgb    = `{"type":"object","properties":{"R":{"type":"integer"},"G":{"type":"integer"}}}`
)

// Parameters by style and location, the examples of the OpenAPI specification
// among them.
var styles = []struct {
	name, in, style, explode, schema, input, want string
}{
	{"recorded rule splits one", "query", "", "", ints, "c=1,2", `[1,2]`},
	{"recorded rule takes several", "query", "", "", ints, "c=1,2&c=3", `["1,2",3]`},
	{"recorded rule reads no object", "query", "", "", rgb, "c=R,1", `"R,1"`},
	{"form explode", "query", "form", "", strs, "c=a,b&c=d", `["a,b","d"]`},
	{"form explode, one", "query", "form", "true", strs, "c=a,b", `["a,b"]`},
	{"form list", "query", "form", "false", strs, "c=a,b%2Cc", `["a","b,c"]`},
	{"explode alone is form", "query", "", "false", ints, "c=1,2", `[1,2]`},
	{"form object", "query", "form", "false", rgb, "c=R,100,G,200", `{"R":100,"G":200}`},
	{"form object exploded", "query", "form", "true", rgb, "G=200&x=1&R=100", `{"R":100,"G":200}`},
	{"space", "query", "spaceDelimited", "", ints, "c=1%202+3", `[1,2,3]`},
	{"pipe", "query", "pipeDelimited", "", strs, "c=a|b%7Cc", `["a","b","c"]`},
	{"deep object", "query", "deepObject", "", rgb, "c[R]=100&c%5BG%5D=200", `{"R":100,"G":200}`},
	{"deep object with an array", "query", "deepObject", "", `{"type":"object","properties":{"t":{"type":"array","items":{"type":"integer"}}}}`, "c[t]=1&c[t]=2", `{"t":[1,2]}`},
	{"spread object with an array", "query", "form", "true", `{"type":"object","properties":{"t":{"type":"array","items":{"type":"integer"}}}}`, "t=1", `{"t":[1]}`},
	{"deep array in brackets", "query", "deepObject", "", nested, "c[t][]=1&c[t][]=2", `{"t":[1,2]}`},
	{"deep array by places", "query", "deepObject", "", nested, "c[t][10]=3&c[t][2]=2&c[t][0]=1", `{"t":[1,2,3]}`},
	{"deep array by words is an object", "query", "deepObject", "", nested, "c[t][x]=1", `{"t":{"x":"1"}}`},
	{"object in an object", "query", "deepObject", "", nested, "c[o][n]=1&c[o][s]=1&c[o][z]=1", `{"o":{"n":1,"s":"1","z":"1"}}`},
	{"undeclared objects", "query", "deepObject", "", nested, "c[x][y][z]=1&c[w][]=1", `{"x":{"y":{"z":"1"}},"w":["1"]}`},
	{"deep null is a text", "query", "deepObject", "", nested, "c[o][n]=null", `{"o":{"n":"null"}}`},
	{"value and properties of one name", "query", "deepObject", "", nested, "c[o]=1&c[o][n]=2", `{"o":{"n":2}}`},
	{"malformed deep names are none", "query", "deepObject", "", nested, "c[a=1&c[a]x=1&c]a[=1&c[]=1&c[a][][b]=1&c[a[b]]=1&c=1&c[[a]]=1&C[a]=1&cc[a]=1", ``},
	{"malformed deep names beside a good one", "query", "deepObject", "", nested, "c[o=1&c[t]=1", `{"t":[1]}`},
	{"deeper than anybody means", "query", "deepObject", "", nested, "c[1][2][3][4][5][6][7][8][9]=1", ``},
	{"null of a nullable number is a text", "query", "", "", `{"type":"integer","nullable":true}`, "c=null", `"null"`},
	{"null of a type list is a text", "query", "", "", `{"type":["boolean","null"]}`, "c=null", `"null"`},
	{"null in a list is a text", "query", "form", "false", `{"type":"array","items":{"type":"integer","nullable":true}}`, "c=1,null", `[1,"null"]`},
	{"absent", "query", "form", "", ints, "d=1", ``},
	{"absent deep object", "query", "deepObject", "", rgb, "c=1", ``},
	{"empty value", "query", "", "", `{"type":"integer"}`, "c=", `""`},
	{"big integer", "query", "", "", `{"type":"integer"}`, "c=9007199254740993", `9007199254740993`},
	{"nullable", "query", "", "", `{"type":["null","integer"]}`, "c=5", `5`},
	{"union with null", "query", "", "", `{"anyOf":[{"type":"boolean"},{"type":"null"}]}`, "c=true", `true`},
	{"mixed union stays text", "query", "", "", `{"oneOf":[{"type":"integer"},{"type":"string"}]}`, "c=5", `"5"`},
	{"numbers listed without a type", "query", "", "", `{"enum":[1,2]}`, "c=2", `2`},
	{"mixed list without a type", "query", "", "", `{"enum":[1,"a"]}`, "c=1", `"1"`},
	{"reference", "query", "", "", `{"$ref":"#/components/schemas/N"}`, "c=5", `5`},
	{"reference cycle", "query", "", "", `{"$ref":"#/components/schemas/Loop"}`, "c=5", `"5"`},
	{"path plain", "path", "", "", `{"type":"string"}`, "a%2Fb;x.y", `"a/b;x.y"`},
	{"path simple", "path", "simple", "", ints, "1,2%2C3", `[1,"2,3"]`},
	{"path simple object", "path", "simple", "false", rgb, "R,100,G,200", `{"R":100,"G":200}`},
	{"path simple object exploded", "path", "simple", "true", rgb, "R=100,G=200", `{"R":100,"G":200}`},
	{"label", "path", "label", "", `{"type":"integer"}`, ".5", `5`},
	{"label list", "path", "label", "false", ints, ".1,2", `[1,2]`},
	{"label list exploded", "path", "label", "true", ints, ".1.2", `[1,2]`},
	{"label object exploded", "path", "label", "true", rgb, ".R=100.G=200", `{"R":100,"G":200}`},
	{"matrix", "path", "matrix", "", `{"type":"integer"}`, ";c=5", `5`},
	{"matrix list", "path", "matrix", "false", ints, ";c=1,2", `[1,2]`},
	{"matrix list exploded", "path", "matrix", "true", ints, ";c=1;c=2", `[1,2]`},
	{"matrix object", "path", "matrix", "false", rgb, ";c=R,100,G,200", `{"R":100,"G":200}`},
	{"matrix object exploded", "path", "matrix", "true", rgb, ";R=100;G=200", `{"R":100,"G":200}`},
	{"bad escape", "path", "", "", `{"type":"string"}`, "%zz", `bad`},
	{"escape that is not UTF-8", "path", "simple", "", strs, "a,%ff", `bad`},
	{"header list", "header", "simple", "", ints, "1, 2", `[1,2]`},
	{"header object exploded", "header", "simple", "true", rgb, "R=100,G=200", `{"R":100,"G":200}`},
	{"header recorded rule", "header", "", "", strs, "a, b", `["a"," b"]`},
	{"cookie list", "cookie", "form", "false", ints, "c=1,2", `[1,2]`},
	{"cookie list exploded", "cookie", "form", "true", ints, "c=1; x=9; c=2", `[1,2]`},
	{"cookie object exploded", "cookie", "form", "true", rgb, `G=200; R="100"; x=1`, `{"R":100,"G":200}`},
	{"cookie object", "cookie", "form", "false", rgb, "c=R,100,G,200", `{"R":100,"G":200}`},
	{"cookie recorded rule", "cookie", "", "", ints, "c=1,2; c=3", `[1,2]`},
	{"no cookie", "cookie", "form", "true", rgb, "c=1", ``},
}

func readParam(t testing.TB, in, style, explode, schema, input string) string {
	t.Helper()
	p := &air.Param{Name: "c", In: in, Style: style, Schema: schemaOf(t, schema)}
	if explode != "" {
		yes := explode == "true"
		p.Explode = &yes
	}
	pp := newParamPlan(p, schemaOf(t, `{"N":{"type":"integer"},"Loop":{"$ref":"#/components/schemas/Loop"}}`))
	var val sim.Raw
	switch in {
	case "query":
		target := parseTarget("/x?" + input)
		val = pp.query(&target)
	case "path":
		var ok bool
		if val, ok = pp.path(input); !ok {
			return "bad"
		}
	case "cookie":
		val = pp.cookie([]string{input})
	default:
		val = pp.headerValue(input)
	}
	return string(val)
}

func TestParameterStyles(t *testing.T) {
	for _, tc := range styles {
		if got := readParam(t, tc.in, tc.style, tc.explode, tc.schema, tc.input); got != tc.want {
			t.Errorf("%s: %s in %s (style %q explode %q) = %s, want %s", tc.name, tc.input, tc.in, tc.style, tc.explode, got, tc.want)
		}
	}
}

func FuzzParameterStyles(f *testing.F) {
	for _, tc := range styles {
		f.Add(tc.in, tc.style, tc.explode, tc.schema, tc.input)
	}
	f.Fuzz(func(t *testing.T, in, style, explode, schema, input string) {
		if _, err := canon.Parse([]byte(schema), canon.Strict); err != nil {
			return
		}
		if got := readParam(t, in, style, explode, schema, input); got != "" && got != "bad" && !canon.Valid([]byte(got)) {
			t.Fatalf("%s in %s (style %q explode %q, schema %s) = %s, no JSON", input, in, style, explode, schema, got)
		}
	})
}
