package replayer

import (
	"bytes"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/parallel"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// A need says that a value of a request came from an earlier answer: one of the
// makers has to be answered first.
type need struct {
	value  string
	makers []int // positions, ascending
}

// mostMakers bounds how many answers are remembered for one value.
const mostMakers = 16

// findNeeds works out which requests of a deck carry a value that no earlier
// request carried and an earlier answer did.
func (d *deck) findNeeds() {
	wanted := map[string]*valueTrail{}
	for _, c := range d.cards {
		for _, v := range c.carried {
			if wanted[v] == nil {
				wanted[v] = &valueTrail{}
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	const window = 1024 // bounds what is held of their answers
	for from := 0; from < len(d.cards); from += window {
		cards := d.cards[from:min(len(d.cards), from+window)]
		for i, found := range answered(cards, wanted) {
			cards[i].follow(wanted, found)
		}
	}
}

// follow notes what a card needs, and what its answers make.
func (c *card) follow(wanted map[string]*valueTrail, found []*valueTrail) {
	for _, v := range c.carried {
		t := wanted[v]
		if len(t.makers) > 0 {
			c.needs = append(c.needs, need{v, t.makers[:len(t.makers):len(t.makers)]})
		} else {
			t.asked = true // the client knew it by itself
		}
	}
	c.carried = nil
	for _, t := range found {
		if t.open() && (len(t.makers) == 0 || t.makers[len(t.makers)-1] != c.pos) {
			t.makers = append(t.makers, c.pos)
		}
	}
}

// answered are the wanted values of each card's answers, those that are followed
// still.
func answered(cards []*card, wanted map[string]*valueTrail) [][]*valueTrail {
	found := make([][]*valueTrail, len(cards))
	parallel.Each(len(cards), func() func(int) bool {
		seen := map[*valueTrail]bool{}
		return func(i int) bool {
			clear(seen)
			for _, it := range cards[i].interactions() {
				eachValue(it, func(v []byte) {
					if t := wanted[string(v)]; t != nil && t.open() && !seen[t] {
						seen[t] = true
						found[i] = append(found[i], t)
					}
				})
			}
			return true
		}
	})
	return found
}

// A valueTrail is where a value was seen so far.
type valueTrail struct {
	asked  bool  // a request carried it before any answer did
	makers []int // answers that carry it
}

// open reports whether a further answer that carries the value counts.
func (t *valueTrail) open() bool { return !t.asked && len(t.makers) < mostMakers }

// carriedValues are the values of a request that name something, each once.
func carriedValues(a *asked) []string {
	var values []string
	seen := map[string]bool{}
	note := func(text string) {
		if names(text) && !seen[text] {
			seen[text] = true
			values = append(values, text)
		}
	}
	for i := range a.fields {
		switch f := &a.fields[i]; f.class {
		case "path":
			text := unquoted(f.value)
			if f.name != "" {
				note(text)
				continue
			}
			for segment := range strings.SplitSeq(text, "/") {
				note(unescape(segment, false))
			}
		case "query", "body", "cursor":
			note(unquoted(f.value))
		}
	}
	return values
}

func unquoted(value string) string {
	if inner, ok := plainString(value); ok {
		return inner
	}
	if len(value) > 1 && value[0] == '"' && canon.Valid([]byte(value)) {
		return canon.Unquote([]byte(value))
	}
	return value
}

// plainString is what a JSON string of printable ASCII without escapes stands for.
func plainString(value string) (string, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return "", false
	}
	inner := value[1 : len(value)-1]
	for i := range len(inner) {
		if c := inner[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return "", false
		}
	}
	return inner, true
}

const longestName = 256

// names reports whether a text can name one thing: it has a digit, is long enough
// not to be there by chance (3 characters, 4 for a number), and is no date.
func names(text string) bool {
	if len(text) < 3 || len(text) > longestName || !strings.ContainsAny(text, "0123456789") {
		return false
	}
	if strings.Trim(text, "0123456789.") == "" {
		return len(text) >= 4 && !(len(text) == 4 && (text[:2] == "19" || text[:2] == "20"))
	}
	return !(len(text) >= 10 && text[4] == '-' && text[7] == '-' && strings.Trim(text[:4]+text[5:7]+text[8:10], "0123456789") == "")
}

// eachValue calls yield with the values of an answer: the strings and numbers of
// its JSON, and the segments of its Location.
func eachValue(it *tape.Interaction, yield func([]byte)) {
	if it.Call != nil {
		scanValues(it.Call.Answer, yield)
		return
	}
	for _, location := range it.Response.Header.Values("Location") {
		for _, part := range strings.FieldsFunc(location, func(r rune) bool { return strings.ContainsRune("/?&=#", r) }) {
			yield([]byte(unescape(part, false)))
		}
	}
	body, err := it.Response.Content()
	if err != nil {
		return
	}
	if t := bytes.TrimLeft(body, " \r\n\t"); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		scanValues(t, yield)
	}
}

// canName reports whether JSON text may stand for what [names] takes: most texts of
// an answer do not, and need no look.
func canName(text []byte) bool {
	if len(text) < 3 || len(text) > longestName*6 {
		return false
	}
	for _, c := range text {
		if c >= '0' && c <= '9' {
			return true
		}
	}
	return false
}

// scanValues goes through JSON text without checking it. Strings with escapes are
// decoded when they are valid.
func scanValues(text []byte, yield func([]byte)) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			escaped := false
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					escaped = true
					end++
				}
				end++
			}
			if end >= len(text) {
				return
			}
			switch inner := text[i+1 : end]; {
			case !canName(inner):
			case !escaped:
				yield(inner)
			case canon.Valid(text[i : end+1]):
				yield([]byte(canon.Unquote(text[i : end+1])))
			}
			i = end + 1
		case c >= '0' && c <= '9' || c == '-':
			end := i + 1
			for end < len(text) && strings.IndexByte("0123456789.eE+-", text[end]) >= 0 {
				end++
			}
			if canName(text[i:end]) {
				yield(text[i:end])
			}
			i = end
		default:
			i++
		}
	}
}
