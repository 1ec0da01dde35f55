package air

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func readBlock(src []byte) (v *Value, shared, ok bool) {
	r := newBlockReader(src, false)
	v, ok = r.document()
	return v, r.shared, ok
}

// A large text of nothing but duplicate keys is not read to its end, which
// would take the YAML library seconds.
func TestGarbageIsNotReadToItsEnd(t *testing.T) {
	text := strings.Repeat("x y: z [ {\n", 200_000)
	for _, text := range []string{text, "a:\n  - b:\n" + strings.ReplaceAll("\n"+text, "\n", "\n      ") + "\n"} {
		_, err := Parse("c.yaml", []byte(text))
		var load *LoadError
		if !errors.As(err, &load) || len(load.Faults) != maxFaults || load.More == 0 || load.More > 2*firstLook {
			t.Fatalf("error %.200v", err)
		}
		if f := load.Faults[0]; !strings.Contains(f.Msg, `the key "x y" stands twice in one mapping, first on line `) {
			t.Errorf("first fault %v", f)
		}
	}
	if v, err := ReadTree("c.yaml", []byte(text)); err != nil || len(v.Members()) != 1 {
		t.Errorf("a lenient reader says %v", err)
	}
	// A few duplicates among many keys are all told.
	var many strings.Builder
	for i := range 3 * firstLook {
		fmt.Fprintf(&many, "k%d: v\n", i)
	}
	many.WriteString("k1: v\nk2: v\n")
	if _, err := Parse("c.yaml", []byte(many.String())); err == nil || !strings.HasPrefix(err.Error(), "c.yaml: 2 faults\n") {
		t.Errorf("error %.200v", err)
	}
}

// FuzzBlockReader holds the fast reader to what the YAML library reads.
func FuzzBlockReader(f *testing.F) {
	for _, s := range blockSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, _, ok := readBlock(src)
		if !ok {
			return
		}
		want, _, err := readYAML("fuzz", src, nil)
		if err != nil {
			t.Fatalf("the fast reader read %s, the library says %v", got, err)
		}
		if got.String() != want.String() {
			t.Fatalf("fast reader:\n%s\nlibrary:\n%s", got, want)
		}
	})
}

// FuzzLenientBlockReader does the same for texts with duplicate keys.
func FuzzLenientBlockReader(f *testing.F) {
	for _, s := range blockSeeds {
		f.Add([]byte(s + "d: 1\nd: 2\n"))
	}
	for _, s := range []string{"a: .inf\n", "a:\n- .nan\n- b\na: 1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, ok := newBlockReader(src, true).document()
		if !ok {
			return
		}
		want, _, err := readYAML("fuzz", src, func(DuplicateKey) {})
		if err != nil || got.String() != want.String() {
			t.Fatalf("fast reader:\n%s\nlibrary:\n%s, %v", got, want, err)
		}
	})
}

var blockSeeds = []string{
	"a: b\n",
	"# c\na:\n  b: 1\n\n  c: [] \nd: {}\n",
	"a:\n  - x\n  - y: 1\n    z: 2\n  - - n\n    - m\n  -\n    q: r\n  -\nb:\n- x\n- y\n",
	"a: text that\n  goes on\n\n\n  and on\nb: 2\n",
	"a: \"x \\\n  y\\n \\\n\n  z  \n  w\\x41\\u00e9\\\"\"\nb: 'it''s\n\n  folded  \n  here'\n",
	"a: |\n  x\n\n   y\n  z\n\nb: |-\n\n  q\nc: |+\n  w\n\nd: >\n  f\n  o\n\n  l\n   m\n\n  n\ne: >-\n   t\n   u\n",
	"a: &x\n  b: 1\nc: *x\nd: &y text\ne: *y\nf: &z\n- 1\n- *y\ng: *z\n",
	"\"k\": v\n'l': w\n1: x\n0x10: y\ntrue: z\na:b: c\nurl: http://x/y#z\n",
	"a: - b\n", "a: b: c\n", "a: b # c\n", "a: 0777\nb: 0o17\nc: yes\nd: ~\ne:\nf: .5\ng: -\n",
	"a:\n   b: 1\n  c: 2\n", "a: 1\na: 2\n", "- a\n", "a: !x b\n", "<<: a\n", "a:\n  # c\n  b: 1\n# d\nc: |\n  x\n # no\nd: 1\n",
	"key with spaces : v\n-x: 1\n--- : 2\n", "a: |\n    x\n  y\nb: 1\n", "? a\n: b\n", "a: *x\n", "a: &x\n  b: *x\n",
}

// TestBlockReaderOnEmittedYAML: trees of every kind of text, as the YAML library
// writes them, are read fast and unchanged.
func TestBlockReaderOnEmittedYAML(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for i := range 400 {
		want := map[string]any{"k": randomValue(random, 4), "l": randomValue(random, 3)}
		var buf bytes.Buffer
		enc := yaml.NewEncoder(&buf)
		enc.SetIndent(2 + 2*(i%2))
		if err := enc.Encode(want); err != nil {
			t.Fatal(err)
		}
		slow, _, err := readYAML("t", buf.Bytes(), nil)
		if err != nil {
			continue // the library writes what it cannot read
		}
		fast, _, ok := readBlock(buf.Bytes())
		if !ok {
			continue // tabs and controls are not for it
		}
		if fast.String() != slow.String() {
			t.Fatalf("fast reader %s\nlibrary %s\n%s", fast, slow, buf.Bytes())
		}
		read++
	}
	if read < 50 {
		t.Errorf("%d trees read fast, want at least 50", read)
	}
}

var words = []string{
	"a", "b: c", "x #y", "- z", "\n", "\n\n", " ", "  ", "é", "😀", "'", "\"", "\\", "long enough to be folded when several stand together",
	"1", "true", "null", "0777", "{", "[", "&", "*", ":", "#", "!", "|", ">", "%", "@", "key:", "\u2028", "~", "...", "---",
}

func randomText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(9) {
		b.WriteString(words[random.IntN(len(words))])
		if random.IntN(2) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func randomValue(random *rand.Rand, depth int) any {
	kind := random.IntN(8)
	if depth == 0 {
		kind = 7
	}
	switch kind {
	case 0, 1, 2:
		m := map[string]any{}
		for range random.IntN(5) {
			m[randomText(random)] = randomValue(random, depth-1)
		}
		return m
	case 3, 4:
		list := []any{}
		for range random.IntN(5) {
			list = append(list, randomValue(random, depth-1))
		}
		return list
	case 5:
		return random.IntN(100)
	case 6:
		return nil
	}
	return randomText(random)
}

func TestBlockReaderReads(t *testing.T) {
	for _, s := range blockSeeds[:8] {
		if _, _, ok := readBlock([]byte(s)); !ok {
			t.Errorf("the fast reader leaves %q to the library", s)
		}
	}
}
