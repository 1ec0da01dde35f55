package store

import (
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/internal/pattern"
)

// writesAfterWith finds a write after a common table expression.
var writesAfterWith = pattern.Of(`(?i)\b(INSERT|UPDATE|DELETE|REPLACE)\b`)

// splitSQL splits custom SQL at semicolons and turns :path.id into ?1: values are
// bound, whatever they hold. Texts, quoted names and comments are passed over.
func splitSQL(sql string) (steps []customStep, err error) {
	var b strings.Builder
	var refs []reference
	seen := map[string]int{}
	flush := func() {
		if text := strings.TrimSpace(b.String()); text != "" && firstWord(text) != "" {
			steps = append(steps, customStep{text, refs})
		}
		b.Reset()
		refs, seen = nil, map[string]int{}
	}
	for i := 0; i < len(sql); {
		n := quotedLen(sql[i:])
		switch {
		case n < 0:
			return nil, fmt.Errorf("at byte %d: a quote or a comment has no end", i)
		case n > 0:
			b.WriteString(sql[i : i+n])
			i += n
		case sql[i] == ';':
			flush()
			i++
		case sql[i] == '?' || sql[i] == '$' || sql[i] == '@':
			return nil, fmt.Errorf("at byte %d: found %q, want parameters as :path.id", i, sql[i])
		case sql[i] == ':':
			name := referenceName().FindString(sql[i+1:])
			ref, err := parseReference(name)
			if err != nil {
				return nil, fmt.Errorf("at byte %d: %w", i, err)
			}
			if seen[name] == 0 {
				refs = append(refs, ref)
				seen[name] = len(refs)
			}
			fmt.Fprintf(&b, "?%d", seen[name])
			i += 1 + len(name)
		default:
			b.WriteByte(sql[i])
			i++
		}
	}
	flush()
	return steps, nil
}

var referenceName = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_$-]+)*`)

// quotedLen is the length of the text, name or comment that s begins with: 0 for
// none, -1 for one without an end.
func quotedLen(s string) int {
	closing := map[byte]string{'\'': "'", '"': `"`, '`': "`", '[': "]"}[s[0]]
	head := 1
	switch {
	case strings.HasPrefix(s, "--"):
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			return i + 1
		}
		return len(s)
	case strings.HasPrefix(s, "/*"):
		closing, head = "*/", 2
	case closing == "":
		return 0
	}
	// A doubled quote inside is two texts side by side, which reads the same.
	end := strings.Index(s[head:], closing)
	if end < 0 {
		return -1
	}
	return head + end + len(closing)
}

// firstWord is the first word of a statement, comments passed over.
func firstWord(sql string) string {
	for sql = strings.TrimSpace(sql); strings.HasPrefix(sql, "--") || strings.HasPrefix(sql, "/*"); sql = strings.TrimSpace(sql) {
		n := quotedLen(sql)
		if n <= 0 {
			return ""
		}
		sql = sql[n:]
	}
	end := strings.IndexFunc(sql, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') })
	if end < 0 {
		end = len(sql)
	}
	return sql[:end]
}
