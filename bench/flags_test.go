package main

import (
	"bytes"
	"strings"
	"testing"
)

// A quick run gives its values to what is not given, says them in its help, and no
// part takes arguments.
func TestParseShort(t *testing.T) {
	for _, tt := range []struct {
		args      string
		short     bool
		a, b, err string
	}{
		{"", false, "1", "2", ""},
		{"--short", true, "10", "20", ""},
		{"--short --b 5", true, "10", "5", ""},
		{"--b 5 x", false, "", "", `part takes no arguments, got ["x"]`},
		{"--help", false, "", "", "flag: help requested"},
	} {
		var stderr bytes.Buffer
		flags := newFlags("part", &stderr)
		a, b := flags.String("a", "1", ""), flags.String("b", "2", "")
		short, err := parseShort(flags, strings.Fields(tt.args), map[string]string{"b": "20", "a": "10"})
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%q: %v, want %s", tt.args, err, tt.err)
			}
			if tt.args == "--help" && !strings.Contains(stderr.String(), "a quick run: --a 10 --b 20") {
				t.Errorf("the help is %s", stderr.String())
			}
			continue
		}
		if err != nil || short != tt.short || *a != tt.a || *b != tt.b {
			t.Errorf("%q: %v %s %s, %v", tt.args, short, *a, *b, err)
		}
	}
}
