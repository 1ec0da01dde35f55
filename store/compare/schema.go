package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/dump"
	"github.com/anvil-sim/anvil/store/fixture"
)

// facts are what a schema says about one table, or about views and triggers:
// lines that are equal when the facts are.
func facts(t *fixture.Table) []string {
	lines := make([]string, 0, len(t.Columns)+4)
	for i, c := range t.Columns {
		if len(t.Key) == 1 && t.Key[0] == i && strings.EqualFold(c.Type, "INTEGER") {
			c.NotNull = false // the key is the rowid, which is never NULL
		}
		lines = append(lines, columnFact(c))
	}
	lines = append(lines, keyFact(t)...)
	for _, f := range t.Foreign {
		lines = append(lines, "foreign key "+f.String())
	}
	for _, u := range t.Unique {
		lines = append(lines, "unique ("+u+")")
	}
	if t.Strict {
		lines = append(lines, "strict")
	}
	if t.Virtual {
		lines = append(lines, "virtual: "+plainSQL(t.SQL))
	}
	for _, c := range checks(t.SQL) {
		lines = append(lines, "check "+c)
	}
	return lines
}

func keyFact(t *fixture.Table) []string {
	if len(t.Key) == 0 {
		return nil
	}
	return []string{"primary key (" + fixture.QuoteAll(t.KeyNames()) + ")"}
}

func columnFact(c fixture.Column) string {
	out := "column " + fixture.Quote(c.Name)
	if c.Type != "" {
		out += " " + strings.ToUpper(strings.Join(strings.Fields(c.Type), " "))
	}
	if c.NotNull {
		out += " not null"
	}
	if c.Default != "" && !strings.EqualFold(c.Default, "null") {
		out += " default " + c.Default
	}
	if c.Generated {
		out += " generated"
	}
	return out
}

// plainSQL is SQL text with every run of white space and every comment as one
// space, so that layout does not count.
func plainSQL(sql string) string {
	words, err := dump.Words(sql)
	if err != nil {
		return sql
	}
	return strings.Join(words, " ")
}

// checks finds the CHECK constraints in a CREATE TABLE, sorted.
func checks(sql string) (found []string) {
	words, err := dump.Words(sql)
	if err != nil {
		return nil
	}
	for i := 0; i+1 < len(words); i++ {
		if !strings.EqualFold(words[i], "check") || words[i+1] != "(" {
			continue
		}
		depth := 0
		for j := i + 1; j < len(words); j++ {
			switch words[j] {
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth == 0 {
				found = append(found, strings.Join(words[i+1:j+1], " "))
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// objectFacts are a schema's views and triggers.
func objectFacts(s *fixture.Schema) (lines []string) {
	for _, v := range s.Views {
		lines = append(lines, fmt.Sprintf("view %s: %s", v.Name, plainSQL(v.SQL)))
	}
	for _, t := range s.Triggers {
		lines = append(lines, fmt.Sprintf("trigger %s: %s", t.Name, plainSQL(t.SQL)))
	}
	return lines
}
