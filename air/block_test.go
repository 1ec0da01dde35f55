package air

import (
	"testing"
)

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
		want, _, err := readYAML("fuzz", src)
		if err != nil {
			t.Fatalf("the fast reader read %s, the library says %v", got, err)
		}
		if got.String() != want.String() {
			t.Fatalf("fast reader:\n%s\nlibrary:\n%s", got, want)
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
