package trace

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// base is a run of a small shop; each line is one call.
func base() []string {
	return []string{
		shop(1, "list", "GET", "/orders", `{"items":[{"id":"o1","total":10.50},{"id":"o2","total":7}],"next":"c2"}`, 200),
		shop(2, "create", "POST", "/orders", `{"id":"o3","total":3,"created_at":"2026-01-01T00:00:00Z"}`, 201),
		shop(3, "get", "GET", "/orders/o3", `{"id":"o3","total":3,"note":"first line\nsecond line\nthird line"}`, 200),
		shop(4, "update", "PATCH", "/orders/o3", `{"id":"o3","total":4}`, 200),
		shop(5, "get", "GET", "/orders/o9", `{"error":{"code":"not_found"}}`, 404),
		shop(6, "delete", "DELETE", "/orders/o3", `null`, 204),
	}
}

func shop(seq int, op, method, path, answer string, status int) string {
	tool, id := "orders_"+op, "orders."+op
	result := `{"ok":true,"output":` + answer + `}`
	provider := `{"ok":true,"result":` + answer + `,"meta":{"ms":` + fmt.Sprint(seq) + `}}`
	if status >= 400 {
		result, provider = `{"ok":false,"error":{"code":"not_found"}}`, `{"ok":false,"error":{"code":"not_found"}}`
	}
	e := Entry{Seq: seq, RequestID: fmt.Sprintf("r%d", seq), Transport: "http", Tool: &tool, Operation: &id, Status: status,
		Request:    []byte(`{"method":"` + method + `","path":"` + path + `","query":{},"headers":{},"body":null}`),
		Normalized: fmt.Appendf(nil, `{"requestId":"r%d","kind":"%s"}`, seq, op), Provider: []byte(provider), Result: []byte(result), Response: []byte(answer)}
	return strings.TrimSuffix(string(e.AppendLine(nil)), "\n")
}

// renumber gives the calls the numbers of their places.
func renumber(lines []string) []string {
	for i, l := range lines {
		rest := l[strings.Index(l, `"transport"`):]
		lines[i] = fmt.Sprintf(`{"schema":"`+Schema+`","seq":%d,"requestId":"r%d",%s`, i+1, i+1, rest)
	}
	return lines
}

func replaced(old, new string) func([]string) []string {
	return func(l []string) []string {
		for i := range l {
			l[i] = strings.ReplaceAll(l[i], old, new)
		}
		return l
	}
}

func editAt(i int, old, new string) func([]string) []string {
	return func(l []string) []string {
		l[i] = strings.ReplaceAll(l[i], old, new)
		return l
	}
}

func tolerances(texts ...string) (out []Tolerance) {
	for _, text := range texts {
		t, err := ParseTolerance(text)
		if err != nil {
			panic(err)
		}
		out = append(out, t)
	}
	return out
}

