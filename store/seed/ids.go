package seed

import (
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/air/synth"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// giveIDs makes the keys of an entity's rows; no two are equal, and more rows
// change none of the first ones.
func (e *entity) giveIDs(opts *Options) {
	taken := map[fixture.Value]bool{}
	for row := range opts.Rows {
		id := e.id(opts.Seed, row, 0)
		for try := 1; taken[id]; try++ {
			id = e.id(opts.Seed, row, try)
		}
		taken[id] = true
		e.ids = append(e.ids, id)
	}
}

// id is the key of a row: numbers from 1, a pattern's own digits counted on, a
// UUID, a text of the schema's pattern, or resource_ and a token as the built-in
// store has them.
func (e *entity) id(seed uint32, row, try int) fixture.Value {
	if e.key.decl == "INTEGER" {
		return int64(row + 1)
	}
	given := example(e.key.schema)
	label := e.label(e.key, row)
	if n, err := strconv.ParseInt(given, 10, 64); err == nil && n >= 0 {
		return strconv.FormatInt(n+int64(row), 10)
	}
	if e.key.schema.Get("format").Text() == "uuid" {
		bare := canon.NewObject(canon.Member{Key: "type", Value: canon.NewString("string")}, canon.Member{Key: "format", Value: canon.NewString("uuid")})
		return synth.Body(bare, seed, label).Text()
	}
	if prefix, digits := splitDigits(given); digits != "" && len(digits) < 18 && prefix != "" {
		n, _ := strconv.ParseInt(digits, 10, 64)
		return prefix + strconv.FormatInt(n+int64(row), 10)
	}
	rng := synth.NewRng(synth.BodySeed(seed, label+strings.Repeat("'", try)))
	if s, ok := matching(e.key.schema.Get("pattern").Text(), rng); ok && try < 100 {
		return s
	}
	return plainWord(e.noun) + "_" + rng.Token(8+try/100)
}

// splitDigits cuts PROJ-41 into PROJ- and 41.
func splitDigits(s string) (prefix, digits string) {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	return s[:i], s[i:]
}

// shortest is how long the open end of a pattern is made at least.
const shortest = 8

// matching makes a text that a pattern matches, where the pattern is of the plain
// kind that ids have: classes, literals, groups and repetitions.
func matching(pattern string, rng *synth.Rng) (string, bool) {
	if pattern == "" || !strings.HasPrefix(pattern, "^") || !strings.HasSuffix(pattern, "$") || len(pattern) > 200 {
		return "", false
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	ok := write(&b, re, rng)
	return b.String(), ok && b.Len() > 0
}

func write(b *strings.Builder, re *syntax.Regexp, rng *synth.Rng) bool {
	least, most := 1, 1
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpEmptyMatch, syntax.OpQuest:
		return true
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
		return true
	case syntax.OpCharClass:
		return writeClass(b, re.Rune, rng)
	case syntax.OpAlternate:
		return write(b, re.Sub[0], rng)
	case syntax.OpPlus, syntax.OpStar:
		least, most = 1, -1
	case syntax.OpRepeat:
		least, most = re.Min, re.Max
	case syntax.OpConcat, syntax.OpCapture:
	default:
		return false
	}
	if most < 0 {
		least = max(least, shortest)
	}
	for range min(least, 64) {
		for _, sub := range re.Sub {
			if !write(b, sub, rng) || b.Len() > 200 {
				return false
			}
		}
	}
	return true
}

// writeClass writes one printable character of a class.
func writeClass(b *strings.Builder, ranges []rune, rng *synth.Rng) bool {
	var all []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := max(ranges[i], '0'); r <= min(ranges[i+1], 'z') && len(all) < 128; r++ {
			if r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' {
				all = append(all, r)
			}
		}
	}
	if len(all) == 0 {
		if len(ranges) == 0 || ranges[0] < ' ' {
			return false
		}
		all = ranges[:1]
	}
	b.WriteRune(all[rng.Int(len(all))])
	return true
}

func plainWord(noun string) string { return strings.NewReplacer("-", "_", " ", "_").Replace(noun) }
