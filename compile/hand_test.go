package compile_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
)

// readByHand are lines of what a person found who read the descriptions, by file.
func readByHand(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/hand/operations.txt")
	if err != nil {
		t.Fatal(err)
	}
	byFile, lines, file := map[string][]string{}, 0, ""
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "file "); ok {
			file = name
			continue
		}
		byFile[file] = append(byFile[file], line)
		lines++
	}
	if lines < 100 || len(byFile) < 10 {
		t.Errorf("%d operations of %d vendors, want 100 of 10", lines, len(byFile))
	}
	return byFile
}

// checkByHand makes sure that the compiler found what a person found.
func checkByHand(t *testing.T, doc *air.Document, lines []string) {
	t.Helper()
	for _, line := range lines {
		key, _, _ := strings.Cut(line, " |")
		o := findOperation(doc, key)
		if o == nil {
			t.Errorf("no operation %s", key)
			continue
		}
		if got := tidy(handLine(o)); got != tidy(line) {
			t.Errorf("by hand:\n got %s\nwant %s", got, tidy(line))
		}
	}
}

func tidy(s string) string { return strings.TrimSpace(strings.Join(strings.Fields(s), " ")) }

func findOperation(doc *air.Document, key string) *air.Operation {
	for _, o := range doc.Operations {
		if strings.ToUpper(o.Method)+" "+o.Path == key {
			return o
		}
	}
	return nil
}

// handLine spells an operation as the table does.
func handLine(o *air.Operation) string {
	var ok []string
	for _, s := range o.SuccessStatuses {
		ok = append(ok, strconv.Itoa(s))
	}
	var errs []string
	for _, e := range o.Errors {
		s := fmt.Sprintf("%d:%s", e.HTTPStatus, e.Code)
		if e.HTTPStatus == 0 {
			s = "*:" + e.Code
		}
		if e.UpstreamCode != "" {
			s += ":" + e.UpstreamCode
		}
		errs = append(errs, s)
	}
	auth := o.Auth.Type + " " + strings.Join(o.Auth.Scopes, ",")
	if c := o.Auth.Carrier; c != nil {
		auth += " [" + c.In + " " + c.Name + "]"
	}
	repeats := o.Idempotency.Mode
	if k := o.Idempotency.Key; k != "" {
		repeats += " " + o.Idempotency.Mechanism + " " + k
	}
	return fmt.Sprintf("%s %s | %s %s %s | %s | %s | %s | %s | %s", strings.ToUpper(o.Method), o.Path, o.EffectKind, o.Action, o.Resource,
		handPaging(o.Pagination), auth, repeats, strings.Join(ok, ","), strings.Join(errs, " "))
}

func handPaging(p *air.Pagination) string {
	if p == nil {
		return "-"
	}
	out := p.Style
	if p.InBody {
		out += " in=body"
	}
	for _, f := range []struct{ key, val string }{
		{"at", p.CursorParam}, {"size", p.PageSizeParam}, {"items", p.ItemsField}, {"next", p.NextField}, {"block", p.PagingField},
	} {
		if f.val != "" {
			out += " " + f.key + "=" + f.val
		}
	}
	if p.MaxPageSize > 0 {
		out += " max=" + strconv.Itoa(p.MaxPageSize)
	}
	if p.DefaultPageSize > 0 {
		out += " def=" + strconv.Itoa(p.DefaultPageSize)
	}
	return out
}
