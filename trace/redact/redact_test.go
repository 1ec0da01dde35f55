package redact

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

const head = `{"schema":"anvil.simulator.trace/v1","seq":`

func copyAll(t testing.TB, text string, rules Rules) (string, string, error) {
	t.Helper()
	var out bytes.Buffer
	counts, err := Copy(context.Background(), &out, trace.Input{Name: "t.jsonl", Reader: strings.NewReader(text)}, "all", rules)
	return out.String(), fmt.Sprint(counts), err
}

func TestCopy(t *testing.T) {
	tests := []struct {
		name   string
		rules  Rules
		in     string // after the head
		want   string
		counts string
	}{
		{"one field, the same value twice", Rules{Paths: []string{"/a", "/c/*"}},
			`1,"a":"x@y.z","b":"x@y.z","c":["x@y.z","other"]}`, `1,"a":"[redacted 1]","b":"x@y.z","c":["[redacted 1]","[redacted 2]"]}`, "[{/a 1} {/c/* 2}]"},
		{"any depth, whole objects", Rules{Paths: []string{"/**/user"}},
			`1,"user":{"n":1},"x":[{"user":{ "n" : 1.0 }}],"user2":3}`, `1,"user":"[redacted 1]","x":[{"user":"[redacted 1]"}],"user2":3}`, "[{/**/user 2}]"},
		{"null says nothing", Rules{Paths: []string{"/a"}}, `1,"a":null}`, `1,"a":null}`, "[{/a 0}]"},
		{"all but what makes an entry", Rules{Paths: []string{"/*"}}, `1,"a":1, "b" : false}`, `1,"a":"[redacted 1]", "b" : "[redacted 2]"}`, "[{/* 2}]"},
		{"headers in any case, where headers are", Rules{Headers: []string{"X-Api-Key"}},
			`1,"request":{"headers":{"x-api-key":"k","accept":"k"},"body":{"x-api-key":"k"}},"normalized":{"params":{"header":{"X-API-KEY":"k"},"cookie":{"x-api-key":"l"}}},"headers":{"X-Api-Key":["k"]}}`,
			`1,"request":{"headers":{"x-api-key":"[redacted 1]","accept":"k"},"body":{"x-api-key":"k"}},"normalized":{"params":{"header":{"X-API-KEY":"[redacted 1]"},"cookie":{"x-api-key":"[redacted 2]"}}},"headers":{"X-Api-Key":"[redacted 1]"}}`,
			"[{header X-Api-Key 4}]"},
		{"a path inside a header", Rules{Headers: []string{"a"}, Paths: []string{"/headers/*/0"}},
			`1,"headers":{"A":["x"],"B":["y","z"]}}`, `1,"headers":{"A":"[redacted 1]","B":["[redacted 2]","z"]}}`, "[{/headers/*/0 1} {header a 1}]"},
		{"everywhere: longer texts, keys, numbers, before and after", Rules{Paths: []string{"/k/*"}, Headers: []string{"Authorization"}, Everywhere: true},
			`1,"p":"/x?t=tok%2F12345&c=4111111111111111","q":"tok%2f12345 short","k":["tok/12345","short",4111111111111111],` +
				`"m":{"tok/12345":{"x tok\/12345":1}},"n":4111111111111111,"headers":{"Authorization":["Bearer abcdefgh1"],"Other":"abcdefgh1."},"s":"{\"t\":\"tok/12345\"}"}`,
			`1,"p":"/x?t=[redacted 1]&c=[redacted 3]","q":"[redacted 1] short","k":["[redacted 1]","[redacted 2]","[redacted 3]"],` +
				`"m":{"[redacted 1]":{"x [redacted 1]":1}},"n":"[redacted 3]","headers":{"Authorization":"[redacted 4]","Other":"[redacted 4]."},"s":"{\"t\":\"[redacted 1]\"}"}`,
			"[{/k/* 3} {header Authorization 1} {--everywhere 7}]"},
		{"everywhere: a longer value before a part of it, quotes in JSON in a text", Rules{Paths: []string{"/k/*"}, Everywhere: true},
			`1,"k":["secret-1","secret-1-\"x"],"a":"secret-1-\"x secret-1","b":"{\"v\":\"secret-1-\\\"x\"}"}`,
			`1,"k":["[redacted 1]","[redacted 2]"],"a":"[redacted 2] [redacted 1]","b":"{\"v\":\"[redacted 2]\"}"}`,
			"[{/k/* 2} {--everywhere 2}]"},
		{"everywhere: not in what makes an entry", Rules{Paths: []string{"/k"}, Everywhere: true},
			`1,"k":"anvil.simulator.trace/v1"}`, `1,"k":"[redacted 1]"}`, "[{/k 1} {--everywhere 0}]"},
		{"escaped keys", Rules{Paths: []string{"/é/a~1b"}}, `1,"\u00e9":{"a\/b":"s"}}`, `1,"\u00e9":{"a\/b":"[redacted 1]"}}`, "[{/é/a~1b 1}]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, counts, err := copyAll(t, head+tt.in+"\n", tt.rules)
			if err != nil || got != head+tt.want+"\n" || counts != tt.counts {
				t.Errorf("%v, %s\n%s\nwant %s\n%s", err, counts, got, tt.counts, head+tt.want)
			}
		})
	}
}

