package air

import (
	"strings"
	"testing"
)

// TestPlainScalars is the YAML 1.2 core schema, read both ways.
func TestPlainScalars(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"0", "0"}, {"0777", "777"}, {"-0777", "-777"}, {"+12", "12"}, {"0o17", "15"}, {"0o18", `"0o18"`}, {"-0o17", `"-0o17"`},
		{"0x1F", "31"}, {"0xff", "255"}, {"0xFFFFFFFFFFFFFFFFFF", "4722366482869645213695"}, {"0b11", `"0b11"`}, {"0o", `"0o"`}, {"0x", `"0x"`},
		{"123456789012345678901", "123456789012345678901"}, {"1.0", "1.0"}, {"1.10", "1.10"}, {"1e3", "1000"}, {"1E+3", "1000"}, {"1E21", "1e+21"},
		{"1.", "1"}, {".5", "0.5"}, {"-.5", "-0.5"}, {"+.5e-3", "0.0005"}, {"00.50", "0.50"}, {"1.e2", "100"}, {"-0", "-0"}, {"1e400", "1e400"},
		{"1_000", `"1_000"`}, {"1,5", `"1,5"`}, {"1.2.3", `"1.2.3"`}, {"1e", `"1e"`}, {".", `"."`}, {"+", `"+"`}, {"-x", `"-x"`}, {".e3", `".e3"`},
		{"yes", `"yes"`}, {"no", `"no"`}, {"on", `"on"`}, {"off", `"off"`}, {"y", `"y"`}, {"Yes", `"Yes"`},
		{"true", "true"}, {"True", "true"}, {"TRUE", "true"}, {"tRUE", `"tRUE"`}, {"false", "false"}, {"False", "false"}, {"FALSE", "false"},
		{"null", "null"}, {"Null", "null"}, {"NULL", "null"}, {"~", "null"}, {"nULL", `"nULL"`}, {"", "null"},
		{"2026-01-01", `"2026-01-01"`}, {"2026-01-01T00:00:00Z", `"2026-01-01T00:00:00Z"`}, {"12:30:45", `"12:30:45"`}, {"190:20:30", `"190:20:30"`},
		{".inf", ""}, {"-.Inf", ""}, {"+.INF", ""}, {".nan", ""}, {".NaN", ""}, {"-.nan", `"-.nan"`}, {"inf", `"inf"`}, {"NaN", `"NaN"`},
	} {
		src := []byte("k: " + tt.text + "\n")
		v, _, err := readYAML("t", src, nil)
		if tt.want == "" {
			if err == nil || !strings.Contains(err.Error(), "t:1: k: the number "+tt.text+", which JSON cannot carry, want a number") {
				t.Errorf("%q: error %v", tt.text, err)
			}
			if _, _, ok := readBlock(src); ok {
				t.Errorf("%q: the fast reader takes it", tt.text)
			}
			continue
		}
		if err != nil || v.Get("k").String() != tt.want {
			t.Errorf("%q: %v, %v, want %s", tt.text, v, err, tt.want)
		}
		if b, _, ok := readBlock(src); ok && b.String() != v.String() {
			t.Errorf("%q: fast reader %v, want %v", tt.text, b, v)
		}
	}
}

func TestYAMLTrees(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"json", `{"a": [1, 2.0, "x\ty", null], "b": {}}`, `{"a":[1,2.0,"x\ty",null],"b":{}}`},
		{"flow", "{a: [1, yes], 'b': \"c\"}\n", `{"a":[1,"yes"],"b":"c"}`},
		{"quoted scalars are text", "a: '1'\nb: \"true\"\nc: |-\n  5\n", `{"a":"1","b":"true","c":"5"}`},
		{"core tags", "a: !!str 1\nb: !!int 2\nc: !!float 3\nd: !!map {}\ne: !!seq []\nf: !!null ~\n", `{"a":"1","b":2,"c":3,"d":{},"e":[],"f":null}`},
		{"keys by value", "200: a\n0x10: b\ntrue: c\n1.50: d\n", `{"200":"a","16":"b","true":"c","1.50":"d"}`},
		{"key order", "z: 1\n\"10\": 2\na: 3\n", `{"z":1,"10":2,"a":3}`},
		{"anchors", "a: &x {b: 1}\nc: *x\nd: [*x, &y 5, *y]\n&k e: *k\n", `{"a":{"b":1},"c":{"b":1},"d":[{"b":1},5,5],"e":"e"}`},
		{"an anchor set again", "a: &x 1\nb: *x\nc: &x 2\nd: *x\n", `{"a":1,"b":1,"c":2,"d":2}`},
		{"document start", "---\na: 1\n...\n", `{"a":1}`},
		{"quoted merge sign", "'<<': 1\n", `{"<<":1}`},
	} {
		v, err := parseTree(tt.name+".yaml", []byte(tt.src), nil)
		if err != nil || v.String() != tt.want {
			t.Errorf("%s: %v, %v, want %s", tt.name, v, err, tt.want)
		}
	}
	v, err := parseTree("t", []byte("a: &x\n  b: 1\nc: *x\n"), nil)
	if err != nil || v.Get("a") != v.Get("c") {
		t.Errorf("an alias is not shared: %v, %v", v, err)
	}
}

