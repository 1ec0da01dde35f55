package seed

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

// said is a recorded answer: "operation param=value JSON".
func said(t *testing.T, doc *air.Document, line string) Recorded {
	t.Helper()
	id, rest, _ := strings.Cut(line, " ")
	r := Recorded{Path: map[string]string{}}
	for _, op := range doc.Operations {
		if op.ID == id {
			r.Operation = op
		}
	}
	if r.Operation == nil {
		t.Fatalf("no operation %s", id)
	}
	for {
		word, after, ok := strings.Cut(rest, " ")
		name, value, isParam := strings.Cut(word, "=")
		if !ok && !isParam || strings.HasPrefix(word, "{") || strings.HasPrefix(word, "[") {
			break
		}
		r.Path[name], rest = value, after
	}
	if rest != "" {
		v, err := canon.Parse([]byte(rest), canon.Lenient)
		if err != nil {
			t.Fatal(err)
		}
		r.Values = []*canon.Value{v}
	}
	return r
}

func TestFromRecorded(t *testing.T) {
	doc := shop(t)
	var recorded []Recorded
	for _, line := range []string{
		`customers.list [{"id":1,"name":"Ada"},{"id":2,"name":"Bob","extra":{"a":1.50}},{"name":"nobody"}]`,
		`customers.get id=1 {"id":1,"email":"ada@example.com","name":"Ada L."}`,
		`orders.get order_id=ord_7 {"order":{"id":"ord_7","total":9.5,"customer_id":1,"lines":[{"sku":"x"}]}}`,
		`orders.get order_id=ord_8 {"id":"ord_8","customer_id":99}`,
		`notes.list customer_id=2 {"data":[{"id":5,"text":"hello"}]}`,
		`ping.get {"ok":true}`,
	} {
		recorded = append(recorded, said(t, doc, line))
	}
	path := filepath.Join(t.TempDir(), "x.db")
	report, err := FromRecorded(context.Background(), path, doc, recorded, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &Report{Left: []string{"ping"}, Tables: []TableReport{
		{Name: "customer", Rows: 2, Columns: 7, Key: "id"},
		{Name: "note", Rows: 1, Columns: 3, Key: "id", Parents: []string{"customer_id -> customer"}},
		{Name: "order", Rows: 2, Columns: 5, Key: "id"},
	}, Notes: []string{`customer: a row without "id" was left out`, "order.customer_id: no foreign key to customer, since not every row it names was recorded"}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
	for sql, want := range map[string]string{
		"SELECT id, name, email, extra FROM customer ORDER BY id":         "1|'Ada L.'|'ada@example.com'|NULL\n2|'Bob'|NULL|'{\"a\":1.50}'\n",
		"SELECT id, total, customer_id, lines FROM \"order\" ORDER BY id": "'ord_7'|9.5|1|'[{\"sku\":\"x\"}]'\n'ord_8'|NULL|99|NULL\n",
		"SELECT id, text, customer_id FROM note":                          "5|'hello'|2\n",
	} {
		if got := look(t, path, sql, strings.Count(sql[:strings.Index(sql, " FROM")], ",")+1); got != want {
			t.Errorf("%s:\n%swant\n%s", sql, got, want)
		}
	}
	if _, err := FromRecorded(context.Background(), path, doc, recorded, nil); err == nil {
		t.Error("a file that exists was replaced")
	}
}

// A resource that the contract does not describe gets its table from its rows, and
// what was deleted is gone.
func TestFromRecordedUndeclared(t *testing.T) {
	ops := operation("tags.list", "get", "/tags", "list", "tag", "schema: {type: array}") +
		operation("tags.delete", "delete", "/tags/{tag_id}", "delete", "tag", "successStatuses: [204]", "tag_id")
	doc, err := air.Parse("t", []byte(strings.Replace(contract, "%s", ops, 1)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	report, err := FromRecorded(context.Background(), path, doc, []Recorded{
		said(t, doc, `tags.list [{"id":"a","n":1,"mixed":1,"on":true},{"id":"b","n":2.5,"mixed":"x"},{"id":"c"}]`),
		said(t, doc, `tags.delete tag_id=c`),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Tables) != 1 || report.Tables[0].Rows != 2 {
		t.Errorf("%+v", report)
	}
	if got := look(t, path, "SELECT id, n, typeof(n), mixed, \"on\"+0 FROM tag ORDER BY id", 5); got != "'a'|1.0|'real'|1|1\n'b'|2.5|'real'|'\"x\"'|NULL\n" {
		t.Error(got)
	}
	if _, err := FromRecorded(context.Background(), filepath.Join(t.TempDir(), "y.db"), doc, nil, nil); err == nil || !strings.Contains(err.Error(), "no table to make") {
		t.Errorf("nothing recorded: %v", err)
	}
}