func goldenPairs() []struct {
	name string
	edit func([]string) []string
	o    DiffOptions
} {
	inserted := shop(0, "search", "GET", "/orders/search", `{"items":[]}`, 200)
	return []struct {
		name string
		edit func([]string) []string
		o    DiffOptions
	}{
		{"equal", func(l []string) []string { return l }, DiffOptions{}},
		{"one value", editAt(3, `"total":4`, `"total":5`), DiffOptions{}},
		{"one value of the provider alone", editAt(3, `"ms":4`, `"ms":9`), DiffOptions{}},
		{"one value of the response alone", editAt(3, `"response":{"id":"o3","total":4}`, `"response":{"id":"o3","total":4.1}`), DiffOptions{}},
		{"one value of the result without a provider", func(l []string) []string {
			return editAt(3, `"output":{"id":"o3","total":4}`, `"output":{"id":"o3","total":6}`)(l)
		}, DiffOptions{Ignore: []string{"/provider"}}},
		{"status", editAt(3, `"status":200`, `"status":202`), DiffOptions{}},
		{"now refused", func(l []string) []string {
			l[3] = shop(4, "update", "PATCH", "/orders/o3", `{"error":{"code":"conflict"}}`, 409)
			return l
		}, DiffOptions{}},
		{"other route", editAt(2, "orders_get", "orders_show"), DiffOptions{}},
		{"no operation any more", editAt(2, `"tool":"orders_get","operationId":"orders.get"`, `"tool":null,"operationId":null`), DiffOptions{}},
		{"other normalized request", editAt(2, `"kind":"get"`, `"kind":"list"`), DiffOptions{}},
		{"other path", editAt(2, `/orders/o3`, `/orders/o1`), DiffOptions{}},
		{"other body", editAt(1, `"body":null`, `"body":{"total":3}`), DiffOptions{}},
		{"other header", editAt(1, `"headers":{}`, `"headers":{"x-anvil-principal":"bob"}`), DiffOptions{}},
		{"key added", editAt(2, `"id":"o3","total":3,`, `"id":"o3","total":3,"paid":false,`), DiffOptions{}},
		{"key removed", editAt(2, `"total":3,`, ``), DiffOptions{}},
		{"null for a value", editAt(2, `"total":3`, `"total":null`), DiffOptions{}},
		{"text for a number", editAt(2, `"total":3`, `"total":"3"`), DiffOptions{}},
		{"row added", editAt(0, `{"id":"o2","total":7}`, `{"id":"o2","total":7},{"id":"o4","total":1}`), DiffOptions{}},
		{"row removed", editAt(0, `{"id":"o1","total":10.50},`, ``), DiffOptions{}},
		{"rows in another order", editAt(0, `{"id":"o1","total":10.50},{"id":"o2","total":7}`, `{"id":"o2","total":7},{"id":"o1","total":10.50}`), DiffOptions{}},
		{"text of several lines", editAt(2, `second line`, `2nd line`), DiffOptions{}},
		{"call missing", func(l []string) []string { return renumber(slices.Delete(l, 2, 3)) }, DiffOptions{}},
		{"call missing, by seq", func(l []string) []string { return slices.Delete(l, 2, 3) }, DiffOptions{Align: AlignSeq}},
		{"call inserted", func(l []string) []string { return renumber(slices.Insert(l, 2, inserted)) }, DiffOptions{}},
		{"calls inserted at both ends", func(l []string) []string {
			return renumber(append([]string{inserted}, append(l, inserted)...))
		}, DiffOptions{}},
		{"call twice", func(l []string) []string { return renumber(slices.Insert(l, 2, l[1])) }, DiffOptions{}},
		{"call moved", func(l []string) []string { return renumber([]string{l[1], l[2], l[3], l[0], l[4], l[5]}) }, DiffOptions{}},
		{"call moved and changed", func(l []string) []string {
			return renumber([]string{l[1], l[2], l[3], strings.ReplaceAll(l[0], "10.50", "11"), l[4], l[5]})
		}, DiffOptions{}},
		{"calls moved, unordered", func(l []string) []string { return renumber([]string{l[5], l[2], l[3], l[0], l[4], l[1]}) }, DiffOptions{Unordered: true}},
		{"calls change places, by seq", func(l []string) []string { return renumber([]string{l[0], l[2], l[1], l[3], l[4], l[5]}) }, DiffOptions{Align: AlignSeq}},
		{"inserted, missing, moved and changed", func(l []string) []string {
			return renumber([]string{l[2], l[0], strings.ReplaceAll(l[3], `"total":4`, `"total":44`), inserted, l[5]})
		}, DiffOptions{}},
		{"the most similar call of a gap", func(l []string) []string {
			return renumber([]string{l[0], l[1], shop(0, "get", "GET", "/orders/o7", `{"error":{"code":"not_found"}}`, 404), strings.ReplaceAll(l[2], "o3", "o33"), l[3], l[4], l[5]})
		}, DiffOptions{}},
		{"ignored in one operation", replaced(`"total":`, `"total":1`), DiffOptions{Ignore: []string{"orders.list:/**/total", "orders_*te:/**/total"}}},
		{"run stops early", func(l []string) []string { return l[:3] }, DiffOptions{}},
		{"nothing in common", func([]string) []string { return renumber([]string{inserted, inserted}) }, DiffOptions{}},
		{"spelling is no difference", editAt(0, `10.50`, `1.05e1`), DiffOptions{}},
		{"spelling under bytes", editAt(0, `"response":{"items":[{"id":"o1","total":10.50}`, `"response":{"items":[{"id":"o1","total":1.05e1}`), DiffOptions{Bytes: true}},
		{"key order under bytes", editAt(3, `"response":{"id":"o3","total":4}`, `"response":{"total":4,"id":"o3"}`), DiffOptions{Bytes: true}},
		{"ignored", replaced(`"ms":`, `"ms":1`), DiffOptions{Ignore: []string{"/provider/meta/**", "/nothing"}, Reasons: map[string]string{"/provider/meta/**": "timings"}}},
		{"only the status", editAt(2, `"total":3`, `"total":8`), DiffOptions{Only: []string{"/status", "/request/**"}}},
		{"tolerated", editAt(0, "10.50", "10.52"), DiffOptions{Tolerance: tolerances("/**/total=1%")}},
		{"beyond the tolerance", editAt(0, "10.50", "12"), DiffOptions{Tolerance: tolerances("/**/total=1%")}},
		{"renamed", replaced(`o3`, `x77`), DiffOptions{Rename: []string{"ids"}}},
		{"renamed inconsistently", func(l []string) []string { return editAt(3, "x77", "x78")(replaced(`o3`, `x77`)(l)) }, DiffOptions{Rename: []string{"ids"}}},
		{"times renamed", replaced(`2026-01-01T00:00:00Z`, `2026-05-05T05:05:05Z`), DiffOptions{Rename: []string{"times"}}},
		{"cursor renamed", replaced(`"c2"`, `"zz"`), DiffOptions{Rename: []string{"cursors"}}},
		{"more than is shown", replaced(`"ms":`, `"ms":7`), DiffOptions{Max: 2}},
		{"the last of two runs", func(l []string) []string { return append(base(), editAt(3, `"total":4`, `"total":5`)(l)...) }, DiffOptions{}},
		{"a key of a later version", editAt(1, `"status":201`, `"trailers":{"x":1},"status":201`), DiffOptions{}},
		{"hostile text", editAt(2, `first line`, `\u001b[2J\u202efirst`), DiffOptions{}},
	}
}

func TestGoldenPairs(t *testing.T) {
	pairs := goldenPairs()
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			a, b := strings.Join(base(), "\n")+"\n", strings.Join(p.edit(base()), "\n")+"\n"
			r, err := Diff(context.Background(), text("golden.jsonl", a), text("run.jsonl", b), &p.o)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := r.WriteText(&out, false); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "pairs", strings.ReplaceAll(strings.ReplaceAll(p.name, ",", ""), " ", "-")+".txt"), out.Bytes())
		})
	}
}
