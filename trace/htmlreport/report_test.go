package htmlreport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A parsedPage is what a browser makes of a page's data elements.
type parsedPage struct {
	index     string
	line      []string // of the run
	base      []string // of the baseline
	dataParts []string
}

var dataElement = regexp.MustCompile(`(?s)<script type="application/json" (id|class)="(\w+)"(?: data-from="(\d+)")?>(.*?)</script>`)

func parsePage(t testing.TB, page string) parsedPage {
	t.Helper()
	var p parsedPage
	for _, m := range dataElement.FindAllStringSubmatch(page, -1) {
		p.dataParts = append(p.dataParts, m[4])
		if m[2] == "index" {
			p.index = m[4]
			continue
		}
		var lines []string
		if err := json.Unmarshal([]byte(m[4]), &lines); err != nil {
			t.Fatalf("a data element is no list of texts: %v", err)
		}
		to := map[string]*[]string{"line": &p.line, "base": &p.base}[m[2]]
		*to = append(*to, lines...)
	}
	if !json.Valid([]byte(p.index)) {
		t.Fatalf("the index is no JSON: %s", p.index)
	}
	return p
}

func TestIndexGolden(t *testing.T) {
	run, baseline := everyChange()
	recorded, err := os.ReadFile("../testdata/recorded/trace-numbering.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string]string{
		"every-change": render(t, run, baseline), "equal": render(t, run, run), "alone": render(t, string(recorded), ""),
	} {
		path, got := filepath.Join("testdata", name+".json"), parsePage(t, page).index+"\n"
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v; to write it: go test ./trace/htmlreport -update", err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", path, diff)
		}
	}
}

// The page has every call as it stands, and of the baseline those that differ.
func TestCallsAreCarried(t *testing.T) {
	run, baseline := everyChange()
	p := parsePage(t, render(t, run, baseline))
	if got := strings.Join(p.line, "\n") + "\n"; got != run {
		t.Errorf("-want +got\n%s", cmp.Diff(run, got))
	}
	old := strings.SplitAfter(baseline, "\n")
	if got, want := strings.Join(p.base, "\n")+"\n", strings.Join(old[1:3], "")+strings.Join(old[4:6], ""); got != want {
		t.Errorf("-want +got\n%s", cmp.Diff(want, got))
	}
	many, _ := manyCalls(3000)
	if got := strings.Join(parsePage(t, render(t, many, "")).line, "\n") + "\n"; got != many {
		t.Error("3000 calls came out otherwise")
	}
}

// A missing call stands where the baseline has it.
func TestMissingCallsStandInPlace(t *testing.T) {
	run, baseline := manyCalls(1200)
	var index struct {
		First int
		Rows  []struct {
			Seq, Line int
			Change    *int
		}
		Changes []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(parsePage(t, render(t, run, baseline)).index), &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Rows) != 1201 || index.First != 4 {
		t.Fatalf("%d rows, first difference in row %d", len(index.Rows), index.First)
	}
	if r := index.Rows[999]; r.Line != -1 || r.Seq != 1000 || r.Change == nil || index.Changes[*r.Change].Kind != "missing" {
		t.Errorf("row 999: %+v", r)
	}
	if r := index.Rows[1000]; r.Line != 999 || r.Seq != 1000 || r.Change != nil {
		t.Errorf("row 1000: %+v", r)
	}
}

// Without its own parts a page has no markup but the data elements.
func TestNothingOfTheTraceIsMarkup(t *testing.T) {
	run, baseline := hostile()
	page := render(t, run, baseline)
	for _, part := range parsePage(t, page).dataParts {
		if strings.Contains(part, "<") {
			t.Errorf("a data element has a <: %.200s", part)
		}
	}
	rest := dataElement.ReplaceAllString(page, "")
	for _, own := range []string{css, body, script()} {
		if !strings.Contains(rest, own) {
			t.Fatal("a part of the page is not there")
		}
		rest = strings.Replace(rest, own, "", 1)
	}
	if strings.Contains(rest, "pwned") || strings.Count(rest, "<script") != 1 {
		t.Errorf("left:\n%s", rest)
	}
}

func TestTitleIsEscaped(t *testing.T) {
	var out bytes.Buffer
	in := trace.Input{Name: "</title><script>x", Reader: strings.NewReader(call(1, "GET", "/", "t", 200, "1"))}
	if _, err := Write(context.Background(), &out, in, nil, &Options{Title: `<b>&"`}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "<title>&lt;b&gt;&amp;&#34;</title>") || strings.Count(out.String(), "<script>") != 1 {
		t.Error("the title or the name is markup")
	}
}

// The policy names the script and the style by what they are, and no address
// stands in what the page brings itself.
func TestPolicyAndNoNetwork(t *testing.T) {
	page := render(t, call(1, "GET", "/", "t", 200, "1"), "")
	for _, part := range []string{`<script>` + script() + `</script>`, `<style>` + css + `</style>`,
		`script-src ` + hash(script()), `style-src ` + hash(css), `default-src 'none'`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %.60s", part)
		}
	}
	own := css + body + script()
	for _, bad := range []string{"http:", "https:", "//cdn", "url(", "@import", "src=", "fetch(", "XMLHttpRequest", "innerHTML", "outerHTML",
		"insertAdjacentHTML", "document.write", "eval(", "Function(", "localStorage", "</script"} {
		if strings.Contains(own, bad) {
			t.Errorf("the page's own parts have %q", bad)
		}
	}
}

