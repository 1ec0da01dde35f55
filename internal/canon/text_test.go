package canon_test

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/anvil-sim/anvil/internal/canon"
)

// Spellings of ECMAScript's Number::toString.
func TestAppendFloat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {1, "1"}, {-1.5, "-1.5"}, {0.1, "0.1"},
		{1e21, "1e+21"}, {999999999999999900000, "999999999999999900000"}, {-1e21, "-1e+21"},
		{123456789012345680000, "123456789012345680000"}, {9007199254740993, "9007199254740992"},
		{1e-6, "0.000001"}, {1e-7, "1e-7"}, {-1.25e-7, "-1.25e-7"}, {5e-324, "5e-324"},
		{1.7976931348623157e308, "1.7976931348623157e+308"}, {1e100, "1e+100"}, {1.5e-10, "1.5e-10"},
		{math.NaN(), "null"}, {math.Inf(1), "null"}, {math.Inf(-1), "null"},
	} {
		if got := string(canon.AppendFloat(nil, c.f)); got != c.want {
			t.Errorf("AppendFloat(%g) = %s, want %s", c.f, got, c.want)
		}
	}
	if got := string(canon.AppendFloat([]byte("1e-07"), 1e-7)); got != "1e-071e-7" {
		t.Errorf("AppendFloat changes what dst held: %s", got)
	}
}

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"":                          `""`,
		"a/b<>&'":                   `"a/b<>&'"`,
		"\b\t\n\f\r\"\\":            `"\b\t\n\f\r\"\\"`,
		"\x00\x1f\x7f":              "\"\\u0000\\u001f\x7f\"",
		"é\u2028\uFFFD😀":            "\"é\u2028\uFFFD😀\"",
		"\xed\xa0\x80x\xed\xbf\xbf": `"\ud800x\udfff"`,
		"\xff\xed\xa0":              "\"\uFFFD\uFFFD\uFFFD\"",
	} {
		if got := string(canon.AppendString(nil, in)); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got, want)
		}
		if got := string(canon.AppendString(nil, []byte(in))); got != want {
			t.Errorf("AppendString of bytes %q = %s, want %s", in, got, want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for in, want := range map[string]string{
		`""`:                         "",
		`"plain é"`:                  "plain é",
		`"\"\\\/\b\f\n\r\t\u0041"`:   "\"\\/\b\f\n\r\tA",
		`"\ud83d\ude00"`:             "😀",
		`"\ud83d \ude00"`:            "\xed\xa0\xbd \xed\xb8\x80",
		`"\uDFFF\ud800\uDBFF\uDFFF"`: "\xed\xbf\xbf\xed\xa0\x80\U0010FFFF",
	} {
		if got := canon.Unquote([]byte(in)); got != want {
			t.Errorf("Unquote(%s) = %q, want %q", in, got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, s := range []string{"", "abc", "é€", "a😀b", "\U0010FFFF\uFFFF"} {
		if got, want := slices.Collect(canon.Units(s)), utf16.Encode([]rune(s)); !slices.Equal(got, want) {
			t.Errorf("Units(%q) = %x, want %x", s, got, want)
		}
	}
	if got := slices.Collect(canon.Units("\xed\xa0\xbdx\xff")); !slices.Equal(got, []uint16{0xD83D, 'x', 0xFFFD}) {
		t.Errorf("Units of a lone surrogate and a bad byte = %x", got)
	}
	for u := range canon.Units("😀") {
		if u != 0xD83D {
			t.Errorf("first unit %x", u)
		}
		break
	}
}

func TestNumberKey(t *testing.T) {
	same := [][]string{
		{"0", "-0", "0.0", "0e5", "-0.00E-7", "0e999999999999"},
		{"1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "100e-2"},
		{"-1.5", "-1.50", "-15e-1", "-0.15e+1"},
		{"9007199254740993", "9007199254740993.0", "9007199254740.993e3"},
		{"9007199254740992"},
		{"1e400", "10e399", "1E+400"},
		{"1e-400", "0.1e-399"},
		{"1e401"},
		{"1e9999999999999999999999", "10e9999999999999999999998"},
	}
	keys := map[string]int{}
	for i, group := range same {
		for _, n := range group {
			key := canon.NumberKey(n)
			if j, ok := keys[key]; ok && j != i {
				t.Errorf("%s shares the key %s with %s", n, key, same[j][0])
			}
			keys[key] = i
			if key != canon.NumberKey(group[0]) {
				t.Errorf("the keys of %s and %s are %s and %s, want one", n, group[0], key, canon.NumberKey(group[0]))
			}
		}
	}
}

// Two numbers share a key exactly when they are equal as rational numbers.
func FuzzNumberKey(f *testing.F) {
	for _, s := range [][2]string{{"1", "1.0"}, {"0", "-0"}, {"1e5", "100000"}, {"0.10", "1e-1"}, {"-2", "2"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := rational(a), rational(b)
		if x == nil || y == nil {
			return
		}
		if got, want := canon.NumberKey(a) == canon.NumberKey(b), x.Cmp(y) == 0; got != want {
			t.Errorf("%s and %s: keys %s and %s, equal numbers: %v", a, b, canon.NumberKey(a), canon.NumberKey(b), want)
		}
	})
}

// rational is the exact value of a short JSON number, else nil.
func rational(s string) *big.Rat {
	if len(s) > 24 || !canon.IsNumber(s) {
		return nil
	}
	if f, ok := new(big.Float).SetString(s); !ok || f.MantExp(nil) > 4000 || f.MantExp(nil) < -4000 {
		return nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil
	}
	return r
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"b", "\xed\xa0\x80", "é\xff", "😀\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lit := canon.AppendString(nil, s)
		got, err := canon.AppendCompact(nil, lit, canon.Strict)
		if err != nil {
			t.Fatalf("AppendString(%q) = %s: %v", s, lit, err)
		}
		if again := canon.AppendString(nil, canon.Unquote(got)); string(again) != string(got) {
			t.Errorf("%s unquoted and quoted is %s", got, again)
		}
	})
}
