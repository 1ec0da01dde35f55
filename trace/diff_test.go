package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call is a line of a small trace.
func call(seq int, method, path, response string) string {
	tool := "t_" + strings.ToLower(method)
	e := Entry{Seq: seq, RequestID: fmt.Sprintf("r%d", seq), Transport: "http", Tool: &tool, Operation: &tool, Status: 200,
		Request:    []byte(`{"method":"` + method + `","path":"` + path + `","query":{},"headers":{},"body":null}`),
		Normalized: fmt.Appendf(nil, `{"requestId":"r%d","kind":"read"}`, seq),
		Provider:   []byte(`{"ok":true,"result":` + response + `,"meta":{"ms":1}}`),
		Result:     []byte(`{"ok":true,"output":` + response + `}`),
		Response:   []byte(response)}
	return string(e.AppendLine(nil))
}

func gets(paths ...string) string {
	var b strings.Builder
	for i, p := range paths {
		b.WriteString(call(i+1, "GET", p, `{"path":"`+p+`"}`))
	}
	return b.String()
}

func text(name, content string) Input { return Input{Name: name, Reader: strings.NewReader(content)} }

func diffText(t *testing.T, a, b string, o *DiffOptions) (*Report, string) {
	t.Helper()
	r, err := Diff(context.Background(), text("a", a), text("b", b), o)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := r.WriteText(&buf, false); err != nil {
		t.Fatal(err)
	}
	return r, buf.String()
}

