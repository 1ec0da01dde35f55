package replayer

import (
	"errors"
	"fmt"

	"github.com/anvil-sim/anvil/internal/parallel"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// A Player answers HTTP requests from recordings, without a contract. It is safe
// for use by several goroutines.
type Player struct {
	deck  *deck
	hosts bool
}

// NewPlayer reads the tapes into an index, in their order. A recording of the
// provider seam alone holds no HTTP and is an error. Nil options are the zero
// value.
func NewPlayer(tapes []*tape.Tape, o *Options) (*Player, error) { return newPlayer(tapes, o, false) }

// newPlayer compares hosts when a client says for which host a request is.
func newPlayer(tapes []*tape.Tape, o *Options, hosts bool) (*Player, error) {
	p := &Player{hosts: hosts}
	d, err := newDeck(o, func(c *card) *asked { return readRequest(&c.it.Request, hosts) })
	if err != nil {
		return nil, err
	}
	p.deck = d
	for _, t := range tapes {
		for _, it := range t.Interactions {
			if hides(it) {
				d.rules.hide(readRequest(&it.Request, hosts))
			}
		}
	}
	count := 0
	for _, t := range tapes {
		count += len(t.Interactions)
	}
	cards := make([]card, 0, count)
	for _, t := range tapes {
		for _, it := range t.Interactions {
			if !it.HTTP() {
				return nil, fmt.Errorf("%s: a %s holds what a provider was asked and no HTTP; answer from it with 'anvil-sim provider cassette'", t.Name, t.Format)
			}
			cards = append(cards, card{it: it})
		}
	}
	p.label(cards)
	d.byKey = make(map[matchKey]*stack, len(cards))
	for i := range cards {
		d.put(&cards[i])
	}
	if d.order == OrderCausal {
		d.findNeeds()
	}
	return p, nil
}

// label notes on the cards how their requests are found, a block of them after the
// other.
func (p *Player) label(cards []card) {
	const block = 64
	headers := p.deck.rules.readsHeaders()
	parallel.Each((len(cards)+block-1)/block, func() func(int) bool {
		var room []field
		return func(i int) bool {
			for k := range cards[i*block : min(len(cards), (i+1)*block)] {
				c := &cards[i*block+k]
				a := readInto(room, &c.it.Request, p.hosts, headers)
				room = a.fields
				p.deck.label(c, a)
			}
			return true
		}
	})
}

// Answer finds the recorded answer of a request. The error is a *[Miss]. The
// interaction may be a recorded failure.
func (p *Player) Answer(r *tape.Request) (*tape.Interaction, error) {
	c, err := p.deck.take(readRequest(r, p.hosts))
	if err != nil {
		var miss *Miss
		if errors.As(err, &miss) {
			p.deck.told(miss)
		}
		return nil, err
	}
	if cut := c.it.Response.Cut; cut != "" && c.it.Failure == nil {
		miss := notKept(readRequest(r, p.hosts), c.it, errors.New("the answer's body is not whole: "+cut))
		p.deck.told(miss)
		return nil, p.deck.missed(miss)
	}
	return c.it, nil
}

// Stats say what was given and missed so far.
func (p *Player) Stats() Stats { return p.deck.stats() }