func TestTreeFaults(t *testing.T) {
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		c := string(rune('0' + i))
		d := string(rune('1' + i))
		bomb += "a" + d + ": &a" + d + " [" + strings.TrimSuffix(strings.Repeat("*a"+c+",", 10), ",") + "]\n"
	}
	nest := "a: &a0 {x: 1}\n"
	for i := range 3 {
		c, d := string(rune('0'+i)), string(rune('1'+i))
		nest += "b" + d + ": &a" + d + " " + strings.Repeat("[", 200) + "*a" + c + strings.Repeat("]", 200) + "\n"
	}
	for _, tt := range []struct{ name, src, want string }{
		{"t.yaml", "", "t.yaml: an empty file, want a contract as YAML or JSON"},
		{"t.yaml", " \n\t\n", "t.yaml: an empty file, want a contract as YAML or JSON"},
		{"t.yaml", "# only a comment\n", "t.yaml: no document, want a contract as YAML or JSON"},
		{"t.yaml", "a: 1\n---\nb: 2\n", "t.yaml:2: a second YAML document, want one"},
		{"t.yaml", "a: 1\nb: \xff\n", "t.yaml:2: bytes that are not UTF-8"},
		{"t.yaml", "a:\n\tb: 1\n", "t.yaml:2: not YAML: found character that cannot start any token"},
		{"t.yaml", "a: 1\nb: 2\na: 3\n", `t.yaml:3: the key "a" stands twice in one mapping, first on line 1`},
		{"t.yaml", "x:\n  - {1: a, 0x1: b}\n", `t.yaml:2: x[0]: the key "1" stands twice in one mapping, first on line 2`},
		{"t.yaml", "a: &x\n  b: *x\n", "t.yaml:2: a.b: the alias *x stands inside the anchor that it names"},
		{"t.yaml", "a: *x\n", "t.yaml: not YAML: unknown anchor 'x' referenced"},
		{"t.yaml", "b: &b {c: 1}\na:\n  <<: *b\n", "t.yaml:3: a: a merge key <<, which YAML 1.2 has not: write the keys out"},
		{"t.yaml", "a: !custom x\n", "t.yaml:1: a: the tag !custom does not fit, want plain YAML without tags"},
		{"t.yaml", "a: !!int x\n", "t.yaml:1: a: the tag !!int does not fit, want plain YAML without tags"},
		{"t.yaml", "a: !!binary aGk=\n", "t.yaml:1: a: the tag !!binary does not fit, want plain YAML without tags"},
		{"t.yaml", "? [a]\n: b\n", "t.yaml:1: a mapping's key that is an array, want text"},
		{"t.yaml", "~: b\n", "t.yaml:1: a mapping's key that is null, want text (put it in quotes)"},
		{"t.yaml", bomb, "t.yaml: more than 512 MiB with its aliases written out"},
		{"t.yaml", nest, "t.yaml: nested deeper than 512 with its aliases written out"},
		{"t.yaml", "{a: }}", "t.yaml: not YAML: did not find expected <document start>"},
		{"t.json", `{"a": 1,}`, "t.json:1:9: not JSON: '}' in an object, want a key in double quotes"},
		{"t.json", "{\n \"a\": 1,\n \"a\": 2}", `t.json:3:2: not JSON: the key "a" stands twice in one object`},
		{"stdin", "[1\n 2]", "stdin:2:2: not JSON: '2' in an array, want , or ]"},
	} {
		_, err := parseTree(tt.name, []byte(tt.src), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40q: error\n  %v, want\n  %s", tt.src, err, tt.want)
		}
	}
}