// outline is a report in short: each call with its findings.
func outline(r *Report) string {
	var b strings.Builder
	seq := func(ref *Ref) string {
		if ref == nil {
			return "-"
		}
		return fmt.Sprint(ref.Seq)
	}
	for _, c := range r.Calls {
		fmt.Fprintf(&b, "%s %s>%s (%s)", c.Kind, seq(c.Old), seq(c.New), c.Stage)
		for _, f := range c.Findings {
			fmt.Fprintf(&b, " %s %s %s>%s", f.Kind, f.Path, f.Old, f.New)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestDiffValues(t *testing.T) {
	tests := []struct {
		name string
		a, b string // responses; provider and result are left out of the outline
		want string
	}{
		{"equal", `{"a":1}`, `{"a":1}`, ""},
		{"key order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, ""},
		{"number spelling", `[1.0,100,-0,1e400]`, `[1,1E2,0.0,10e399]`, ""},
		{"escapes", `"é/"`, `"\u00e9\/"`, ""},
		{"white space", `{"a":[1,2]}`, `{ "a" : [ 1 ,	2 ] }`, ""},
		{"big integers", `9007199254740993`, `9007199254740992`, "changed /response 9007199254740993>9007199254740992"},
		{"value", `{"a":{"b":1}}`, `{"a":{"b":2}}`, "changed /response/a/b 1>2"},
		{"type", `{"a":"1"}`, `{"a":1}`, `changed /response/a "1">1`},
		{"null is not absent", `{"a":null}`, `{}`, "removed /response/a null>"},
		{"added", `{}`, `{"a":[]}`, "added /response/a >[]"},
		{"pointer escapes", `{"a/b~c":1}`, `{"a/b~c":2}`, "changed /response/a~1b~0c 1>2"},
		{"empty key", `{"":1}`, `{"":2}`, "changed /response/ 1>2"},
		{"array by place", `[1,2,3]`, `[1,5,3]`, "changed /response/1 2>5"},
		{"array grows in front", `[1,2,3]`, `[0,1,2,3]`, "added /response/0 >0"},
		{"array loses its middle", `[1,2,3]`, `[1,3]`, "removed /response/1 2>"},
		{"array by id: one gone", `[{"id":1,"v":1},{"id":2,"v":1},{"id":3,"v":1}]`, `[{"id":1,"v":1},{"id":3,"v":2}]`,
			`removed /response/1 {"id":2,"v":1}> changed /response/2/v 1>2`},
		{"array by id: order", `[{"TrackId":1},{"TrackId":2}]`, `[{"TrackId":2},{"TrackId":1}]`, "reordered /response [1,2]>[2,1]"},
		{"array by id: all new", `[{"id":1}]`, `[{"id":2}]`, "changed /response/0/id 1>2"},
		{"ids that repeat are none", `[{"id":1,"v":1},{"id":1,"v":2}]`, `[{"id":1,"v":1},{"id":1,"v":3}]`, "changed /response/1/v 2>3"},
		{"empty array", `[]`, `[{"id":1}]`, `added /response/0 >{"id":1}`},
		{"deep", strings.Repeat("[", 500) + "1" + strings.Repeat("]", 500), strings.Repeat("[", 500) + "2" + strings.Repeat("]", 500),
			"changed /response" + strings.Repeat("/0", 500) + " 1>2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := diffText(t, call(1, "GET", "/x", tt.a), call(1, "GET", "/x", tt.b), &DiffOptions{Ignore: []string{"/provider", "/result"}})
			want := ""
			if tt.want != "" {
				want = "changed 1>1 (shaping) " + tt.want + "\n"
			}
			if got := outline(r); got != want || r.Equal() != (want == "") {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

func TestDiffBytes(t *testing.T) {
	ignore := []string{"/provider", "/result"}
	tests := []struct{ name, a, b, want string }{
		{"equal", `{"a":1}`, `{"a":1}`, ""},
		{"number spelling", `{"a":1.0}`, `{"a":1}`, "respelled /response/a 1.0>1"},
		{"key order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, `reordered /response ["a","b"]>["b","a"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := diffText(t, call(1, "GET", "/x", tt.a), call(1, "GET", "/x", tt.b), &DiffOptions{Bytes: true, Ignore: ignore})
			want := ""
			if tt.want != "" {
				want = "changed 1>1 (shaping) " + tt.want + "\n"
			}
			if got := outline(r); got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
	a := call(1, "GET", "/x", "1")
	r, _ := diffText(t, a, strings.Replace(a, `"seq":1`, `"seq": 1`, 1), &DiffOptions{Bytes: true})
	if got := outline(r); got != "changed 1>1 (shaping) respelled  >\n" {
		t.Errorf("white space: %s", got)
	}
}

func TestDiffAlignment(t *testing.T) {
	tests := []struct {
		name string
		a, b string
		o    DiffOptions
		want string
	}{
		{"inserted", gets("/1", "/2", "/3"), gets("/1", "/9", "/2", "/3"), DiffOptions{}, "inserted ->2 (client request)\n"},
		{"missing", gets("/1", "/2", "/3"), gets("/1", "/3"), DiffOptions{}, "missing 2>- (client request)\n"},
		{"missing first", gets("/1", "/2"), gets("/2"), DiffOptions{}, "missing 1>- (client request)\n"},
		{"moved", gets("/1", "/2", "/3", "/4"), gets("/2", "/3", "/4", "/1"), DiffOptions{}, "moved 1>4 (order)\n"},
		{"moved, unordered", gets("/1", "/2", "/3", "/4"), gets("/2", "/3", "/4", "/1"), DiffOptions{Unordered: true}, ""},
		{"another request", gets("/1", "/2", "/3"), gets("/1", "/9", "/3"), DiffOptions{Ignore: []string{"/provider", "/result", "/response"}},
			"changed 2>2 (client request) changed /request/path \"/2\">\"/9\"\n"},
		{"another request and one more", gets("/1", "/2", "/3"), gets("/0", "/1", "/9", "/3"), DiffOptions{Ignore: []string{"/provider", "/result", "/response"}},
			"inserted ->1 (client request)\nchanged 2>3 (client request) changed /request/path \"/2\">\"/9\"\n"},
		{"by seq on demand", gets("/1", "/2"), gets("/1"), DiffOptions{Align: AlignSeq}, "missing 2>- (client request)\n"},
		{"by seq on demand, inserted", gets("/1"), gets("/1", "/2"), DiffOptions{Align: AlignSeq}, "inserted ->2 (client request)\n"},
		{"repeats", gets("/1", "/1", "/1"), gets("/1", "/1"), DiffOptions{}, "missing 3>- (client request)\n"},
		{"overlapping calls", gets("/1", "/2"), call(2, "GET", "/2", `{"path":"/2"}`) + call(1, "GET", "/1", `{"path":"/1"}`), DiffOptions{}, ""},
		{"ignored part of the request", gets("/1"), strings.Replace(gets("/1"), `"query":{}`, `"query":{"t":["1"]}`, 1), DiffOptions{Ignore: []string{"/request/query/t"}}, ""},
		{"call pairing forgives numbers", gets("/1"), call(5, "GET", "/1", `{"path":"/1"}`), DiffOptions{Align: AlignCall}, ""},
		{"seq pairing does not", gets("/1"), call(5, "GET", "/1", `{"path":"/1"}`), DiffOptions{Align: AlignSeq}, "missing 1>- (client request)\ninserted ->5 (client request)\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, txt := diffText(t, tt.a, tt.b, &tt.o)
			if got := outline(r); got != tt.want {
				t.Errorf("got\n%swant\n%s%s", got, tt.want, txt)
			}
		})
	}
}

func TestDiffStages(t *testing.T) {
	base := call(1, "GET", "/x", `1`)
	tests := []struct {
		name, old, new string
		want           Stage
	}{
		{"request headers", `"headers":{}`, `"headers":{"x-anvil-seed":"1"}`, StageRequest},
		{"operation", `"operationId":"t_get"`, `"operationId":"other"`, StageContract},
		{"normalized", `"kind":"read"`, `"kind":"list"`, StageContract},
		{"provider", `"provider":{"ok":true,"result":1`, `"provider":{"ok":true,"result":2`, StageProvider},
		{"result", `"output":1`, `"output":2`, StageShaping},
		{"status", `"status":200`, `"status":201`, StageShaping},
		{"a key of a later version", `"status"`, `"later":1,"status"`, StageShaping},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := diffText(t, base, strings.Replace(base, tt.old, tt.new, 1), nil)
			if r.First == nil || r.First.Stage != tt.want {
				t.Errorf("got %+v, want %s", r.First, tt.want)
			}
		})
	}
	r, err := Diff(context.Background(), Input{Name: "testdata/recorded/store-seed-1.jsonl"}, Input{Name: "testdata/recorded/store-seed-42.jsonl"}, nil)
	if err != nil || r.First.Stage != StageSeed {
		t.Errorf("two seeds: %v, %v", r.First, err)
	}
}

func TestDiffRuns(t *testing.T) {
	one, two := gets("/1", "/2"), gets("/3", "/4")
	tests := []struct {
		name, a, b, run string
		want            string
	}{
		{"last", one + two, two, "", ""},
		{"first", one + two, one, "1", ""},
		{"all, equal", one + two, one + two, "all", ""},
		{"all, one more", one, one + two, "all", "inserted ->1 (client request)\ninserted ->2 (client request)\n"},
		{"last of another file differs", one + two, two + one, "last", "x"},
		{"second of each", one + two, two + two, "2", ""},
		{"a torn run before the last", one + `{"schema":"an` + "\n" + two, two, "", ""},
		{"overlapping calls are one run", call(2, "GET", "/2", "1") + call(1, "GET", "/1", "1") + call(3, "GET", "/3", "1"),
			call(1, "GET", "/1", "1") + call(2, "GET", "/2", "1") + call(3, "GET", "/3", "1"), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := diffText(t, tt.a, tt.b, &DiffOptions{Run: tt.run})
			if got := outline(r); got != tt.want && (tt.want != "x" || got == "") {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
	r, txt := diffText(t, one+two, two+call(1, "GET", "/9", "1"), nil)
	if r.Baseline.Run != 2 || r.Baseline.Runs != 2 || !strings.Contains(txt, "a (baseline): run 2 of 2 (the last), 2 calls") {
		t.Errorf("%+v\n%s", r.Baseline, txt)
	}
}

func TestDiffIgnoreCounts(t *testing.T) {
	a := gets("/1", "/2", "/3")
	b := strings.ReplaceAll(a, `"ms":1`, `"ms":2`)
	for _, bytes := range []bool{false, true} {
		r, txt := diffText(t, a, b, &DiffOptions{Bytes: bytes, Ignore: []string{"/provider/meta/**", "/response/*"}})
		if !r.Equal() || r.Ignored[0] != 3 || r.Ignored[1] != 0 || !strings.Contains(txt, "ignored: 3 differences at /provider/meta/**\nignored: 0 differences at /response/*\n") {
			t.Errorf("%v\n%s", r.Ignored, txt)
		}
	}
	// A key that only one side has is counted too.
	r, _ := diffText(t, a, strings.ReplaceAll(a, `,"meta":{"ms":1}`, ``), &DiffOptions{Ignore: []string{"/**/meta"}})
	if !r.Equal() || r.Ignored[0] != 3 {
		t.Errorf("%v", r.Ignored)
	}
}

func TestDiffInputErrors(t *testing.T) {
	good := gets("/1", "/2")
	half := good[:len(good)-40]
	tests := []struct {
		name string
		b    string
		want string
	}{
		{"empty", "", "b: the trace is empty"},
		{"blank lines only", "\n\r\n \n", "b: the trace is empty"},
		{"cut", half, "b: line 2 (byte 384): the line is cut after"},
		{"cut in a string", good + `{"schema":"anvil.simulator.trace/v1","seq":3,"requestId":"r`, "b: line 3 (byte 768): the line is cut after 59 bytes"},
		{"no JSON", "hello\n", `b: line 1 (byte 0): found "hello", want a JSON object`},
		{"another schema", `{"schema":"other/v1","seq":1}` + "\n", `b: line 1 (byte 0): has the schema "other/v1", want "anvil.simulator.trace/v1"`},
		{"no schema", `{"a":1}` + "\n", "b: line 1 (byte 0): has no schema"},
		{"no seq", `{"schema":"anvil.simulator.trace/v1","seq":"1"}` + "\n", `b: line 1 (byte 0): has the seq "1", want a whole number`},
		{"duplicate key", strings.Replace(good, `"status":200`, `"status":200,"status":200`, 1), "b: line 1 (byte 0): is not an entry: invalid JSON at byte 358: the key \"status\" stands twice"},
		{"NUL", strings.Replace(good, `"/1"`, "\"/\x00\"", 1), "control character 0x00"},
		{"invalid UTF-8", strings.Replace(good, `"/1"`, "\"/\xff\"", 1), "is not UTF-8"},
		{"bad token", strings.Replace(good, `"status":200`, `"status":2x0`, 1), "invalid JSON"},
		{"UTF-16", "\xff\xfe{\x00", "UTF-16"},
		{"damaged gzip", "\x1f\x8b\x08\x00garbage.............", "gzip"},
		{"damaged zstd", "\x28\xb5\x2f\xfdgarbage.............", "zstd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, o := range []*DiffOptions{nil, {Align: AlignCall}, {Bytes: true}} {
				r, err := Diff(context.Background(), text("a", good), text("b", tt.b), o)
				var in *InputError
				if err == nil || !errors.As(err, &in) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v and report %v, want %q", err, r, tt.want)
				}
			}
			if r, err := Diff(context.Background(), text("a", tt.b), text("b", tt.b), nil); tt.name != "duplicate key" && tt.name != "NUL" &&
				tt.name != "invalid UTF-8" && tt.name != "bad token" && err == nil {
				t.Errorf("equal to itself: %+v", r)
			}
		})
	}
	_, err := Diff(context.Background(), Input{Name: "testdata/none.jsonl"}, text("b", good), nil)
	var in *InputError
	if !errors.As(err, &in) || err.Error() != "testdata/none.jsonl: the trace file does not exist" || in.Hint() == "" {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Diff(context.Background(), Input{Name: "testdata"}, text("b", good), nil); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("folder: %v", err)
	}
}

func TestDiffReadsAsWritten(t *testing.T) {
	a := gets("/1", "/2")
	for name, b := range map[string]string{
		"BOM":                 "\xEF\xBB\xBF" + a,
		"CRLF":                strings.ReplaceAll(a, "\n", "\r\n"),
		"blank lines":         "\n\n" + strings.ReplaceAll(a, "\n", "\n\n \n"),
		"no last line break":  strings.TrimSuffix(a, "\n"),
		"white space around ": " " + strings.ReplaceAll(a, "\n", " \n"),
	} {
		for _, o := range []*DiffOptions{nil, {Align: AlignCall}} {
			r, txt := diffText(t, a, b, o)
			if !r.Equal() || r.Same != 2 {
				t.Errorf("%s: %s", name, txt)
			}
		}
	}
}

func TestDiffOptionErrors(t *testing.T) {
	a := gets("/1", "/2")
	for _, o := range []DiffOptions{
		{Align: "call2"}, {Run: "0"}, {Run: "2"}, {Run: "x"}, {Run: "-1"}, {Ignore: []string{"response"}}, {Ignore: []string{""}},
		{Ignore: []string{"/a~2"}}, {Ignore: []string{"/a~"}}, {Ignore: []string{strings.Repeat("/a", 300)}}, {Unordered: true, Align: AlignSeq},
	} {
		_, err := Diff(context.Background(), text("a", a), text("b", a), &o)
		var opt *OptionError
		if !errors.As(err, &opt) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestDiffMax(t *testing.T) {
	a := gets("/1", "/2", "/3")
	b := strings.ReplaceAll(a, `"ms":1`, `"ms":2`)
	r, txt := diffText(t, a, b, &DiffOptions{Max: 2})
	if len(r.Calls) != 2 || r.Findings != 3 || r.Changed != 3 || !strings.Contains(txt, "1 finding not shown; --max 0 shows all") {
		t.Errorf("%d calls, %d findings\n%s", len(r.Calls), r.Findings, txt)
	}
	if r, _ = diffText(t, a, b, &DiffOptions{Max: -1}); len(r.Calls) != 3 {
		t.Errorf("all: %d calls", len(r.Calls))
	}
}

func TestDiffDoesNotDependOnWorkers(t *testing.T) {
	var a, b strings.Builder
	big := strings.Repeat("x", 1000)
	for i := 1; i <= 400; i++ {
		a.WriteString(call(i, "GET", fmt.Sprint("/", i), `{"v":"`+big+`"}`))
		if i%50 != 0 {
			b.WriteString(call(i, "GET", fmt.Sprint("/", i), fmt.Sprintf(`{"v":"%s%d"}`, big, i%3)))
		}
	}
	want := ""
	for _, workers := range []int{1, 2, 7} {
		_, got := diffText(t, a.String(), b.String(), &DiffOptions{Workers: workers, Max: 50})
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d workers report something else", workers)
		}
	}
}

func TestDiffCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Diff(ctx, text("a", gets("/1")), text("b", gets("/2")), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLongLines(t *testing.T) {
	a := call(1, "GET", "/1", `"`+strings.Repeat("x", 600<<10)+`"`) + call(2, "GET", "/2", "1")
	b := call(1, "GET", "/1", `"`+strings.Repeat("x", 600<<10)+`y"`) + call(2, "GET", "/2", "1")
	r, txt := diffText(t, a, b, nil)
	if r.Changed != 1 || r.Same != 1 || len(txt) > 2000 || !strings.Contains(txt, `xxxy" (614403 bytes)`) {
		t.Errorf("%s", txt[:min(2000, len(txt))])
	}
	src := &source{name: "long", r: strings.NewReader(a), size: int64(len(a))}
	lines := newLineReader(src, 0, src.size, 0)
	lines.limit = 128 << 10
	if _, err := lines.read(); err == nil || !strings.Contains(err.Error(), "long: line 1 (byte 0): the line is longer than 131072 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestReportsAreGolden(t *testing.T) {
	pairs, err := filepath.Glob("testdata/diff/*.a.jsonl")
	if err != nil || len(pairs) == 0 {
		t.Fatalf("no pairs (%v)", err)
	}
	for _, a := range pairs {
		name := strings.TrimSuffix(a, ".a.jsonl")
		t.Run(filepath.Base(name), func(t *testing.T) {
			r, err := Diff(context.Background(), Input{Name: a}, Input{Name: name + ".b.jsonl"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var text, lines bytes.Buffer
			if err := errors.Join(r.WriteText(&text, false), r.WriteJSON(&lines)); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", text.Bytes())
			golden(t, name+".json", lines.Bytes())
		})
	}
}

// golden compares got with a file; UPDATE=1 writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s (%v):\n%s", file, err, got)
	}
}
