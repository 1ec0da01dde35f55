package replayer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/anvil-sim/anvil/internal/canon"
)

// Reason is why a request has no answer.
type Reason string

// The reasons of a miss.
const (
	NotRecorded Reason = "not_recorded" // no recorded request is equal
	UsedUp      Reason = "used_up"      // each recorded answer was given
	OutOfOrder  Reason = "out_of_order" // it is recorded, but something has to come before
	PastEnd     Reason = "past_end"     // the recording stops before the page that was asked for
	BadCursor   Reason = "bad_cursor"   // the page cursor was neither recorded nor given out
	NotKept     Reason = "not_kept"     // the interaction is recorded without what the answer needs
)

// A Miss is a request that the recordings do not answer.
type Miss struct {
	Reason  Reason
	Asked   string  // operation id, or METHOD /path
	Fields  []Value // what was asked and is compared
	Closest []Near  // the most alike first, at most three
	Accept  *Accept // a rule that would accept the request; nil when there is none
	Detail  string  // what else there is to say, "" for nothing
}

// A Value is one field of a request: its name as rules spell it, its value as JSON.
type Value struct{ Name, Value string }

// A Near is a recorded request that is like the one that was asked.
type Near struct {
	Place  string // tape and position
	Op     string
	Differ []Difference
}

// A Difference is one field that two requests do not share. A side that has not
// got the field is "".
type Difference struct {
	Name            string
	Asked, Recorded string // as JSON
	Diff            string // line by line, for texts of several lines
}

// An Accept is a rule that makes the request match.
type Accept struct {
	Rules     []string // to pass with --ignore, one each
	Ambiguous int      // other interactions that the rules would make equal to one another
}

// A refusal is what the deck says about a request, before it is explained.
type refusal struct {
	reason Reason
	card   *card // that would have answered
	before *card // that has to be answered first
	value  string
	count  int
}

const (
	mostNear    = 3
	mostDiffer  = 12
	mostCompare = 20000 // recorded requests that a miss looks at
)

// explain makes the miss of a request.
func (d *deck) explain(a *asked, r *refusal) *Miss {
	m := &Miss{Reason: r.reason, Asked: a.op, Fields: d.compared(a)}
	switch r.reason {
	case UsedUp:
		m.Detail = fmt.Sprintf("it is recorded %s (last %s) and each answer was given; --after-last repeat or loop answers further calls", times(r.count), r.card.it.Place())
		return m
	case OutOfOrder:
		m.Detail = d.orderDetail(r)
		return m
	}
	near := d.nearest(a)
	for _, c := range near[:min(len(near), mostNear)] {
		m.Closest = append(m.Closest, d.describe(a, c))
	}
	if len(near) > 0 {
		m.Accept = d.accept(a, near[0])
	}
	return m
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

func (d *deck) orderDetail(r *refusal) string {
	switch {
	case r.value != "":
		return fmt.Sprintf("it carries %q, which the recording got from the answer of %s (%s), and that was not asked yet; --order free lifts this",
			r.value, r.before.it.Place(), d.read(r.before).op)
	case r.before != nil:
		return fmt.Sprintf("it is recorded as %s, but the next one is %s (%s); --order causal or free lifts this", r.card.it.Place(), r.before.it.Place(), d.read(r.before).op)
	}
	return fmt.Sprintf("it is recorded as %s, and the whole recording was played; --order causal or free lifts this", r.card.it.Place())
}

// compared are the fields of a request that take part in a match.
func (d *deck) compared(a *asked) []Value {
	var list []Value
	for i := range a.fields {
		if f := &a.fields[i]; d.rules.keeps(a.op, f) {
			list = append(list, Value{f.label(), clip(shown(f.value))})
		}
	}
	return list
}

// shown is a value as people write it: the identity form of a number has always
// an exponent.
func shown(value string) string {
	digits, exp, ok := strings.Cut(value, "e")
	n, err := strconv.Atoi(exp)
	if !ok || err != nil || strings.Trim(digits, "-0123456789") != "" || n > 20 || n < -20 {
		return value
	}
	sign := ""
	if rest, neg := strings.CutPrefix(digits, "-"); neg {
		sign, digits = "-", rest
	}
	if n >= 0 {
		return sign + digits + strings.Repeat("0", n)
	}
	if pad := 1 - n - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	point := len(digits) + n
	return sign + digits[:point] + "." + digits[point:]
}

const mostShown = 200

func clip(s string) string {
	if len(s) <= mostShown {
		return s
	}
	return strings.ToValidUTF8(s[:mostShown], "") + "..."
}

// A nearCard is a card with how it differs from a request.
type nearCard struct {
	*card
	asked  *asked
	differ []fieldPair
	weight int
}

type fieldPair struct{ asked, recorded *field }

// nearest are the cards of the same group, most alike first; of any group when
// the group is empty.
func (d *deck) nearest(a *asked) []nearCard {
	cards := d.byGroup[a.group]
	if len(cards) == 0 {
		cards = d.cards
	}
	var near []nearCard
	for _, c := range cards[:min(len(cards), mostCompare)] {
		n := nearCard{card: c, asked: d.read(c)}
		n.differ = d.differ(a, n.asked)
		for _, p := range n.differ {
			n.weight += p.weight()
		}
		if n.asked.group != a.group {
			n.weight += 8
		}
		near = append(near, n)
	}
	slices.SortStableFunc(near, func(x, y nearCard) int { return cmp.Compare(x.weight, y.weight) })
	return near
}

// weight says how much a difference counts: a path more than all the rest.
func (p fieldPair) weight() int {
	f := p.asked
	if f == nil {
		f = p.recorded
	}
	if f.class != "path" || p.asked == nil || p.recorded == nil {
		return 1
	}
	x, y := strings.Split(unquoted(p.asked.value), "/"), strings.Split(unquoted(p.recorded.value), "/")
	weight := 4
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || x[i] != y[i] {
			weight += 4
		}
	}
	return weight
}

