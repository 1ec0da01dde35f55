package canon_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

// lazily wraps a text twice under keys that are put off: once alone, once among
// enough to make it long.
func lazily(text string) []byte {
	pad, long := strings.Repeat("x", 16<<10), strings.Repeat("y ", 300)
	return []byte(`{"pad":"` + pad + `", "later": ` + text + ` , "o":{"later":[ {"a\/b":` + text + `, "long":"` + long + `"},[` + text + `]]}, "again":{"later":` + text + `}}`)
}

func later(key string) bool { return key == "later" }

// FuzzParseLazy holds that nothing but time tells what was put off.
func FuzzParseLazy(f *testing.F) {
	for _, s := range []string{
		`{"type":"string"}`, `[1,2.50,{"a":{}},"\u00e9\ud83d"]`, `{"a":1,"a":2}`, `{"a":[1 2]}`, `7`, `"x"`, ``, `{"later":{"b":1}}`, `1e5`, `[`,
		strings.Repeat("[", 508) + strings.Repeat("]", 508), strings.Repeat("[", 511) + strings.Repeat("]", 511), wide(40) + "}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := lazily(text)
		for _, policy := range []canon.Policy{canon.Strict, canon.Lenient} {
			want, wantErr := canon.Parse(src, policy)
			got, err := canon.ParseLazy(src, policy, later)
			switch {
			case (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error():
				t.Fatalf("ParseLazy says %v, Parse says %v", err, wantErr)
			case err != nil:
				continue
			}
			whole := canon.Digest(got)
			if want := canon.Digest(want); whole != want || got.String() == "" {
				t.Fatalf("the digest before anything is read is %s, want %s", whole, want)
			}
			sameTree(t, got, want)
			if canon.Digest(got) != whole || string(canon.AppendIdentity(nil, got)) != string(canon.AppendIdentity(nil, want)) {
				t.Fatal("the digest or the identity differs once everything is read")
			}
		}
	})
}

func sameTree(t *testing.T, got, want *canon.Value) {
	t.Helper()
	if got.String() != want.String() || got.Kind() != want.Kind() || got.Text() != want.Text() {
		t.Fatalf("got %s, want %s", got, want)
	}
	if len(got.Elems()) != len(want.Elems()) || len(got.Members()) != len(want.Members()) {
		t.Fatalf("got %d and %d parts, want %d and %d", len(got.Elems()), len(got.Members()), len(want.Elems()), len(want.Members()))
	}
	for i, e := range want.Elems() {
		sameTree(t, got.Elems()[i], e)
	}
	for i, m := range want.Members() {
		if got.Members()[i].Key != m.Key || got.Get(m.Key) != got.Members()[i].Value {
			t.Fatalf("member %d is %q, want %q", i, got.Members()[i].Key, m.Key)
		}
		sameTree(t, got.Members()[i].Value, m.Value)
	}
}

// All who ask at once get one tree, since places in it may be told apart.
func TestParseLazyAtOnce(t *testing.T) {
	v, err := canon.ParseLazy(lazily(`{"b":[true]}`), canon.Strict, later)
	if err != nil {
		t.Fatal(err)
	}
	found := make([]*canon.Value, 8)
	var wg sync.WaitGroup
	for i := range found {
		wg.Go(func() { found[i] = v.Get("o").Get("later").Elems()[0].Get("a/b") })
	}
	wg.Wait()
	for _, f := range found {
		if f == nil || f != found[0] || f.String() != `{"b":[true]}` {
			t.Errorf("got %p %s, want %p as everyone", f, f, found[0])
		}
	}
	if got := v.Get("later").With("c", canon.NewInt(1)).WithoutPath([]string{"b"}).String(); got != `{"c":1}` {
		t.Errorf("changed, it is %s", got)
	}
}

// A long array is read in two halves, and mistakes in it are told as if it was not.
func TestParseLazyInHalves(t *testing.T) {
	var parts []string
	for range 600 {
		parts = append(parts, record(1), `{"text":"]},[{ \\\" ","later":[`+record(2)+`]}`, " [ [ ] , 7 ] ")
	}
	for _, c := range []struct {
		at   int
		part string
	}{
		{0, "{}"}, {0, "{"}, {10, `{"a":1,"a":2}`}, {10, "[}"}, {10, `"open`}, {850, "]"}, {900, "1 2"}, {950, "{}}"}, {1500, `{"a":1,"a":2}`},
		{1500, "{]"}, {1799, ""}, {1799, "nul"}, {1799, "[[[}]]]"}, {1000, strings.Repeat("[", 600)}, {1500, strings.Repeat("[", 510) + strings.Repeat("]", 510)},
	} {
		changed := slices.Clone(parts)
		changed[c.at] = c.part
		src := []byte(`{"operations": [ ` + strings.Join(changed, ",\n") + `], "more": [1]}`)
		want, wantErr := canon.Parse(src, canon.Strict)
		got, err := canon.ParseLazy(src, canon.Strict, later)
		switch {
		case (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error():
			t.Errorf("%q at %d: ParseLazy says %v, Parse says %v", c.part, c.at, err, wantErr)
		case err == nil && got.String() != want.String():
			t.Errorf("%q at %d: the trees differ", c.part, c.at)
		}
	}
}
