package canon_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

func parse(t testing.TB, text string) *canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text), canon.Lenient)
	if err != nil {
		t.Fatalf("Parse(%.200q): %v", text, err)
	}
	return v
}

func TestValue(t *testing.T) {
	v := parse(t, `{"n":1.50,"s":"é","b":true,"z":null,"a":[1,[2]],"o":{"k":false}}`)
	for _, c := range []struct {
		key  string
		kind canon.Kind
		text string
	}{
		{"n", canon.Number, "1.50"}, {"s", canon.String, "é"}, {"b", canon.Bool, ""}, {"z", canon.Null, ""},
		{"a", canon.Array, ""}, {"o", canon.Object, ""}, {"none", canon.Absent, ""},
	} {
		got := v.Get(c.key)
		if got.Kind() != c.kind || !got.Is(c.kind) || got.Text() != c.text {
			t.Errorf("%s is %s with text %q, want %s, %q", c.key, got.Kind(), got.Text(), c.kind, c.text)
		}
	}
	if !v.Get("b").True() || v.Get("o").Get("k").True() || v.Get("n").True() {
		t.Error("True is wrong")
	}
	if got := v.Get("n").Float(); got != 1.5 {
		t.Errorf("Float = %v", got)
	}
	if got := len(v.Get("a").Elems()); got != 2 {
		t.Errorf("%d elements", got)
	}
	if canon.Object.String() != "an object" || canon.Absent.String() != "nothing" {
		t.Error("kinds are misnamed")
	}
}

func TestNilValue(t *testing.T) {
	var v *canon.Value
	if v.Get("x") != nil || v.Text() != "" || v.Float() != 0 || v.True() || v.Elems() != nil || v.Members() != nil || v.String() != "null" {
		t.Error("a nil value does not answer as an absent one")
	}
	if got := v.With("a", canon.NewInt(1)).String(); got != `{"a":1}` {
		t.Errorf("With on nil = %s", got)
	}
}

func TestConstructors(t *testing.T) {
	v := canon.NewObject(
		canon.Member{Key: "i", Value: canon.NewInt(-5)},
		canon.Member{Key: "f", Value: canon.NewFloat(1e21)},
		canon.Member{Key: "gone", Value: nil},
		canon.Member{Key: "a", Value: canon.NewArray(canon.NewNull(), canon.NewBool(true), canon.NewBool(false))},
		canon.Member{Key: "i", Value: canon.NewNumber("1.0")},
		canon.Member{Key: "s", Value: canon.NewString("a\"\xed\xa0\x80\xff")},
	)
	want := `{"i":1.0,"f":1e+21,"a":[null,true,false],"s":"a\"\ud800` + "\uFFFD" + `"}`
	if v.String() != want {
		t.Errorf("got %s, want %s", v, want)
	}
	text, err := json.Marshal(map[string]*canon.Value{"v": canon.NewString("<")})
	if err != nil || len(text) == 0 {
		t.Errorf("Marshal: %s, %v", text, err)
	}
}

func TestWithoutPath(t *testing.T) {
	v, err := canon.Parse([]byte(`{"a":{"b":1,"c":[{"d":2}]},"e":3}`), canon.Strict)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path []string
		want string
	}{
		{[]string{"e"}, `{"a":{"b":1,"c":[{"d":2}]}}`},
		{[]string{"a", "b"}, `{"a":{"c":[{"d":2}]},"e":3}`},
		{[]string{"a", "x"}, v.String()},
		{[]string{"a", "c", "d"}, v.String()},
		{[]string{"x", "y"}, v.String()},
	} {
		if got := v.WithoutPath(c.path).String(); got != c.want {
			t.Errorf("%q: %s, want %s", c.path, got, c.want)
		}
	}
}

func TestWith(t *testing.T) {
	v := parse(t, `{"a":1,"b":2}`)
	for _, c := range []struct {
		key  string
		val  *canon.Value
		want string
	}{
		{"a", canon.NewInt(9), `{"a":9,"b":2}`},
		{"c", canon.NewInt(9), `{"a":1,"b":2,"c":9}`},
		{"a", nil, `{"b":2}`},
		{"c", nil, `{"a":1,"b":2}`},
	} {
		if got := v.With(c.key, c.val).String(); got != c.want {
			t.Errorf("With(%s, %s) = %s, want %s", c.key, c.val, got, c.want)
		}
	}
	if v.String() != `{"a":1,"b":2}` {
		t.Errorf("With changed its receiver: %s", v)
	}
}

func TestWideObject(t *testing.T) {
	v := parse(t, wide(40)+`,"k7":"again"}`)
	for i := range 40 {
		want := fmt.Sprint(i)
		if i == 7 {
			want = `"again"`
		}
		if got := v.Get(fmt.Sprintf("k%d", i)).String(); got != want {
			t.Errorf("k%d = %s, want %s", i, got, want)
		}
	}
	if v.Get("k40") != nil || len(v.Members()) != 40 {
		t.Errorf("%d members", len(v.Members()))
	}
}

func TestWalk(t *testing.T) {
	obj := []byte(`{"a":"x,}]\\","b\"":[{"c":"]"},2],"":{},"n":-1.5e3}`)
	var got []string
	canon.Members(obj, func(k, v []byte) bool {
		got = append(got, string(k)+" "+string(v))
		return true
	})
	want := []string{`"a" "x,}]\\"`, `"b\"" [{"c":"]"},2]`, `"" {}`, `"n" -1.5e3`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Members gave %q, want %q", got, want)
	}
	got = nil
	canon.Elements([]byte(`[1,"a,b",[],{"k":[1]},null]`), func(v []byte) bool {
		got = append(got, string(v))
		return len(got) < 4
	})
	if fmt.Sprint(got) != fmt.Sprint([]string{"1", `"a,b"`, "[]", `{"k":[1]}`}) {
		t.Errorf("Elements gave %q", got)
	}
	for _, text := range []string{`[]`, `{}`, `"{"`, `1`, ``} {
		canon.Members([]byte(text), func(k, v []byte) bool { t.Errorf("%s has the member %s", text, k); return true })
		canon.Elements([]byte(text), func(v []byte) bool { t.Errorf("%s has the element %s", text, v); return true })
	}
	if v, ok := canon.Lookup(obj, `b"`); !ok || string(v) != `[{"c":"]"},2]` {
		t.Errorf("Lookup = %s, %v", v, ok)
	}
	if _, ok := canon.Lookup(obj, "c"); ok {
		t.Error("Lookup finds a key of an inner object")
	}
}
