package canon_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

func TestAppendDigestForm(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"b":1.0,"a":[1e3,9007199254740993,1e400],"A":"\/"}`, `{"A":"/","a":[1000,9007199254740992,null],"b":1}`},
		{`{"10":1,"9":2,"a":3,"01":4,"-1":5,"1.5":6}`, `{"9":2,"10":1,"-1":5,"01":4,"1.5":6,"a":3}`},
		{`{"4294967295":1,"4294967294":2,"0":3}`, `{"0":3,"4294967294":2,"4294967295":1}`},
		{`{"\uffff":1,"😀":2,"z":3}`, `{"z":3,"😀":2,"` + "\uffff" + `":1}`},
		{`{"o":{"d":{"y":1,"x":2}}}`, `{"o":{"d":{"x":2,"y":1}}}`},
		{`[null,true,"\ud800"]`, `[null,true,"\ud800"]`},
		{`-0`, `0`},
	} {
		if got := string(canon.AppendDigestForm(nil, parse(t, c.in))); got != c.want {
			t.Errorf("digest form of %s is %s, want %s", c.in, got, c.want)
		}
	}
	const empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" // sha256 of {}
	if got := canon.Digest(canon.NewObject()); got != empty {
		t.Errorf("Digest({}) = %s, want %s", got, empty)
	}
}

func TestAppendIdentity(t *testing.T) {
	equal := [][2]string{
		{`{"a":1,"b":[1.0]}`, `{"b":[1],"a":1e0}`},
		{`{"a":1,"a":2}`, `{"a":2}`},
		{`"\u0041"`, `"A"`},
	}
	for _, c := range equal {
		a, b := canon.AppendIdentity(nil, parse(t, c[0])), canon.AppendIdentity(nil, parse(t, c[1]))
		if string(a) != string(b) {
			t.Errorf("%s and %s have the identities %s and %s", c[0], c[1], a, b)
		}
	}
	different := [][2]string{
		{`[1,2]`, `[2,1]`}, {`1`, `"1"`}, {`[[]]`, `[]`}, {`{}`, `[]`}, {`null`, `{"a":null}`},
		{`9007199254740993`, `9007199254740992`}, {`{"a":1}`, `{"A":1}`}, {`[1,23]`, `[12,3]`}, {`true`, `"true"`},
	}
	for _, c := range different {
		a, b := canon.AppendIdentity(nil, parse(t, c[0])), canon.AppendIdentity(nil, parse(t, c[1]))
		if string(a) == string(b) {
			t.Errorf("%s and %s share the identity %s", c[0], c[1], a)
		}
	}
}

func unitOrder(a, b string) int {
	return slices.CompareFunc(slices.Collect(canon.Units(a)), slices.Collect(canon.Units(b)), cmp.Compare)
}

func TestCompareUTF16(t *testing.T) {
	sorted := []string{
		"", "A", "Z", "a", "aa", "a😀", "a\uE000", "b", "é", "\u2028", "\xed\x9f\xbf",
		"\xed\xa0\x80",             // D800
		"\U00010000",               // D800 DC00
		"\xed\xa0\xbd",             // D83D
		"\xed\xa0\xbda",            // D83D 0061
		"😀",                        // D83D DE00
		"😀a",                       //
		"\xed\xa0\xbd\xed\xbf\xbe", // D83D DFFE, as two surrogates
		"\U0010FFFF",               // DBFF DFFF
		"\xed\xbf\xbf",             // DFFF
		"\uE000", "\uFFFF",
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := canon.CompareUTF16(a, b), cmp.Compare(i, j); got != want {
				t.Errorf("CompareUTF16(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func FuzzCompareUTF16(f *testing.F) {
	f.Add("a😀", "a\uE000")
	f.Add("\xed\xa0\xbd", "😀")
	f.Add("\xff", "\xed")
	f.Fuzz(func(t *testing.T, a, b string) {
		if got, want := canon.CompareUTF16(a, b), unitOrder(a, b); got != want {
			t.Errorf("CompareUTF16(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}
