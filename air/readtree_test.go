package air

import (
	"strings"
	"testing"
)

// A document that others wrote is read as they meant it.
func TestReadTree(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"json", "\ufeff{\"a\": 1, \"a\": 2, \"b\": 3}", `{"a":2,"b":3}`},
		{"duplicate key", "a: 1\nb: 2\na: 3\n", `{"a":3,"b":2}`},
		{"merge", "base: &b {x: 1, y: 2}\nc:\n  <<: *b\n  y: 3\n", `{"base":{"x":1,"y":2},"c":{"x":1,"y":3}}`},
		{"merge behind", "base: &b {x: 1, y: 2}\nc:\n  y: 3\n  <<: *b\n", `{"base":{"x":1,"y":2},"c":{"y":3,"x":1}}`},
		{"merge of several", "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}\n", `{"a":{"x":1},"b":{"x":2,"y":2},"c":{"x":1,"y":2}}`},
		{"merge of nothing", "c: {<<: 7, d: 1}\n", `{"c":{"d":1}}`},
		{"quoted merge key", "c: {'<<': 7}\n", `{"c":{"<<":7}}`},
		{"tags", "a: !custom x\nb: !!binary aGk=\nc: !set {d: 1}\n", `{"a":"x","b":"aGk=","c":{"d":1}}`},
		{"not finite", "a: .inf\nb: -.Inf\nc: .nan\n", `{"a":".inf","b":"-.Inf","c":".nan"}`},
		{"keys", "200: a\ntrue: b\n~: c\n", `{"200":"a","true":"b","~":"c"}`},
		{"flow in a YAML file", "{a: b}", `{"a":"b"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := ReadTree("spec.yaml", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := v.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	for in, want := range map[string]string{
		"": "empty file", "a: [": "not YAML", "a: *b": "not YAML", "\xff": "not UTF-8", "a: 1\n---\nb: 2": "second YAML document",
	} {
		if _, err := ReadTree("spec.yaml", []byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}