func TestSameBytes(t *testing.T) {
	run, baseline := everyChange()
	dir := t.TempDir()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, run); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"run.jsonl": run, "run.jsonl.gz": packed.String(), "golden.jsonl": baseline} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	want := render(t, run, baseline)
	if render(t, run, baseline) != want {
		t.Error("two pages of the same traces differ")
	}
	for _, workers := range []int{1, 3} {
		var out bytes.Buffer
		o := Options{Diff: trace.DiffOptions{Workers: workers}}
		if _, err := Write(context.Background(), &out, trace.Input{Name: "run.jsonl"}, &trace.Input{Name: "golden.jsonl"}, &o); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("with %d worker(s) and from files the page differs", workers)
		}
	}
	var out bytes.Buffer
	if _, err := Write(context.Background(), &out, trace.Input{Name: "run.jsonl.gz"}, nil, nil); err != nil {
		t.Errorf("compressed: %v", err)
	}
}

func TestOptions(t *testing.T) {
	run, baseline := everyChange()
	var out bytes.Buffer
	old := trace.Input{Name: "golden.jsonl", Reader: strings.NewReader(baseline)}
	o := Options{Diff: trace.DiffOptions{Ignore: []string{"/**"}, Unordered: true, Run: "all"}}
	report, err := Write(context.Background(), &out, trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run + run)}, &old, &o)
	if err != nil || report.Inserted < 6 {
		t.Fatalf("%+v, %v", report, err)
	}
	index := parsePage(t, out.String()).index
	if want := `"options":"--align auto --run all --unordered --ignore '/**'"`; !strings.Contains(index, want) {
		t.Errorf("no %s in %s", want, index)
	}
}

func TestErrors(t *testing.T) {
	good := call(1, "GET", "/", "t", 200, "1")
	tests := []struct {
		name, run, baseline, which, want string
	}{
		{"empty run", "", "", "", "run.jsonl: the trace is empty"},
		{"empty baseline", good, "\n", "", "golden.jsonl: the trace is empty"},
		{"bad line", good + strings.Replace(call(2, "GET", "/", "t", 200, "1"), `:null`, `:nul`, 1), "", "", "run.jsonl: line 2"},
		{"no such run", good, "", "4", "--run: run.jsonl has 1 run(s)"},
		{"too many", strings.Repeat(good, MaxCalls+1), "", "all", "run.jsonl: has 50001 calls in the chosen runs, a page holds at most 50000 calls"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var old *trace.Input
			if tt.baseline != "" {
				old = &trace.Input{Name: "golden.jsonl", Reader: strings.NewReader(tt.baseline)}
			}
			o := Options{Diff: trace.DiffOptions{Run: tt.which}}
			_, err := Write(context.Background(), io.Discard, trace.Input{Name: "run.jsonl", Reader: strings.NewReader(tt.run)}, old, &o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Write(ctx, io.Discard, trace.Input{Name: "r", Reader: strings.NewReader(good)}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRecordedSessions(t *testing.T) {
	files, err := filepath.Glob("../../testdata/conformance/sessions/*/trace.jsonl")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d traces, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			continue
		}
		p := parsePage(t, render(t, string(data), string(data)))
		if got := strings.Join(p.line, "\n") + "\n"; got != string(data) {
			t.Errorf("%s came out otherwise", file)
		}
	}
}

// FuzzPage: whatever two traces hold, their page's data is JSON without a "<",
// and it has the calls of the run.
func FuzzPage(f *testing.F) {
	run, baseline := everyChange()
	f.Add([]byte(run), []byte(baseline))
	run, baseline = hostile()
	f.Add([]byte(run), []byte(baseline))
	f.Add([]byte(`{ "seq" : 3 , "schema":"anvil.simulator.trace/v1","</script>":"<!--"}`), []byte(`{"schema":"anvil.simulator.trace/v1","seq":3}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var out bytes.Buffer
		old := trace.Input{Name: "b", Reader: bytes.NewReader(b)}
		report, err := Write(context.Background(), &out, trace.Input{Name: "a", Reader: bytes.NewReader(a)}, &old, nil)
		if err != nil {
			return
		}
		p := parsePage(t, out.String())
		for _, part := range p.dataParts {
			if strings.Contains(part, "<") {
				t.Fatalf("< in %q", part)
			}
		}
		for _, line := range append(p.line, p.base...) {
			if !canon.Valid([]byte(line)) {
				t.Fatalf("no JSON: %q", line)
			}
		}
		if len(p.line) == 0 || !report.Identical && len(p.line) != report.Other.Calls {
			t.Fatalf("%d calls in the page, %d in the run", len(p.line), report.Other.Calls)
		}
	})
}
