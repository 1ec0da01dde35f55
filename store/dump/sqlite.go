package dump

import "strings"

// A Statement is one statement of a text in SQLite's own dialect.
type Statement struct {
	Text string
	Line int
	// Verb is its first word in upper case; for CREATE also what it makes: "CREATE
	// TABLE", "CREATE INDEX".
	Verb string
	// Table is the table that a CREATE TABLE makes.
	Table string
}

// Statements calls visit with each statement of a text in SQLite's dialect. The
// error is an *[Error] or what visit returns.
func Statements(src []byte, visit func(Statement) error) error {
	s := &Script{lex: &lexer{src: src}, types: map[string]madeType{}}
	lines := lineCounter{src: src, line: 1}
	return s.each(func(st *statement) error {
		out := Statement{Text: string(src[st.start:st.end]), Line: lines.at(st.start)}
		c := &cursor{s: s, tokens: st.tokens, last: st.end}
		out.Verb = strings.ToUpper(c.next().text)
		if out.Verb == "CREATE" {
			for c.take("temp") || c.take("temporary") || c.take("unique") || c.take("virtual") {
			}
			what := strings.ToUpper(c.next().text)
			out.Verb += " " + what
			if what == "TABLE" {
				c.take("if", "not", "exists")
				out.Table, _ = c.name()
			}
		}
		return visit(out)
	})
}

// Words cuts SQL text of SQLite's dialect into its words, each as it is spelled,
// without comments and white space.
func Words(sql string) ([]string, error) {
	l := lexer{src: []byte(sql)}
	var out []string
	for {
		t, err := l.next()
		if err != nil || t.kind == end {
			return out, err
		}
		out = append(out, sql[t.start:t.end])
	}
}
