package synth_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air/synth"
	"github.com/anvil-sim/anvil/internal/canon"
)

func parse(t testing.TB, text string) *canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text), canon.Lenient)
	if err != nil {
		t.Fatalf("parse %.200s: %v", text, err)
	}
	return v
}

// The records of recorded runs, with the schema that each was made from.
func TestBodyRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	data := parse(t, string(text))
	cases := data.Get("cases").Elems()
	if len(cases) < 100 {
		t.Fatalf("recorded.json has %d cases, want at least 100", len(cases))
	}
	for _, c := range cases {
		schema := data.Get("schemas").Get(c.Get("schema").Text())
		seed, label := uint32(c.Get("seed").Float()), c.Get("label").Text()
		record := c.Get("stored")
		if body := synth.Body(schema, seed, label); body.Is(canon.Object) {
			for _, m := range record.Members() {
				body = body.With(m.Key, m.Value)
			}
			record = body
		}
		if got, want := record.String(), c.Get("want").String(); got != want {
			t.Errorf("%s, seed %d, %s:\n got %s\nwant %s", c.Get("session").Text(), seed, label, got, want)
		}
	}
}

// The ids of the first fixtures of recorded runs come from the run's own stream.
func TestRngRecordedTokens(t *testing.T) {
	for _, c := range []struct {
		seed uint32
		want []string
	}{
		{1, []string{"a08ff4", "9b6f77"}},
		{7, []string{"00fb86", "738b42"}},
	} {
		r := synth.NewRng(c.seed)
		for i, want := range c.want {
			if got := r.Token(6); got != want {
				t.Errorf("seed %d, token %d: got %s, want %s", c.seed, i+1, got, want)
			}
		}
	}
}

func TestRng(t *testing.T) {
	r := synth.NewRng(0)
	// Known outputs of mulberry32 from state 0.
	for i, want := range []float64{0.26642920868471265, 0.0003297457005828619, 0.2232720274478197} {
		if got := r.Float(); got != want {
			t.Errorf("draw %d: got %v, want %v", i+1, got, want)
		}
	}
	saved := *r
	first := []string{r.Token(8), fmt.Sprint(r.Int(1000)), fmt.Sprint(r.Int(0)), fmt.Sprint(r.Int(-3))}
	r = &saved
	again := []string{r.Token(8), fmt.Sprint(r.Int(1000)), fmt.Sprint(r.Int(0)), fmt.Sprint(r.Int(-3))}
	if !slices.Equal(first, again) {
		t.Errorf("a copied state goes on as %v, want %v", again, first)
	}
	if first[2] != "0" || first[3] != "0" {
		t.Errorf("Int(0) and Int(-3) gave %v, want 0", first[2:])
	}
}

// Token draws one Int(16) a digit, and Int draws even for an empty range.
func TestRngDraws(t *testing.T) {
	a, b := synth.NewRng(99), synth.NewRng(99)
	var digits strings.Builder
	for range 40 {
		fmt.Fprintf(&digits, "%x", b.Int(16))
	}
	if got := a.Token(40); got != digits.String() {
		t.Errorf("Token(40) = %s, want %s", got, digits.String())
	}
	a.Int(0)
	b.Float()
	if x, y := a.Float(), b.Float(); x != y {
		t.Errorf("after Int(0) the next draw is %v, want %v", x, y)
	}
}

func TestHash(t *testing.T) {
	for _, c := range []struct {
		label string
		want  uint32
	}{
		{"", 0},
		{"a", 97},
		{"ab", 97*31 + 98},
		{"é", 0xE9},
		{"😀", 0xD83D*31 + 0xDE00},
		{"\xed\xa0\xbd", 0xD83D}, // a lone surrogate is its own unit
		{"zzzzzzzzzz", 2713988160},
	} {
		if got := synth.Hash(c.label); got != c.want {
			t.Errorf("Hash(%q) = %d, want %d", c.label, got, c.want)
		}
	}
}

