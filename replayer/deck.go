package replayer

import (
	"sync"

	"github.com/anvil-sim/anvil/replayer/tape"
)

// A deck is the recorded answers in order, with what was given of them. Its
// methods may be called by several goroutines.
type deck struct {
	rules     *rules
	told      func(*Miss)
	afterLast AfterLast
	order     Order
	read      func(*card) *asked // the comparable form, made again for a miss
	cards     []*card
	byKey     map[matchKey]*stack
	byGroup   map[string][]*card

	mu       sync.Mutex
	next     int   // of the strict order
	last     *card // given last, for a request with lastIdem
	lastIdem string
	keyed    map[keyedCall]*card
	misses   int
}

// A card is one recorded answer.
type card struct {
	it    *tape.Interaction
	pages *chain // the joined pages that stand behind it, nil for a single answer
	pos   int    // in the deck
	key   matchKey
	group string // requests of different groups are never equal
	idem  string // recorded idempotency key
	needs []need // what has to be answered before, in causal order

	carried []string // values of the request that name something, until needs are known

	used bool // guarded by the deck
}

// A stack is the cards that answer equal requests.
type stack struct {
	cards []*card
	given int      // how many were given
	first [1]*card // the room of cards: most stacks hold one
}

// A keyedCall is a request with its idempotency key.
type keyedCall struct {
	idem string
	key  matchKey
}

func newDeck(o *Options, read func(*card) *asked) (*deck, error) {
	r, err := o.compile()
	if err != nil {
		return nil, err
	}
	d := &deck{
		rules: r, afterLast: AfterError, order: OrderCausal, read: read,
		byKey: map[matchKey]*stack{}, byGroup: map[string][]*card{}, keyed: map[keyedCall]*card{},
	}
	d.told = func(*Miss) {}
	if o != nil && o.Missed != nil {
		d.told = o.Missed
	}
	if o != nil && o.AfterLast != "" {
		d.afterLast = o.AfterLast
	}
	if o != nil && o.Order != "" {
		d.order = o.Order
	}
	return d, nil
}

// add puts a card at the end; a is its request, which is not kept.
func (d *deck) add(c *card, a *asked) {
	d.label(c, a)
	d.put(c)
}

// label notes on a card how its request is found. Several cards may be labelled at
// once.
func (d *deck) label(c *card, a *asked) {
	c.key, c.group, c.idem = a.matchKey(d.rules), a.group, a.key
	if c.pages != nil && c.pages.head != nil {
		c.key[0] ^= 0xFF // no request that begins a query may find it
	}
	if d.order == OrderCausal {
		c.carried = carriedValues(a)
	}
}

// put puts a labelled card at the end.
func (d *deck) put(c *card) {
	c.pos = len(d.cards)
	d.cards = append(d.cards, c)
	s := d.byKey[c.key]
	if s == nil {
		s = &stack{}
		s.cards = s.first[:0]
		d.byKey[c.key] = s
	}
	s.cards = append(s.cards, c)
	d.byGroup[c.group] = append(d.byGroup[c.group], c)
}

// take finds the answer of a request. The error is a *Miss.
func (d *deck) take(a *asked) (*card, error) {
	key := a.matchKey(d.rules)
	d.mu.Lock()
	c, reason := d.pick(a, key)
	if reason == nil {
		d.give(c, a, key)
		d.mu.Unlock()
		return c, nil
	}
	d.misses++
	d.last = nil
	d.mu.Unlock()
	return nil, d.explain(a, reason)
}

// pick chooses the card of a request, under the lock.
func (d *deck) pick(a *asked, key matchKey) (*card, *refusal) {
	s := d.byKey[key]
	if s == nil {
		return nil, &refusal{reason: NotRecorded}
	}
	if c := d.retried(a, key, s); c != nil {
		return c, nil
	}
	if s.given == len(s.cards) {
		switch d.afterLast {
		case AfterRepeat:
			return s.cards[len(s.cards)-1], nil
		case AfterLoop:
			s.given = 0
		default:
			return nil, &refusal{reason: UsedUp, card: s.cards[len(s.cards)-1], count: len(s.cards)}
		}
	}
	c := s.cards[s.given]
	switch {
	case d.order == OrderStrict && c.pos != d.next%len(d.cards):
		refused := &refusal{reason: OutOfOrder, card: c}
		if d.next < len(d.cards) {
			refused.before = d.cards[d.next]
		}
		return nil, refused
	case d.order == OrderCausal:
		if n := d.unmet(c); n != nil {
			return nil, &refusal{reason: OutOfOrder, card: c, before: d.cards[n.makers[0]], value: n.value}
		}
	}
	return c, nil
}

// retried is the card that a retry gets again, nil when the request is no retry.
func (d *deck) retried(a *asked, key matchKey, s *stack) *card {
	if a.key != "" {
		if c := d.keyed[keyedCall{a.key, key}]; c != nil {
			// The recording may hold the second use of a key too, with its answer.
			if s.given < len(s.cards) && s.cards[s.given].idem == c.idem && c.idem != "" {
				return nil
			}
			return c
		}
	}
	c := d.last
	if c == nil || c.key != key || a.key != d.lastIdem {
		return nil
	}
	if s.given < len(s.cards) && s.cards[s.given].pos == c.pos+1 {
		return nil // the recording repeats it right there as well
	}
	return c
}

// give notes that a card answers a request.
func (d *deck) give(c *card, a *asked, key matchKey) {
	s := d.byKey[key]
	if s.given < len(s.cards) && s.cards[s.given] == c {
		s.given++
		d.next = c.pos + 1
	}
	c.used = true
	d.last, d.lastIdem = c, a.key
	if a.key != "" {
		d.keyed[keyedCall{a.key, key}] = c
	}
}

// unmet is the first value that a card's request carries and no answer gave yet.
func (d *deck) unmet(c *card) *need {
next:
	for i := range c.needs {
		for _, pos := range c.needs[i].makers {
			if d.cards[pos].used {
				continue next
			}
		}
		return &c.needs[i]
	}
	return nil
}

// Stats say how a replay went.
type Stats struct {
	Interactions int                 // in the recordings
	Used         int                 // given at least once
	Misses       int                 // requests without a recorded answer
	Unused       []*tape.Interaction // never given, in recorded order
}

func (d *deck) stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := Stats{Misses: d.misses}
	for _, c := range d.cards {
		var used, unused []*tape.Interaction
		switch {
		case c.pages != nil:
			used, unused = c.pages.reached()
		case c.used:
			used = c.interactions()
		default:
			unused = c.interactions()
		}
		s.Used += len(used)
		s.Unused = append(s.Unused, unused...)
		s.Interactions += len(used) + len(unused)
	}
	return s
}

// touch says that a page was given beside the deck: what follows is no retry.
func (d *deck) touch(c *card) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = nil
	c.used = true
	if c.pos == d.next {
		d.next++ // pages without a first one are never taken
	}
}

// missed counts a miss that was found beside the deck.
func (d *deck) missed(m *Miss) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.misses++
	return m
}

// interactions are the exchanges behind a card.
func (c *card) interactions() []*tape.Interaction {
	if c.pages != nil {
		return c.pages.its
	}
	return []*tape.Interaction{c.it}
}
