package canon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/anvil-sim/anvil/internal/canon"
)

// The two oracles, encoding/json and jsontext, differ from the policy in known
// ways only: the first lets bad UTF-8 through, the second refuses lone
// surrogates, and both read deeper nesting.
func FuzzAgainstOracles(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.50,-3e4,true,null,"x\u00e9\/"]}`, ` [ ] `, `{"a":1,"a":2,"b":{"c":1,"c":1}}`,
		`"\ud83d\ude00\ud83d"`, "\"\xff\"", `[01]`, `{"a"}`, "nul", `"` + "\x01" + `"`, `1e400`, `{"":{"":{}}}`,
		strings.Repeat("[", 600) + strings.Repeat("]", 600), wide(30) + `,"k3":0}`, "\ufeff1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := canon.AppendCompact(nil, text, canon.Lenient)
		tree, parseErr := canon.Parse(text, canon.Lenient)
		if (err == nil) != (parseErr == nil) {
			t.Fatalf("AppendCompact says %v, Parse says %v", err, parseErr)
		}
		checkValidity(t, text, err)
		if err != nil {
			checkError(t, text, err, parseErr)
			return
		}
		if tree.String() != string(got) {
			t.Fatalf("AppendCompact gives %s, Parse gives %s", got, tree)
		}
		if again, err := canon.AppendCompact(nil, got, canon.Strict); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("compact text is not its own canonical spelling: %s, %s, %v", got, again, err)
		}
		if want, ok := oracleSpelling(text); ok && !bytes.Equal(want, got) {
			t.Fatalf("got %s, jsontext gives %s", got, want)
		}
		checkWalk(t, got, tree)
	})
}

func checkValidity(t *testing.T, text []byte, err error) {
	t.Helper()
	deep := err != nil && strings.Contains(err.Error(), "nested deeper")
	if std := json.Valid(text); std != (err == nil) && !deep && (!std || utf8.Valid(text)) {
		t.Fatalf("encoding/json says valid is %v, canon says %v", std, err)
	}
	value := jsontext.Value(text)
	exp := value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(false))
	if exp != (err == nil) && !deep && (exp || !bytes.Contains(bytes.ToLower(text), []byte(`\ud`))) {
		t.Fatalf("jsontext says valid is %v, canon says %v", exp, err)
	}
}

func checkError(t *testing.T, text []byte, errs ...error) {
	t.Helper()
	for _, err := range errs {
		var syntax *canon.SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(text) {
			t.Fatalf("error %#v for a text of %d bytes", err, len(text))
		}
	}
	if errs[0].Error() != errs[1].Error() {
		t.Fatalf("AppendCompact says %v, Parse says %v", errs[0], errs[1])
	}
}

// oracleSpelling spells text again from jsontext's tokens. Not ok when the text
// has a duplicate key or a lone surrogate, where jsontext has no answer.
func oracleSpelling(text []byte) ([]byte, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	var out []byte
	for {
		tok, err := dec.ReadToken()
		if err == io.EOF {
			return out, true
		}
		if err != nil {
			return nil, false
		}
		out = appendToken(out, dec, tok)
	}
}

func appendToken(out []byte, dec *jsontext.Decoder, tok jsontext.Token) []byte {
	kind := tok.Kind()
	if n := len(out); n > 0 && kind != '}' && kind != ']' && out[n-1] != '{' && out[n-1] != '[' {
		sep := byte(',')
		if parent, length := dec.StackIndex(dec.StackDepth()); kind != '{' && kind != '[' && parent == '{' && length%2 == 0 {
			sep = ':'
		} else if kind == '{' || kind == '[' {
			if parent, length := dec.StackIndex(dec.StackDepth() - 1); parent == '{' && length%2 == 0 {
				sep = ':'
			}
		}
		out = append(out, sep)
	}
	if kind == '"' {
		out, _ = jsontext.AppendQuote(out, tok.String())
		return out
	}
	return append(out, tok.String()...)
}

// checkWalk compares walking compact text with the tree.
func checkWalk(t *testing.T, text []byte, v *canon.Value) {
	t.Helper()
	i := 0
	switch v.Kind() {
	case canon.Object:
		canon.Members(text, func(key, val []byte) bool {
			m := v.Members()[i]
			if canon.Unquote(key) != m.Key || string(val) != m.Value.String() {
				t.Fatalf("member %d is %s: %s, want %q: %s", i, key, val, m.Key, m.Value)
			}
			if found, ok := canon.Lookup(text, m.Key); !ok || !bytes.Equal(found, val) {
				t.Fatalf("Lookup(%q) = %s, %v, want %s", m.Key, found, ok, val)
			}
			checkWalk(t, val, m.Value)
			i++
			return i < 64
		})
		if want := min(64, len(v.Members())); i != want {
			t.Fatalf("%d members, want %d", i, want)
		}
	case canon.Array:
		canon.Elements(text, func(val []byte) bool {
			if e := v.Elems()[i]; string(val) != e.String() {
				t.Fatalf("element %d is %s, want %s", i, val, e)
			}
			checkWalk(t, val, v.Elems()[i])
			i++
			return i < 64
		})
		if want := min(64, len(v.Elems())); i != want {
			t.Fatalf("%d elements, want %d", i, want)
		}
	}
}

// The seeds of the fuzz test are read by every test run; this holds that the
// oracle itself spells what is expected.
func TestOracle(t *testing.T) {
	got, ok := oracleSpelling([]byte(` { "a" : [ 1.50 , { } , "\u00e9" ] , "b" : { "c" : null } } `))
	if want := `{"a":[1.50,{},"é"],"b":{"c":null}}`; !ok || string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, ok := oracleSpelling([]byte(`{"a":1,"a":2}`)); ok {
		t.Error("the oracle takes a duplicate key")
	}
}

func ExampleAppendCompact() {
	text, err := canon.AppendCompact(nil, []byte(`{ "price" : 1.10, "id": 9007199254740993 }`), canon.Lenient)
	fmt.Println(string(text), err)
	_, err = canon.AppendCompact(nil, []byte(`{"id": 1, "id": 2}`), canon.Strict)
	fmt.Println(err)
	// Output:
	// {"price":1.10,"id":9007199254740993} <nil>
	// invalid JSON at byte 10: the key "id" stands twice in one object
}