func TestBodyKeywords(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"const beats all", `{"const":0,"example":1,"type":"string"}`, `0`},
		{"null const", `{"const":null,"type":"string"}`, `null`},
		{"number text kept", `{"example":1.10}`, `1.10`},
		{"false example", `{"example":false}`, `false`},
		{"examples as a map", `{"examples":{"a":{"value":1}},"type":"array","maxItems":0}`, `[]`},
		{"nothing", `{}`, `{}`},
		{"boolean schema", `true`, `null`},
		{"type list", `{"type":["integer","null"]}`, `null`},
		{"type list with properties", `{"type":["object"],"properties":{"a":{"const":1}}}`, `{"a":1}`},
		{"unknown type", `{"type":"file"}`, `null`},
		{"unresolved reference", `{"$ref":"#/nowhere"}`, `null`},
		{"annotations", `{"title":"t","xml":{},"default":3}`, `{}`},
		{"minLength beyond eight", `{"type":"array","items":{"const":"x"},"minItems":2.5}`, `["x","x","x"]`},
		{"items at most ten", `{"type":"array","minItems":99,"items":{"const":1}}`, `[1,1,1,1,1,1,1,1,1,1]`},
		{"wrong types of keywords", `{"type":"array","minItems":"3","maxItems":null,"items":[{"const":1}]}`, `[null]`},
		{"map", `{"type":"object","properties":{},"additionalProperties":{"const":1}}`, `{"key":1}`},
		{"closed map", `{"type":"object","additionalProperties":false}`, `{}`},
		{"allOf without objects", `{"allOf":[{"const":1},true]}`, `{}`},
		{"allOf later wins in place", `{"allOf":[{"const":{"a":1,"b":2}},{"const":{"a":3}}]}`, `{"a":3,"b":2}`},
		{"empty oneOf", `{"oneOf":[],"anyOf":[{"const":7}]}`, `7`},
		{"branch over an object", `{"type":"object","properties":{"a":{"const":1},"b":{"const":2}},"oneOf":[{"const":{"b":3,"c":4}}]}`, `{"a":1,"b":3,"c":4}`},
		{"scalar branch of an object", `{"properties":{"a":{"const":1}},"oneOf":[{"const":5}]}`, `{"a":1}`},
		{"branch that says nothing", `{"type":"string","format":"date","oneOf":[{"minLength":3}]}`, `"2026-01-01"`},
		{"scalar branch of a scalar", `{"type":"string","format":"date","oneOf":[{"const":"x"}]}`, `"x"`},
		{"duplicate key order", `{"properties":{"2":{"const":1},"1":{"const":2}}}`, `{"2":1,"1":2}`},
		{"huge minimum", `{"type":"integer","minimum":1e400}`, `null`},
		{"range beyond doubles", `{"type":"integer","minimum":-1e308,"maximum":1e308}`, `null`},
	} {
		if got := synth.Body(parse(t, c.schema), 1, "op:id").String(); got != c.want {
			t.Errorf("%s: %s gives %s, want %s", c.name, c.schema, got, c.want)
		}
	}
	if got := synth.Body(nil, 1, "op:id"); got != nil {
		t.Errorf("an absent schema gives %s, want nothing", got)
	}
}

// One body stays within bounds whatever its schema asks for.
func TestBodyBounded(t *testing.T) {
	schema := `{"type":"string"}`
	for range synth.MaxDepth {
		schema = `{"type":"array","minItems":10,"items":` + schema + `}`
	}
	for _, text := range []string{schema, `{"type":"string","minLength":1e18}`} {
		if n := len(synth.Body(parse(t, text), 1, "x").String()); n > 8<<20 {
			t.Errorf("%.40s... gives %d bytes, want at most 8 MiB", text, n)
		}
	}
}

func FuzzBody(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"number","minimum":0.1}}}}`, uint32(1), "op:id")
	f.Add(`{"allOf":[{"oneOf":[{"enum":[]}]}],"type":"string","minLength":3}`, uint32(0), "\xed\xa0\xbd")
	f.Add(`{"properties":{"u":{"type":"string","format":"uuid"},"m":{"additionalProperties":{}}}}`, uint32(1<<32-1), "")
	f.Add(`{"type":"array","maxItems":-1,"minItems":1e999,"items":false}`, uint32(7), "é")
	f.Fuzz(func(t *testing.T, text string, seed uint32, label string) {
		schema, err := canon.Parse([]byte(text), canon.Lenient)
		if err != nil {
			return
		}
		got := synth.Body(schema, seed, label).AppendJSON(nil)
		if again := synth.Body(schema, seed, label).AppendJSON(nil); string(again) != string(got) {
			t.Fatalf("two bodies of one seed differ:\n%s\n%s", got, again)
		}
		if !canon.Valid(got) {
			t.Fatalf("not JSON: %s", got)
		}
	})
}

func BenchmarkBody(b *testing.B) {
	text, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		b.Fatal(err)
	}
	schema := parse(b, string(text)).Get("schemas").Get("synth.things.get")
	b.ReportAllocs()
	for b.Loop() {
		synth.Body(schema, 1, "synth.things.get:thing_a08ff4")
	}
}

func ExampleBody() {
	schema, _ := canon.Parse([]byte(`{"type":"object","properties":{"name":{"type":"string"},"created":{"type":"string","format":"date"}}}`), canon.Strict)
	fmt.Println(synth.Body(schema, 1, "users.get:user_1"))
	// Output: {"name":"14490702","created":"2026-01-01"}
}