func TestUnchangedLinesStay(t *testing.T) {
	files, err := filepath.Glob("../testdata/recorded/*.jsonl")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d recorded traces, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := copyAll(t, string(data), Rules{Paths: []string{"/no/such"}, Headers: []string{"no-such"}})
		if err != nil || got != string(data) {
			t.Errorf("%s changed, %v", file, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		rules Rules
		in    string
		want  string
	}{
		{Rules{}, "1}", "--path: no rule says what to redact"},
		{Rules{Paths: []string{"a"}}, "1}", `--path: found "a", want a JSON Pointer`},
		{Rules{Headers: []string{"a b"}}, "1}", `--header: found "a b", want a header name`},
		{Rules{Paths: []string{"/a"}}, `1,"a":tru}`, "t.jsonl: line 1 (byte 0): is not an entry"},
		{Rules{Paths: []string{"/a"}}, `1,"a":1,"a":2}`, "t.jsonl: line 1 (byte 0): is not an entry"},
	} {
		if _, _, err := copyAll(t, head+tt.in+"\n", tt.rules); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// A line that would have a key twice is refused, not written.
func TestEverywhereMakesNoKeyTwice(t *testing.T) {
	_, _, err := copyAll(t, head+`1,"a":"se cret-1","m":{"se cret-1":1,"se%20cret-1":2}}`+"\n", Rules{Paths: []string{"/a"}, Everywhere: true})
	if err == nil || !strings.Contains(err.Error(), "t.jsonl: line 1 (byte 0)") || strings.Contains(err.Error(), "cret-1") {
		t.Errorf("got %v", err)
	}
}

// What stands before the value that a rule finds is taken out too, and nothing is
// left of it in any spelling that is looked for.
func FuzzEverywhere(f *testing.F) {
	f.Add("sk-live-1234", "https://x/?k=", "&v=1")
	f.Add("a\"b/c d+é\\", "", "\n")
	f.Add("[redacted 1]", "a", "b")
	f.Add("000000 0", "\x0000 0", "0") // \u0000 before "00 0" reads like the secret, and is none
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < minElsewhere || !utf8.ValidString(secret+before+after) || strings.Contains(secret, "[redacted") || strings.Contains("[redacted 1]", secret) {
			return
		}
		text := func(s string) string { return string(canon.AppendString(nil, s)) }
		line := func(seq int, rest string) string { return head + strconv.Itoa(seq) + "," + rest + "}\n" }
		in := line(1, `"x":`+text(before+secret+after)+`,"y":[`+text(before+url.QueryEscape(secret)+after)+`]`) + line(2, `"k":`+text(secret))
		got, _, err := copyAll(t, in, Rules{Paths: []string{"/k"}, Everywhere: true})
		if err != nil {
			t.Fatalf("%v in %q", err, in)
		}
		if inner := text(secret); !strings.Contains(text(before)+text(after)+before+after, inner[1:len(inner)-1]) && strings.Count(got, inner[1:len(inner)-1]) > strings.Count(head+head+`"x":"y":["k":[redacted 1]`+before+after, secret) {
			t.Fatalf("left in %q", got)
		}
	})
}

func TestParseRules(t *testing.T) {
	r, err := ParseRules("r.yaml", []byte("paths:\n  - /a\nheaders: [X-Key]\n"))
	if err != nil || fmt.Sprint(r) != "{[/a] [X-Key] false}" {
		t.Errorf("%v, %v", r, err)
	}
	for text, want := range map[string]string{
		"":                    "r.yaml: the file is empty",
		"paths: [/a]\nx: 1\n": "r.yaml: unmarshal errors: line 2: field x not found",
		"paths: 1\n":          "line 1: cannot unmarshal",
		"a: [":                "r.yaml: line 1",
		"paths: []\n---\n1\n": "found a second document",
	} {
		if _, err := ParseRules("r.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// FuzzRedact: the output is JSON, nothing of the value is left at its place, and
// redacting again changes nothing but the numbers.
func FuzzRedact(f *testing.F) {
	f.Add(`1,"a":"secret","b":{"a":["secret"]}}`, "/**/a")
	f.Add(`2 , "a" : { "x" : 1 } , "\u0061b":"\ud800"}`, "/a/*")
	f.Add(`1,"request":{"headers":{"k":"v"}}}`, "/request/headers/k")
	f.Fuzz(func(t *testing.T, rest, pattern string) {
		got, _, err := copyAll(t, head+rest, Rules{Paths: []string{pattern}})
		if err != nil {
			return
		}
		for line := range strings.Lines(got) {
			if _, err := canon.Parse([]byte(line), canon.Strict); err != nil {
				t.Fatalf("%v in %q", err, got)
			}
		}
		again, _, err := copyAll(t, got, Rules{Paths: []string{pattern}})
		if err != nil || again != got {
			t.Fatalf("%q\nagain %q, %v", got, again, err)
		}
	})
}
