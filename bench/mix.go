package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// A mix is a soak whose clients choose their calls at random, and whose servers
// are all started anew every period. What each client asks follows from the seed;
// what comes between it does not.
type mix struct {
	*soak
	seed   uint64
	places []*place
	tapes  int    // begun so far
	tape   string // the last whole one
	stable *served
	gone   atomic.Int64 // calls that their client gave up
}

// A place is where a server is, this one or the next.
type place struct {
	name   string
	calls  []soakCall
	start  func(ctx context.Context) (*served, error)
	server *served
	url    atomic.Value // string
}

// Where the recorder is among the places; what is behind it plays its tapes.
const recorderPlace = 2

func newMix(s *soak, seed uint64) *mix { return &mix{soak: s, seed: seed} }

func (m *mix) run(ctx context.Context, out io.Writer) (err error) {
	if err := m.plan(); err != nil {
		return err
	}
	contract := filepath.Join(m.dir, "air.yaml")
	if m.stable, err = m.serve(ctx, "serve", "--contract", contract, "--trace", os.DevNull); err != nil {
		return err
	}
	defer m.stable.close()
	defer func() {
		for _, p := range m.places {
			if p.server != nil {
				p.server.close()
			}
		}
	}()
	for i, p := range m.places {
		if i > recorderPlace {
			// The first tape is of a single answer.
			if _, err := fetch(ctx, m.places[recorderPlace].server.url+"/v1/tickets/T-1", ""); err != nil {
				return err
			}
			if err := m.renew(ctx, m.places[recorderPlace]); err != nil {
				return err
			}
		}
		if err := m.renew(ctx, p); err != nil {
			return err
		}
	}
	return m.soakPlaces(ctx, out)
}

// soakPlaces lets the clients work, and starts the servers anew meanwhile.
func (m *mix) soakPlaces(ctx context.Context, out io.Writer) error {
	working, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for i := range m.clients {
		all.Go(func() { m.work(working, i) })
	}
	fmt.Fprintf(out, "seed %d\n    after      calls  refused  given up  wrong  restarts\n", m.seed)
	restarts := 0
	for began := time.Now(); time.Since(began) < m.length && ctx.Err() == nil; {
		wait(ctx, m.period)
		for _, p := range m.places {
			if err := m.renew(ctx, p); err != nil && ctx.Err() == nil {
				return err
			}
			restarts++
		}
		fmt.Fprintf(out, "%9s %10d %8d %9d %6d %9d\n", time.Since(began).Round(time.Second),
			m.calls.Load(), m.refused.Load(), m.gone.Load(), m.wrong.Load(), restarts)
	}
	stop()
	all.Wait()
	if m.wrong.Load() > 0 {
		return fmt.Errorf("%d calls were answered wrongly, the first: %v", m.wrong.Load(), m.firstWrong.Load())
	}
	return nil
}

// renew ends the server of a place, if there is one, and starts the next.
func (m *mix) renew(ctx context.Context, p *place) (err error) {
	if p.server != nil {
		if err := p.server.end(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if p.server, err = p.start(ctx); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.url.Store(p.server.url)
	return nil
}

func (m *mix) serve(ctx context.Context, args ...string) (*served, error) {
	return serve(ctx, m.stderr, m.binary, append(args, "--port", "0")...)
}

// plan writes what the servers serve, and says how each is started.
func (m *mix) plan() error {
	fixtures, contract := filepath.Join(m.dir, "fixtures.db"), filepath.Join(m.dir, "air.yaml")
	if err := errors.Join(writeFixtures(fixtures), os.WriteFile(contract, contractYAML, 0o644)); err != nil {
		return err
	}
	admin := []string{"serve", "--trace", os.DevNull, "--admin"}
	m.places = []*place{
		{name: "fixtures in process", calls: mixedCalls(), start: func(ctx context.Context) (*served, error) {
			return m.serve(ctx, append(admin, "--fixtures", fixtures)...)
		}},
		{name: "fixtures of a provider process", calls: mixedCalls(), start: func(ctx context.Context) (*served, error) {
			return m.serve(ctx, append(admin, "--provider-cmd", quote(m.binary, "provider", "sqlite", fixtures))...)
		}},
		{name: "recorder", calls: pipedCalls(), start: m.record},
		{name: "replay", calls: pipedCalls(), start: func(ctx context.Context) (*served, error) {
			return m.serve(ctx, "replay", m.tape, "--after-last", "loop")
		}},
	}
	return nil
}

// record starts a recorder with a new tape. The one before is whole then, and the
// one before that is of no use any more.
func (m *mix) record(ctx context.Context) (*served, error) {
	name := func(n int) string { return filepath.Join(m.dir, fmt.Sprintf("tape-%d.yaml", n)) }
	m.tape = name(m.tapes)
	_ = os.Remove(name(m.tapes - 2)) // the first ones were never there
	m.tapes++
	return m.serve(ctx, "record", "--target", m.stable.url, "--cassette", name(m.tapes))
}

// mixedCalls are made to the tickets of writeFixtures, and to the control
// endpoints. Which call an answer of /state is of may be gone by a reset.
func mixedCalls() []soakCall {
	calls := stateCalls()
	control := []soakCall{
		{"POST", "/__anvil/reset", "", []int{204}, "", ""},
		{"GET", "/__anvil/state", "", []int{200}, "", ""},
		{"GET", "/__anvil/state?call=N", "", []int{200, 409}, "", ""},
		{"GET", "/__anvil/state?tenant=t1", "", []int{200, 409}, "", ""},
		{"GET", "/__anvil/trace", "", []int{200}, "", ""},
		{"GET", "/__anvil/health", "", []int{200}, "", ""},
	}
	var all []soakCall
	for range 8 { // control is rarer
		all = append(all, calls...)
	}
	return append(all, control...)
}

// work is one client.
func (m *mix) work(ctx context.Context, i int) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	chance := rand.New(rand.NewPCG(m.seed, uint64(i)))
	p := m.places[i%len(m.places)]
	for ctx.Err() == nil {
		c, patience := pick(chance, p.calls)
		if patience == 0 {
			m.call(ctx, transport, p.url.Load().(string), c)
			continue
		}
		m.giveUp(ctx, transport, p.url.Load().(string), c, patience)
	}
}

// pick chooses a call: some are for a tenant, some have a key that was used
// before, some are given up after a moment, 0 for the others.
func pick(chance *rand.Rand, calls []soakCall) (c soakCall, patience time.Duration) {
	c = calls[chance.IntN(len(calls))].numbered(chance.IntN(100))
	if n := chance.IntN(8); n < 3 {
		c.tenant = fmt.Sprintf("t%d", n)
	}
	if n := chance.IntN(16); n < 4 && c.method == http.MethodPost {
		c.key = fmt.Sprintf("key-%d", n)
	}
	if chance.IntN(16) == 0 {
		patience = time.Duration(1+chance.IntN(5000)) * time.Microsecond
	}
	return c, patience
}

// giveUp makes a call and goes after a while, whatever came of it.
func (m *mix) giveUp(ctx context.Context, transport http.RoundTripper, url string, c soakCall, after time.Duration) {
	ctx, leave := context.WithTimeout(ctx, after)
	defer leave()
	m.gone.Add(1)
	request, err := http.NewRequestWithContext(ctx, c.method, url+c.path, http.NoBody)
	if err != nil {
		m.miss(err.Error())
		return
	}
	if response, err := transport.RoundTrip(request); err == nil {
		response.Body.Close()
	}
}
