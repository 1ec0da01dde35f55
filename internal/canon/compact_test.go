package canon_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

func compact(t testing.TB, text string) string {
	t.Helper()
	got, err := canon.AppendCompact(nil, []byte(text), canon.Lenient)
	if err != nil {
		t.Fatalf("AppendCompact(%q): %v", text, err)
	}
	return string(got)
}

func TestAppendCompact(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`null`, `null`},
		{" \t\r\n true \n", `true`},
		{`{}`, `{}`},
		{`[ ]`, `[]`},
		{`{ "b" : 1 , "a" : [ 1 , 2 ] }`, `{"b":1,"a":[1,2]}`},
		{`[9007199254740993,1.10,1e400,-0,1E+2,0.0]`, `[9007199254740993,1.10,1e400,-0,1E+2,0.0]`},
		{`"\/ \u0041 \u00e9 \u2028 <>&"`, "\"/ A é \u2028 <>&\""},
		{`"\b\t\n\f\r\"\\"`, `"\b\t\n\f\r\"\\"`},
		{`"\u0008\u0009\u000a\u000c\u000d\u0022\u005C"`, `"\b\t\n\f\r\"\\"`},
		{`"\u0000\u001F\u007f"`, "\"\\u0000\\u001f\x7f\""},
		{`"\ud83d\ude00"`, `"😀"`},
		{`"\uD83D\uDE00 \uD83D"`, `"😀 \ud83d"`},
		{`"\ud83d"`, `"\ud83d"`},
		{`"\uDE00\uD83D"`, `"\ude00\ud83d"`},
		{`"\ud83d\ud83d\ude00"`, `"\ud83d😀"`},
		{`"\ud83d\u0041"`, `"\ud83dA"`},
		{`"\ud83d\\u0041"`, `"\ud83d\\u0041"`},
		{`"\ud83d\/"`, `"\ud83d/"`},
		{`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{`{"a":1,"\u0061":2}`, `{"a":2}`},
		{`{"a":{"x":1,"x":2},"b":0}`, `{"a":{"x":2},"b":0}`},
		{`{"A":1,"a":2}`, `{"A":1,"a":2}`},
		{`{"\ud800":1,"\uD800":2}`, `{"\ud800":2}`},
		{`{"":1,"":2}`, `{"":2}`},
	} {
		if got := compact(t, c.in); got != c.want {
			t.Errorf("AppendCompact(%s) = %s, want %s", c.in, got, c.want)
		}
		if got, err := canon.Parse([]byte(c.in), canon.Lenient); err != nil || got.String() != c.want {
			t.Errorf("Parse(%s) = %s (%v), want %s", c.in, got, err, c.want)
		}
	}
}

func TestAppendCompactKeepsDst(t *testing.T) {
	got, err := canon.AppendCompact([]byte("x"), []byte(` [1, 2] `), canon.Lenient)
	if err != nil || string(got) != "x[1,2]" {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = canon.AppendCompact([]byte("x"), []byte(`[1, 2`), canon.Lenient)
	if err == nil || string(got) != "x" {
		t.Errorf("after an error dst is %q, want it as it was (error %v)", got, err)
	}
}

func TestSyntaxErrors(t *testing.T) {
	deep := strings.Repeat("[", canon.MaxDepth)
	for _, c := range []struct {
		in     string
		offset int
		says   string
	}{
		{"", 0, "the text ends, want a value"},
		{"  ", 2, "the text ends, want a value"},
		{"\xef\xbb\xbf{}", 0, "a byte order mark, want a value"},
		{"nul", 3, "did you mean null?"},
		{"True", 0, "'T', want a value"},
		{"NaN", 0, "'N', want a value"},
		{"[1,]", 3, "']', want a value"},
		{"[1 2]", 3, "'2' in an array, want , or ]"},
		{"[1", 2, "the text ends in an array"},
		{"{1:2}", 1, "'1' in an object, want a key in double quotes"},
		{`{"a" 1}`, 5, "'1' after a key, want :"},
		{`{"a":1,}`, 7, "'}' in an object, want a key"},
		{`{"a":1 "b"}`, 7, `'"' in an object, want , or }`},
		{`{"a":`, 5, "the text ends, want a value"},
		{"1 2", 2, "'2' after the value"},
		{"[]]", 2, "']' after the value"},
		{"01", 0, "leading zero"},
		{"-", 1, "the text ends in a number"},
		{"-x", 1, "'x' in a number"},
		{"1.", 2, "want a digit"},
		{"[1.e3]", 3, "want a digit"},
		{"1e+", 3, "want a digit"},
		{"+1", 0, "'+', want a value"},
		{".5", 0, "'.', want a value"},
		{`"abc`, 4, "ends inside a string that began at byte 0"},
		{"\"a\nb\"", 2, "control character 0x0a"},
		{"\"12345678\x01\"", 9, "control character 0x01"},
		{`"\x"`, 1, "unknown escape"},
		{`"\`, 1, "ends inside an escape"},
		{`"\u12g4"`, 1, "without four hexadecimal digits"},
		{`"\u12`, 1, "without four hexadecimal digits"},
		{"\"\xff\"", 1, "byte 0xff in a string is not UTF-8"},
		{"\"\xed\xa0\x80\"", 1, "is not UTF-8"},
		{`"\/` + "\xc3\"", 3, "is not UTF-8"},
		{deep + "[", canon.MaxDepth, "nested deeper than 512"},
		{strings.Repeat(`{"a":`, canon.MaxDepth+1), canon.MaxDepth * 5, "nested deeper than 512"},
		{"/* c */1", 0, "'/', want a value"},
		{"\x00", 0, "want a value"},
	} {
		_, compactErr := canon.AppendCompact(nil, []byte(c.in), canon.Lenient)
		_, parseErr := canon.Parse([]byte(c.in), canon.Strict)
		for _, err := range []error{compactErr, parseErr} {
			var syntax *canon.SyntaxError
			if !errors.As(err, &syntax) {
				t.Errorf("%.40q: error %v, want a *SyntaxError", c.in, err)
				continue
			}
			if syntax.Offset != c.offset || !strings.Contains(syntax.Error(), c.says) {
				t.Errorf("%.40q: %v, want byte %d and %q", c.in, err, c.offset, c.says)
			}
		}
	}
	if _, err := canon.AppendCompact(nil, []byte(deep+strings.Repeat("]", canon.MaxDepth)), canon.Lenient); err != nil {
		t.Errorf("nesting of %d: %v", canon.MaxDepth, err)
	}
}

func TestStrict(t *testing.T) {
	for _, c := range []struct {
		in     string
		offset int // -1: no error
	}{
		{`{"a":1,"b":1}`, -1},
		{`{"a":{"a":1},"b":[{"a":1},{"a":2}]}`, -1},
		{`{"a":1, "a":2}`, 8},
		{`[{"b":{"a":1,"c":2,"\u0061":2}}]`, 19},
		{wide(100) + `,"k50":1}`, len(wide(100)) + 1},
	} {
		got, err := canon.AppendCompact(nil, []byte(c.in), canon.Strict)
		var syntax *canon.SyntaxError
		switch {
		case c.offset < 0 && (err != nil || string(got) != c.in):
			t.Errorf("%s: %s, %v", c.in, got, err)
		case c.offset >= 0 && (!errors.As(err, &syntax) || syntax.Offset != c.offset || !strings.Contains(err.Error(), "stands twice")):
			t.Errorf("%.60s: error %v, want a duplicate key at byte %d", c.in, err, c.offset)
		}
	}
}

// wide opens an object of n keys k0, k1, ...
func wide(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"k%d":%d`, i, i)
	}
	return b.String()
}

// The list, its filter and the hash table find the same duplicates.
func TestDuplicatesInWideObjects(t *testing.T) {
	for _, n := range []int{1, 2, 22, 23, 24, 25, 31, 32, 33, 64, 500} {
		for _, again := range []int{0, n / 2, n - 1} {
			in := wide(n) + fmt.Sprintf(`,"k%d":"again"}`, again)
			want := strings.Replace(wide(n)+"}", fmt.Sprintf(`"k%d":%d`, again, again), fmt.Sprintf(`"k%d":"again"`, again), 1)
			if got := compact(t, in); got != want {
				t.Errorf("%d keys, k%d again: got %.80s, want %.80s", n, again, got, want)
			}
		}
		in := "[" + wide(n) + "}," + wide(n) + `,"n":` + wide(n) + "}}]"
		if got := compact(t, in); got != in {
			t.Errorf("%d keys, none twice: got %.80s", n, got)
		}
	}
}

func TestLineColumn(t *testing.T) {
	text := []byte("{\n  \"a\": 1,\n}\n")
	for _, c := range []struct{ offset, line, column int }{
		{0, 1, 1}, {1, 1, 2}, {2, 2, 1}, {12, 3, 1}, {99, 4, 1},
	} {
		if line, column := canon.LineColumn(text, c.offset); line != c.line || column != c.column {
			t.Errorf("offset %d is %d:%d, want %d:%d", c.offset, line, column, c.line, c.column)
		}
	}
}

func TestIsNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "-0": true, "10": true, "1.5": true, "1e9": true, "-1.5E-9": true,
		"": false, "-": false, "01": false, "1.": false, ".1": false, "1e": false, "+1": false, "0x1": false, "1 ": false, "Infinity": false,
	} {
		if got := canon.IsNumber(text); got != want {
			t.Errorf("IsNumber(%q) = %v", text, got)
		}
	}
}

func TestAllocations(t *testing.T) {
	src := []byte(record(1))
	dst := make([]byte, 0, 2*len(src))
	if n := testing.AllocsPerRun(200, func() {
		if _, err := canon.AppendCompact(dst[:0], src, canon.Lenient); err != nil {
			t.Fatal(err)
		}
	}); n > poolAllocs {
		t.Errorf("AppendCompact of a compact object allocates %v times, want %d", n, poolAllocs)
	}
	spelled := []byte(`{ "a\/b" : "\u00e9\ud83d\ude00" }`)
	if n := testing.AllocsPerRun(200, func() {
		if _, err := canon.AppendCompact(dst[:0], spelled, canon.Lenient); err != nil {
			t.Fatal(err)
		}
	}); n > poolAllocs {
		t.Errorf("AppendCompact of an object to respell allocates %v times, want %d", n, poolAllocs)
	}
	if n := testing.AllocsPerRun(200, func() {
		canon.Members(src, func(_, _ []byte) bool { return true })
	}); n > 0 {
		t.Errorf("Members allocates %v times, want 0", n)
	}
}
