package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/changelog"
)

// modelRow is a row of the plain model that the store is held against.
type modelRow struct {
	id    int64
	name  string
	score *int64
	rank  *int64
	open  bool
}

func (r *modelRow) json() string {
	num := func(n *int64) string {
		if n == nil {
			return "null"
		}
		return strconv.FormatInt(*n, 10)
	}
	return fmt.Sprintf(`{"id":%d,"name":%q,"score":%s,"rank":%s,"open":%v}`, r.id, r.name, num(r.score), num(r.rank), r.open)
}

// A model answers what the store is asked in the plainest way.
type model struct {
	rows  []*modelRow
	rnd   *rand.Rand
	after []string // call number to the rows after that call
}

var modelWords = []string{"ash", "birch", "Cedar", "100%", "o'neil", "a_b", `x"y`, "élan"}

func (m *model) row(id int64) *modelRow {
	r := &modelRow{id: id, name: modelWords[m.rnd.IntN(len(modelWords))], open: m.rnd.IntN(2) == 0}
	if m.rnd.IntN(3) > 0 {
		n := int64(m.rnd.IntN(7) - 3)
		r.score = &n
	}
	if m.rnd.IntN(4) > 0 {
		n := int64(m.rnd.IntN(3))
		r.rank = &n
	}
	return r
}

// A modelTest is a filter: what is sent, and what it means.
type modelTest struct {
	name, value string
	keep        func(r *modelRow) bool
}

