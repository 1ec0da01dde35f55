package replayer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// CodeMiss is the JSON-RPC error code of a [Miss] at the provider seam; the
// error's data is {"miss": ...}, see [Miss.AppendJSON].
const CodeMiss = -32004

// A Provider answers normalized requests from recordings. HTTP recordings are
// tied to the operations of a contract by method and path; provider recordings
// and traces name the operation themselves. It is safe for use by several
// goroutines.
//
// Recorded pages of one query are joined and served again in any page size.
// Recorded errors come back with their status, vendor code and body. A request
// that was not recorded is a [*provider.RPCError] that wraps a [*Miss].
type Provider struct {
	contract *contract
	deck     *deck
	apart    []*tape.Interaction // of no operation

	mu     sync.Mutex
	chains []*chain
	newest map[matchKey]*chain          // begun last, for clients that count pages
	heads  map[matchKey][]*chain        // all chains of a query
	cards  map[*tape.Interaction]*bound // how each interaction was read
}

// NewProvider reads the tapes into an index, in their order. The contract may be
// nil when no tape is one of HTTP alone. Nil options are the zero value.
func NewProvider(tapes []*tape.Tape, doc *air.Document, o *Options) (*Provider, error) {
	p := &Provider{
		newest: map[matchKey]*chain{}, heads: map[matchKey][]*chain{}, cards: map[*tape.Interaction]*bound{},
	}
	if doc != nil {
		var err error
		if p.contract, err = newContract(doc); err != nil {
			return nil, err
		}
	}
	d, err := newDeck(o, func(c *card) *asked { return p.cards[c.it].asked })
	if err != nil {
		return nil, err
	}
	p.deck = d
	for _, t := range tapes { // placeholders count for all tapes, so they are looked for first
		for _, it := range t.Interactions {
			if err := p.bound(it); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range tapes {
		for _, it := range t.Interactions {
			p.add(it)
		}
	}
	if d.order == OrderCausal {
		d.findNeeds()
	}
	return p, nil
}

// bound reads an interaction's request.
func (p *Provider) bound(it *tape.Interaction) error {
	b, err := p.bind(it)
	switch {
	case err != nil:
		return err
	case b == nil:
		p.apart = append(p.apart, it)
		return nil
	}
	p.cards[it] = b
	if hides(it) {
		p.deck.rules.hide(b.asked)
	}
	return nil
}

// add puts an interaction into the deck, a page into its chain.
func (p *Provider) add(it *tape.Interaction) {
	b := p.cards[it]
	if b == nil {
		return // apart
	}
	c := &card{it: it}
	if b.op != nil && b.op.paged && p.join(c, b) {
		return
	}
	p.deck.add(c, b.asked)
}

// bind ties an interaction to its operation; nil when the contract has none.
func (p *Provider) bind(it *tape.Interaction) (*bound, error) {
	if it.Call != nil {
		req, err := provider.DecodeRequest(it.Call.Request)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", it.Place(), err)
		}
		b := p.contract.bindCall(req)
		if b.op == nil {
			b.op = bare(req)
		}
		return b, nil
	}
	if p.contract == nil {
		return nil, fmt.Errorf("%s is a recording of HTTP: a contract has to say which operations it holds (--contract, or ANVIL_CONTRACT)", it.Tape)
	}
	return p.contract.bindHTTP(&it.Request), nil
}

// bare is the operation of a normalized request when no contract describes it.
func bare(req *provider.Request) *operation {
	return &operation{Operation: &air.Operation{ID: req.OperationID}, paged: req.Page != nil}
}

// join puts a page into the chain that it continues, or begins one. It is false
// for what is no page; an error in place of a page belongs to the chain that was
// to be continued.
func (p *Provider) join(c *card, b *bound) (joined bool) {
	// A page whose body cannot be read is asked for like a single answer, and says so.
	read, err := b.op.readPage(c.it, b.size)
	if err != nil {
		return false
	}
	key := b.asked.matchKey(p.deck.rules)
	ch := p.continued(key, b)
	if read == nil {
		if ch == nil {
			return false
		}
		ch.bumps = append(ch.bumps, bump{at: len(ch.items), it: c.it})
		ch.its = append(ch.its, c.it)
		ch.from = append(ch.from, len(ch.items))
		return true
	}
	if ch != nil {
		ch.add(c.it, read)
		return true
	}
	ch = &chain{id: len(p.chains), head: b.cursor, exact: p.deck.rules.keeps(b.op.ID, &field{class: "cursor"})}
	ch.numeric = b.op.counts() && (read.next == nil || isNumber(*read.next)) && (b.cursor == nil || isNumber(*b.cursor))
	if ch.numeric && b.cursor != nil {
		n, _ := number(*b.cursor)
		size, ok := number(b.size)
		if !ok {
			size = len(read.items)
		}
		if ch.start = b.op.at(n, size); ch.start == 0 {
			ch.head = nil
		}
	}
	ch.add(c.it, read)
	ch.card = c
	p.chains = append(p.chains, ch)
	p.heads[key] = append(p.heads[key], ch)
	c.pages = ch
	p.deck.add(c, b.asked)
	return true
}

func isNumber(text string) bool {
	_, ok := number(text)
	return ok
}

// continued is the chain that a recorded page goes on with, the newest first.
func (p *Provider) continued(key matchKey, b *bound) *chain {
	chains := p.heads[key]
	for i := len(chains) - 1; i >= 0; i-- {
		if chains[i].fits(b.op, b) {
			return chains[i]
		}
	}
	return nil
}

// Invoke implements [provider.Provider].
func (p *Provider) Invoke(_ context.Context, req *provider.Request) (*provider.Response, error) {
	b := p.contract.bindCall(req)
	if b.op == nil {
		b.op = bare(req)
	}
	var resp *provider.Response
	var err error
	if req.Page != nil {
		resp, err = p.page(b, req)
	} else {
		resp, err = p.single(b)
	}
	var miss *Miss
	if errors.As(err, &miss) {
		p.deck.told(miss)
		return nil, rpcError(miss)
	}
	return resp, err
}

// A missError is a Miss as the provider seam wants it.
type missError struct {
	*provider.RPCError
	miss *Miss
}

func (e *missError) Unwrap() []error { return []error{e.RPCError, e.miss} }

func rpcError(m *Miss) error {
	data := append(m.AppendJSON([]byte(`{"miss":`)), '}')
	return &missError{&provider.RPCError{Code: CodeMiss, Message: m.Error(), Data: data}, m}
}

func (p *Provider) single(b *bound) (*provider.Response, error) {
	c, err := p.deck.take(b.asked)
	if err != nil {
		return nil, err
	}
	return p.give(b, c)
}

// give is the answer of a card that is no page.
func (p *Provider) give(b *bound, c *card) (*provider.Response, error) {
	resp, err := b.op.answer(c.it)
	var malformed *provider.MalformedError
	if err != nil && !errors.As(err, &malformed) {
		err = notKept(b.asked, c.it, err)
	}
	return resp, err
}

// page answers a request for a page.
func (p *Provider) page(b *bound, req *provider.Request) (*provider.Response, error) {
	key := b.asked.matchKey(p.deck.rules)
	ch, at, err := p.place(b, key, req)
	if err != nil {
		return nil, err
	}
	if ch == nil {
		c, err := p.deck.take(b.asked)
		switch {
		case err != nil:
			return nil, p.headless(key, err)
		case c.pages == nil:
			return p.pageless(b, c)
		}
		ch = c.pages
		p.begin(key, ch)
	} else {
		p.deck.touch(ch.card)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	resp, err := ch.serve(b.op, b.asked, at, req)
	var miss *Miss
	if errors.As(err, &miss) {
		return nil, p.deck.missed(miss)
	}
	return resp, err
}

func (p *Provider) begin(key matchKey, ch *chain) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest[key] = ch
}

// headless adds to the miss of a query's first page that later ones are recorded.
func (p *Provider) headless(key matchKey, err error) error {
	var miss *Miss
	if errors.As(err, &miss) && miss.Reason == NotRecorded {
		for _, ch := range p.heads[key] {
			if ch.head != nil {
				miss.Detail = fmt.Sprintf("the first page of this query is not recorded: %s begins at the cursor %q", ch.its[0].Place(), *ch.head)
				break
			}
		}
	}
	return err
}

// pageless is a recorded answer of a paged operation that has no items: an error,
// or a success that says no (Slack's "ok": false), which is an error with its own
// status.
func (p *Provider) pageless(b *bound, c *card) (*provider.Response, error) {
	resp, err := p.give(b, c)
	if err != nil || !resp.OK || resp.Items != nil || c.it.Call != nil {
		return resp, err
	}
	body, err := recordedJSON(&c.it.Response)
	if err != nil {
		return nil, notKept(b.asked, c.it, err)
	}
	return b.op.failure(c.it.Response.Status, body), nil
}

// place finds the chain and the item that a cursor names; no chain means that
// the query begins.
func (p *Provider) place(b *bound, key matchKey, req *provider.Request) (*chain, int, error) {
	cursor := req.Page.Cursor
	if cursor == nil || *cursor == "" {
		return nil, 0, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if id, at, ok := parseCursor(*cursor); ok && id < len(p.chains) {
		for _, ch := range p.heads[key] {
			if ch.id == id {
				return ch, at, nil
			}
		}
	}
	at := 0
	if n, ok := number(*cursor); ok && b.op.counts() {
		if at = b.op.at(n, req.Page.Size); at == 0 {
			return nil, 0, nil
		}
		if ch := p.counting(key, at); ch != nil {
			return ch, at - ch.start, nil
		}
	}
	if ch, at := p.recordedCursor(key, *cursor); ch != nil {
		return ch, at, nil
	}
	if ch := p.newest[key]; at > 0 && ch != nil && ch.numeric && ch.start <= at {
		return ch, at - ch.start, nil // past its end
	}
	return nil, 0, p.deck.missed(&Miss{Reason: BadCursor, Asked: b.asked.op, Fields: p.deck.compared(b.asked), Detail: fmt.Sprintf(
		"the cursor %q was neither given out for this query nor recorded with it", *cursor)})
}

// counting is the chain that a page number or an offset goes on with: the one
// begun last, unless only another one holds the place.
func (p *Provider) counting(key matchKey, at int) *chain {
	newest := p.newest[key]
	if newest != nil && newest.holds(at) {
		return newest
	}
	for _, ch := range p.heads[key] {
		if ch.holds(at) {
			return ch
		}
	}
	return nil
}

// recordedCursor finds the page that the recording asked for with a cursor.
func (p *Provider) recordedCursor(key matchKey, cursor string) (*chain, int) {
	for _, ch := range p.heads[key] {
		for i, it := range ch.its {
			if b := p.cards[it]; b.cursor != nil && *b.cursor == cursor {
				return ch, ch.from[i]
			}
		}
	}
	return nil, 0
}

// Stats say what was given and missed so far.
func (p *Provider) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deck.stats()
}

// Apart lists the interactions that belong to no operation of the contract.
func (p *Provider) Apart() []*tape.Interaction { return p.apart }
