package store

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"
	"unicode"

	"github.com/anvil-sim/anvil/internal/pattern"
	"github.com/anvil-sim/anvil/store/fixture"
)

// A fullText is a virtual table that indexes the words of another table's rows.
type fullText struct {
	table string
	at    int       // fts version
	cols  []*column // that it has the words of
}

// reveals tells whether the index has words of a column that the map hides.
func (f *fullText) reveals(t *table) bool {
	return slices.ContainsFunc(f.cols, func(c *column) bool {
		own := t.col(c.name)
		return c.hidden || own != nil && own.hidden
	})
}

var ftsModule = pattern.Of(`(?i)\bUSING\s+fts([345])\b`)
var ftsContent = pattern.Of("(?i)\\bcontent\\s*=\\s*[\"'`]?([^\"'`,)\\s]+)")

// findFullText connects full-text tables with the tables whose rows they index:
// named in content=, or by a name such as notes_fts, fts_notes or notes_search.
func (s *schema) findFullText(ctx context.Context, c *conn) error {
	const all = `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%' ORDER BY name`
	return c.query(ctx, all, nil, 2, func(v []driver.Value) error {
		name, sql := fixture.Text(v[0]), fixture.Text(v[1])
		m := ftsModule().FindStringSubmatch(sql)
		if m == nil || s.table(name) == nil {
			return nil
		}
		self := s.table(name)
		found := &fullText{name, int(m[1][0] - '0'), self.cols}
		if self.rowid != "" {
			self.search = found
		}
		owner := ""
		if c := ftsContent().FindStringSubmatch(sql); c != nil {
			owner = c[1]
		} else {
			owner = ownerByName(name)
		}
		if t := s.table(owner); t != nil && t.rowid != "" && !t.view && owner != "" {
			t.search = found
		}
		return nil
	})
}

// ownerByName is the table that a full-text table's name speaks of, "" for none.
func ownerByName(name string) string {
	for _, tail := range []string{"_fts", "_fts4", "_search", "_index"} {
		if rest, ok := strings.CutSuffix(name, tail); ok {
			return rest
		}
	}
	rest, ok := strings.CutPrefix(name, "fts_")
	if !ok {
		return ""
	}
	return rest
}

// maxWords bounds the words of a free text.
const maxWords = 32

// freeText looks for words anywhere in a row: every word must be there. A word
// such as status:open or is:open compares a column. Through the full-text index
// where there is one, else in every text column.
func (r *reading) freeText(name, text string) error {
	var words []string
	for _, word := range splitWords(text) {
		if key, value, ok := strings.Cut(word, ":"); ok && value != "" {
			if taken, err := r.qualifier(name, key, value); taken || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		words = append(words, word)
	}
	if len(words) > maxWords {
		return invalid("parameter %q has %d words, at most %d are looked for", clip(name), len(words), maxWords)
	}
	if len(words) == 0 {
		return nil
	}
	f, ok := r.g.table.words(words)
	if !ok {
		r.ignored = append(r.ignored, name)
		return nil
	}
	f.param = name
	r.filters = append(r.filters, f)
	return nil
}

// qualifier reads key:value of a search as a comparison.
func (r *reading) qualifier(name, key, value string) (taken bool, err error) {
	word := ""
	if rest, ok := strings.CutPrefix(key, "-"); ok {
		key, word = rest, "ne"
	}
	col := r.baseColumn(key)
	if col == nil && normal(key) == "is" {
		for _, n := range []string{"state", "status"} {
			if col == nil {
				col = r.g.column(n)
			}
		}
	}
	if col == nil {
		return false, nil
	}
	for _, p := range []struct{ sign, word string }{{">=", "gte"}, {"<=", "lte"}, {">", "gt"}, {"<", "lt"}} {
		if rest, ok := strings.CutPrefix(value, p.sign); ok {
			value, word = rest, p.word
			break
		}
	}
	return true, r.column(col, name, word, quoteText(value))
}

// splitWords splits at spaces; what stands in double quotes is one word.
func splitWords(text string) (words []string) {
	var b strings.Builder
	quoted := false
	flush := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	for _, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case unicode.IsSpace(c) && !quoted:
			flush()
		default:
			b.WriteRune(c)
		}
	}
	flush()
	return words
}

// words is the filter that finds words in a table's rows; ok is false for a
// table without text.
func (t *table) words(words []string) (f filter, ok bool) {
	if t.search != nil && t.rowid != "" && !t.search.reveals(t) {
		if match := matchText(words, t.search.at); match != "" {
			// A column stands for the table: the filter is about all of them.
			return filter{col: t.cols[0], op: opMatch, index: t.search.table, vals: []driver.Value{match}}, true
		}
	}
	var all []filter
	for _, w := range words {
		var some []filter
		for _, c := range t.shown() {
			if c.class == classString || c.class == classAny || c.class == classJSON {
				some = append(some, filter{col: c, op: opLike, vals: []driver.Value{likePattern("%", w, "%")}})
			}
		}
		if some == nil {
			return f, false
		}
		all = append(all, filter{op: opAny, parts: some})
	}
	return filter{op: opAll, parts: all}, true
}

// matchText spells words for MATCH: phrases in quotes, the last word of each a
// beginning. Nothing of the query language's own can be in it.
func matchText(words []string, version int) string {
	end := `*"`
	if version == 5 {
		end = `"*`
	}
	var phrases []string
	for _, w := range words {
		tokens := strings.FieldsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if len(tokens) > 0 {
			phrases = append(phrases, `"`+strings.Join(tokens, " ")+end)
		}
	}
	return strings.Join(phrases, " ")
}