func (m *model) test() modelTest {
	n := int64(m.rnd.IntN(7) - 3)
	w := modelWords[m.rnd.IntN(len(modelWords))]
	num := strconv.FormatInt(n, 10)
	lower := func(s string) string { return strings.Map(asciiLower, s) }
	tests := []modelTest{
		{"score", num, func(r *modelRow) bool { return r.score != nil && *r.score == n }},
		{"score[gte]", num, func(r *modelRow) bool { return r.score != nil && *r.score >= n }},
		{"score_lt", strconv.Quote(num), func(r *modelRow) bool { return r.score != nil && *r.score < n }},
		{"scoreNe", num, func(r *modelRow) bool { return r.score == nil || *r.score != n }},
		{"filter[score][lte]", num, func(r *modelRow) bool { return r.score != nil && *r.score <= n }},
		{"score[null]", "true", func(r *modelRow) bool { return r.score == nil }},
		{"score_exists", "true", func(r *modelRow) bool { return r.score != nil }},
		{"score[in]", `"1,2,-1"`, func(r *modelRow) bool { return r.score != nil && slices.Contains([]int64{1, 2, -1}, *r.score) }},
		{"score", "[0,null]", func(r *modelRow) bool { return r.score == nil || *r.score == 0 }},
		{"open", "true", func(r *modelRow) bool { return r.open }},
		{"open", `"false"`, func(r *modelRow) bool { return !r.open }},
		{"name", jsonText(w), func(r *modelRow) bool { return r.name == w }},
		{"name[contains]", jsonText(w[1:3]), func(r *modelRow) bool { return strings.Contains(lower(r.name), lower(w[1:3])) }},
		{"name__startswith", jsonText(w[:1]), func(r *modelRow) bool { return strings.HasPrefix(lower(r.name), lower(w[:1])) }},
		{"q", jsonText(w), func(r *modelRow) bool { return strings.Contains(lower(r.name), lower(w)) }},
		{"$filter", jsonText("score gt " + num + " or not (open eq true)"), func(r *modelRow) bool { return r.score != nil && *r.score > n || !r.open }},
		{"$filter", jsonText("name eq '" + strings.ReplaceAll(w, "'", "''") + "' and rank ne null"), func(r *modelRow) bool { return r.name == w && r.rank != nil }},
	}
	for {
		t := tests[m.rnd.IntN(len(tests))]
		if t.name != "q" || !strings.ContainsAny(t.value, `\`) { // a quote in a search is the search's own
			if !strings.ContainsRune(w, 'é') || !strings.HasPrefix(t.name, "name[") && !strings.HasPrefix(t.name, "name__") {
				return t
			}
		}
	}
}

func asciiLower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

func jsonText(s string) string { return string(canon.AppendString(nil, s)) }

// A modelSort is an order: how it is asked for, and what it means.
type modelSort struct {
	params string
	less   func(a, b *modelRow) int
}

func comparePointers(a, b *int64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return int(*a - *b)
}

func (m *model) sort() modelSort {
	id := func(a, b *modelRow) int { return int(a.id - b.id) }
	score := func(a, b *modelRow) int { return comparePointers(a.score, b.score) }
	rank := func(a, b *modelRow) int { return comparePointers(a.rank, b.rank) }
	name := func(a, b *modelRow) int { return strings.Compare(a.name, b.name) }
	down := func(f func(a, b *modelRow) int) func(a, b *modelRow) int {
		return func(a, b *modelRow) int { return f(b, a) }
	}
	then := func(fs ...func(a, b *modelRow) int) func(a, b *modelRow) int {
		return func(a, b *modelRow) int {
			for _, f := range fs {
				if c := f(a, b); c != 0 {
					return c
				}
			}
			return 0
		}
	}
	sorts := []modelSort{
		{"", id},
		{`sort="-id"`, down(id)},
		{`sort="score"`, then(score, id)},
		{`sort="-score"`, then(down(score), down(id))},
		{`sort="name:desc"`, then(down(name), down(id))},
		{`sort_by="rank"&order="desc"`, then(down(rank), down(id))},
		{`sort="rank,-score"`, then(rank, down(score), down(id))},
		{`sort="-rank,score,name"`, then(down(rank), score, name, id)},
		{`$orderby="open desc, name asc"`, then(func(a, b *modelRow) int { return int(bit(b.open) - bit(a.open)) }, name, id)},
		{`sort="open desc,rank desc"`, then(func(a, b *modelRow) int { return int(bit(b.open) - bit(a.open)) }, down(rank), down(id))},
	}
	return sorts[m.rnd.IntN(len(sorts))]
}

func (m *model) find(tests []modelTest, s modelSort) (out []*modelRow) {
	for _, r := range m.rows {
		if !slices.ContainsFunc(tests, func(t modelTest) bool { return !t.keep(r) }) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, s.less)
	return out
}

const modelSQL = `CREATE TABLE trees (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER, rank INTEGER, open BOOLEAN NOT NULL);
CREATE INDEX by_score ON trees (score); CREATE INDEX by_rank ON trees (rank, score);`

func listRequest(query string, size int, cursor *string) *provider.Request {
	return &provider.Request{RequestID: "r1", OperationID: "api.trees.list", Method: "GET", PathTemplate: "/trees", Kind: provider.KindList,
		Action: "list", Page: &provider.Page{Size: size, Cursor: cursor}, Params: provider.Params{Query: pairs(query)}}
}

// Random filters, sorts and page sizes find what the model finds; while rows come
// and go between the pages no row that stays is missing and none comes twice.
func TestAgainstModel(t *testing.T) {
	const rounds = 60
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			m := &model{rnd: rand.New(rand.NewPCG(seed, 7)), after: []string{""}}
			db := openSQL(t, modelSQL, &Options{Log: true})
			for range 60 {
				m.insert(t, db)
			}
			for range rounds {
				m.round(t, db)
			}
			m.checkPast(t, db)
		})
	}
}

// checkPast compares the state at calls with what the model was after them.
func (m *model) checkPast(t *testing.T, db *DB) {
	t.Helper()
	ctx := context.Background()
	state := filepath.Join(t.TempDir(), "state.db")
	if err := db.SaveState(ctx, state); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		n := m.rnd.IntN(len(m.after))
		at, err := changelog.Open(ctx, state, fmt.Sprint(state, "@", n), int64(n))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = at.Query(ctx, "SELECT id, name, score, rank, open FROM trees ORDER BY id", nil, 5, func(v []driver.Value) error {
			r := &modelRow{id: v[0].(int64), name: v[1].(string), open: v[4] == true}
			for i, to := range []**int64{&r.score, &r.rank} {
				if n, ok := v[2+i].(int64); ok {
					*to = &n
				}
			}
			got = append(got, r.json())
			return nil
		})
		if err := errors.Join(err, at.Close()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m.after[n], strings.Join(got, "\n")); diff != "" {
			t.Fatalf("after call %d of %d:\n%s", n, len(m.after)-1, diff)
		}
	}
}

// note notes what the rows are after the last call.
func (m *model) note() {
	rows := make([]string, len(m.rows))
	for i, r := range slices.SortedFunc(slices.Values(m.rows), func(a, b *modelRow) int { return int(a.id - b.id) }) {
		rows[i] = r.json()
	}
	m.after[len(m.after)-1] = strings.Join(rows, "\n")
}

func (m *model) insert(t *testing.T, db *DB) {
	t.Helper()
	r := m.row(0)
	body := strings.Replace(r.json(), `"id":0,`, "", 1)
	res := m.call(t, db, &provider.Request{OperationID: "api.trees.create", Method: "POST", PathTemplate: "/trees", Kind: provider.KindCreate, Action: "create", Body: []byte(body)})
	id, _ := canon.Lookup(res.Result, "id")
	r.id, _ = strconv.ParseInt(string(id), 10, 64)
	if string(res.Result) != r.json() {
		t.Fatalf("created %s, want %s", res.Result, r.json())
	}
	m.rows = append(m.rows, r)
	m.note()
}

// update changes a row to another of the same id: the store sees the difference
// as a PATCH of some fields.
func (m *model) update(t *testing.T, db *DB) {
	t.Helper()
	i := m.rnd.IntN(len(m.rows))
	r := m.row(m.rows[i].id)
	body := map[string]any{"score": r.score, "name": r.name}
	r.rank, r.open = m.rows[i].rank, m.rows[i].open
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	path := provider.Object{{Name: "id", Value: json.RawMessage(strconv.FormatInt(r.id, 10))}}
	res := m.call(t, db, &provider.Request{OperationID: "api.trees.update", Method: "PATCH", PathTemplate: "/trees/{id}", Kind: provider.KindUpdate, Action: "update",
		Params: provider.Params{Path: path}, Body: text})
	if string(res.Result) != r.json() {
		t.Fatalf("updated %s, want %s", res.Result, r.json())
	}
	m.rows[i] = r
	m.note()
}

func (m *model) remove(t *testing.T, db *DB) {
	t.Helper()
	i := m.rnd.IntN(len(m.rows))
	path := provider.Object{{Name: "id", Value: json.RawMessage(strconv.FormatInt(m.rows[i].id, 10))}}
	m.call(t, db, &provider.Request{OperationID: "api.trees.delete", Method: "DELETE", PathTemplate: "/trees/{id}", Kind: provider.KindDelete, Action: "delete",
		Params: provider.Params{Path: path}})
	m.rows = slices.Delete(m.rows, i, i+1)
	m.note()
}

func (m *model) call(t *testing.T, db *DB, req *provider.Request) *provider.Response {
	t.Helper()
	req.RequestID = fmt.Sprint("r", len(m.after))
	m.after = append(m.after, m.after[len(m.after)-1])
	res, err := db.Invoke(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	if !res.OK {
		t.Fatalf("%s: %s", req.OperationID, show(res))
	}
	return res
}

// round walks one random list, with or without changes on the way.
func (m *model) round(t *testing.T, db *DB) {
	t.Helper()
	var tests []modelTest
	var params []string
	used := map[string]bool{}
	for range m.rnd.IntN(3) {
		if f := m.test(); !used[f.name] {
			used[f.name] = true
			tests = append(tests, f)
			params = append(params, f.name+"="+f.value)
		}
	}
	s := m.sort()
	if s.params != "" {
		params = append(params, s.params)
	}
	query := strings.Join(params, "&")
	disturb := m.rnd.IntN(2) == 0
	before := m.find(tests, s)
	size := 1 + m.rnd.IntN(9)
	var got []string
	var cursor *string
	for page := 0; ; page++ {
		res := m.call(t, db, listRequest(query, size, cursor))
		for _, item := range res.Items {
			got = append(got, string(item))
		}
		if page == 0 && (*res.Total != int64(len(before)) || len(res.Items) != min(size, len(before))) {
			t.Fatalf("%s: %d of %d, want %d of %d", query, len(res.Items), *res.Total, min(size, len(before)), len(before))
		}
		if cursor = res.NextCursor; cursor == nil {
			break
		}
		if disturb && m.rnd.IntN(2) == 0 {
			m.insert(t, db)
			m.remove(t, db)
		}
	}
	if !disturb {
		defer m.update(t, db) // between lists: on the way, a row may move to another page
	}
	m.compare(t, query, got, before, m.find(tests, s), disturb)
}

func (m *model) compare(t *testing.T, query string, got []string, before, after []*modelRow, disturbed bool) {
	t.Helper()
	seen := map[string]bool{}
	for _, row := range got {
		if seen[row] {
			t.Fatalf("%s: %s comes twice", query, row)
		}
		seen[row] = true
	}
	for i, r := range before {
		if !disturbed && (i >= len(got) || got[i] != r.json()) {
			t.Fatalf("%s: row %d of %q, want %s", query, i, got, r.json())
		}
		if slices.Contains(after, r) && !seen[r.json()] {
			t.Fatalf("%s: %s is missing", query, r.json())
		}
	}
	if !disturbed && len(got) != len(before) {
		t.Fatalf("%s: %d rows, want %d", query, len(got), len(before))
	}
}