// differ lists the compared fields that are not equal; both sides are sorted.
func (d *deck) differ(a, b *asked) []fieldPair {
	var pairs []fieldPair
	x, y := d.kept(a), d.kept(b)
	for len(x) > 0 || len(y) > 0 {
		order := 0
		switch {
		case len(x) == 0:
			order = 1
		case len(y) == 0:
			order = -1
		default:
			order = cmp.Or(cmp.Compare(x[0].class, y[0].class), cmp.Compare(x[0].name, y[0].name))
		}
		switch {
		case order < 0:
			pairs = append(pairs, fieldPair{asked: x[0]})
			x = x[1:]
		case order > 0:
			pairs = append(pairs, fieldPair{recorded: y[0]})
			y = y[1:]
		default:
			if x[0].value != y[0].value {
				pairs = append(pairs, fieldPair{x[0], y[0]})
			}
			x, y = x[1:], y[1:]
		}
	}
	return pairs
}

func (d *deck) kept(a *asked) []*field {
	var list []*field
	for i := range a.fields {
		if d.rules.keeps(a.op, &a.fields[i]) {
			list = append(list, &a.fields[i])
		}
	}
	return list
}

func (d *deck) describe(a *asked, c nearCard) Near {
	n := Near{Place: c.it.Place(), Op: c.asked.op}
	if c.asked.group != a.group {
		n.Differ = append(n.Differ, Difference{Name: "operation", Asked: quote(a.op), Recorded: quote(c.asked.op)})
	}
	for _, p := range c.differ[:min(len(c.differ), mostDiffer)] {
		diff := Difference{}
		if p.asked != nil {
			diff.Name, diff.Asked = p.asked.label(), clip(shown(p.asked.value))
		}
		if p.recorded != nil {
			diff.Name, diff.Recorded = p.recorded.label(), clip(shown(p.recorded.value))
		}
		if p.asked != nil && p.recorded != nil {
			diff.Diff = lineDiff(unquoted(p.recorded.value), unquoted(p.asked.value))
		}
		n.Differ = append(n.Differ, diff)
	}
	return n
}

// lineDiff compares two texts of several lines, "" for others.
func lineDiff(recorded, asked string) string {
	if !strings.Contains(recorded, "\n") && !strings.Contains(asked, "\n") {
		return ""
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(recorded), B: difflib.SplitLines(asked), FromFile: "recorded", ToFile: "asked", Context: 1,
	})
	if err != nil {
		return ""
	}
	return text
}

func quote(s string) string { return string(canon.AppendString(nil, s)) }

// accept is the rule that would make the closest recorded request match, and how
// many other interactions it would make ambiguous. A path or another operation is
// never ignored.
func (d *deck) accept(a *asked, c nearCard) *Accept {
	if c.asked.group != a.group || len(c.differ) == 0 || len(c.differ) > mostDiffer {
		return nil
	}
	wider := &rules{match: d.rules.match, ignore: slices.Clone(d.rules.ignore), hidden: d.rules.hidden}
	accept := &Accept{}
	for _, p := range c.differ {
		f := p.asked
		if f == nil {
			f = p.recorded
		}
		if f.class == "path" || f.class == "host" {
			return nil
		}
		text := a.op + ":" + f.label()
		r, err := parseRule(text)
		if err != nil || r.op != a.op {
			return nil
		}
		wider.ignore = append(wider.ignore, r)
		accept.Rules = append(accept.Rules, text)
	}
	accept.Ambiguous = d.ambiguous(a.group, c.pos, wider)
	return accept
}

// ambiguous counts the interactions of a group, but for one, that would become
// equal to one that they differ from now.
func (d *deck) ambiguous(group string, except int, wider *rules) int {
	cards := d.byGroup[group]
	cards = cards[:min(len(cards), mostCompare)]
	widened := make([]matchKey, len(cards))
	before := map[matchKey]map[matchKey]bool{}
	for i, c := range cards {
		widened[i] = d.read(c).matchKey(wider)
		if before[widened[i]] == nil {
			before[widened[i]] = map[matchKey]bool{}
		}
		before[widened[i]][c.key] = true
	}
	n := 0
	for i, c := range cards {
		if c.pos != except && len(before[widened[i]]) > 1 {
			n++
		}
	}
	return n
}
