package dump

import (
	"bytes"
	"strings"
)

// Dialect is whose SQL a text is.
type Dialect uint8

// The dialects.
const (
	SQLite Dialect = iota
	MySQL
	Postgres
)

// String names the dialect as options do.
func (d Dialect) String() string { return [...]string{"sqlite", "mysql", "postgres"}[d] }

// ParseDialect reads a dialect's name.
func ParseDialect(name string) (Dialect, bool) {
	switch strings.ToLower(name) {
	case "sqlite":
		return SQLite, true
	case "mysql", "mariadb":
		return MySQL, true
	case "postgres", "postgresql", "pg":
		return Postgres, true
	}
	return SQLite, false
}

// Detect guesses the dialect from what only one of them writes.
func Detect(src []byte) Dialect {
	head := bytes.ToLower(src[:min(len(src), 256<<10)])
	has := func(words ...string) bool {
		for _, w := range words {
			if bytes.Contains(head, []byte(w)) {
				return true
			}
		}
		return false
	}
	switch {
	case has("postgresql database dump", "set client_encoding", "standard_conforming_strings", "from stdin;", "character varying", "::regclass"):
		return Postgres
	case has("mysql dump", "mariadb dump", "engine=", "auto_increment", "/*!40", "lock tables") || has("create table `") && has("create database", "use `"):
		return MySQL
	}
	return SQLite
}

// A statement is the tokens between two semicolons.
type statement struct {
	tokens     []token
	start, end int    // of the text, without the semicolon
	copied     []byte // the data behind a COPY ... FROM stdin
	copyAt     int
}

// A splitter cuts a text into statements.
type splitter struct {
	lexer
}

// next returns the next statement; one without tokens is the end.
func (s *splitter) next() (statement, error) {
	var st statement
	body := triggerBody{}
	for {
		t, err := s.lexer.next()
		if err != nil {
			return st, err
		}
		switch {
		case t.kind == end:
			st.end = t.start
			return st, nil
		case len(st.tokens) == 0 && t.is("delimiter") && s.dialect == MySQL:
			s.skipDelimited()
			continue
		case len(st.tokens) == 0 && t.is("."):
			return st, s.fail(t.start, "found a command of the sqlite3 shell, want SQL")
		case len(st.tokens) == 0 && t.is("\\") && s.dialect == Postgres:
			s.line() // a command of psql: \connect, \restrict
			continue
		case t.is(";") && !body.open():
			if len(st.tokens) == 0 {
				continue
			}
			st.end = t.start
			s.copy(&st)
			return st, nil
		}
		if len(st.tokens) == 0 {
			st.start = t.start
		}
		st.tokens = append(st.tokens, t)
		body.see(st.tokens)
	}
}

// skipDelimited passes what a MySQL script runs with another delimiter: the
// bodies of procedures and triggers.
func (s *splitter) skipDelimited() {
	if d := strings.TrimSpace(s.line()); d == ";" || d == "" {
		return
	}
	for s.pos < len(s.src) {
		fields := strings.Fields(s.line())
		if len(fields) == 2 && strings.EqualFold(fields[0], "delimiter") && fields[1] == ";" {
			return
		}
	}
}

// copy takes the lines behind COPY ... FROM stdin up to \. alone.
func (s *splitter) copy(st *statement) {
	n := len(st.tokens)
	if s.dialect != Postgres || !st.tokens[0].is("copy") || n < 2 {
		return
	}
	from := false
	for i := 1; i < n; i++ {
		from = from || st.tokens[i].is("stdin") && st.tokens[i-1].is("from")
	}
	if !from {
		return
	}
	s.line()
	st.copyAt = s.pos
	for s.pos < len(s.src) {
		at := s.pos
		if strings.TrimRight(s.line(), "\r") == `\.` {
			st.copied = s.src[st.copyAt:at]
			return
		}
	}
	st.copied = s.src[st.copyAt:]
}

// triggerBody follows BEGIN ... END of a CREATE TRIGGER, in which semicolons end
// no statement.
type triggerBody struct {
	trigger bool
	depth   int
}

func (b *triggerBody) open() bool { return b.depth > 0 }

func (b *triggerBody) see(tokens []token) {
	t := tokens[len(tokens)-1]
	if len(tokens) <= 4 && t.is("trigger") && tokens[0].is("create") {
		b.trigger = true
	}
	switch {
	case !b.trigger:
	case t.is("begin") && b.depth == 0, t.is("case") && b.depth > 0:
		b.depth++
	case t.is("end") && b.depth > 0:
		b.depth--
	}
}
