package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A soak keeps two servers busy for a while: one on a fixture database that is
// reset every period, one on a provider process that is started anew with it. It
// tells what memory and goroutines did.
type soak struct {
	binary, self, dir string
	length, period    time.Duration
	clients           int
	stderr            *os.File

	calls, refused, wrong atomic.Int64
	firstWrong            atomic.Value
}

// soakRun runs a soak; it is an error when a call was answered wrongly, or when
// the last quarter needs noticeably more than the second.
func soakRun(ctx context.Context, args []string, out io.Writer, stderr *os.File) error {
	s := &soak{stderr: stderr}
	flags := newFlags("bench soak", stderr)
	flags.StringVar(&s.binary, "anvil-sim", "", "the binary to measure (default: build ./cmd/anvil-sim)")
	flags.DurationVar(&s.length, "for", time.Hour, "length of the run")
	flags.DurationVar(&s.period, "period", 30*time.Second, "time between resets")
	flags.IntVar(&s.clients, "clients", 64, "clients, half of them on each server")
	mixed := flags.Bool("mix", false, "calls at random to a fixture database, a provider process, a recorder and a replay, which are all started anew every period")
	seed := flags.Uint64("seed", 1, "what the calls of --mix follow from")
	if err := parseFlags(flags, args); err != nil {
		return err
	}
	if s.clients < 2 || s.period <= 0 || s.length < s.period {
		return fmt.Errorf("--clients wants 2 or more, --for at least one --period; got %d, %v, %v", s.clients, s.length, s.period)
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "anvil-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if s.binary, err = binary(ctx, s.binary, "anvil-sim", s.dir, stderr); err != nil {
		return err
	}
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	if *mixed {
		return newMix(s, *seed).run(ctx, out)
	}
	return s.run(ctx, out)
}

func (s *soak) run(ctx context.Context, out io.Writer) error {
	fixtures, contract := filepath.Join(s.dir, "fixtures.db"), filepath.Join(s.dir, "air.yaml")
	if err := writeFixtures(fixtures); err != nil {
		return err
	}
	if err := os.WriteFile(contract, contractYAML, 0o644); err != nil {
		return err
	}
	state, err := s.start(ctx, "--fixtures", fixtures, "--admin")
	if err != nil {
		return err
	}
	defer state.close()
	piped, err := s.startPiped(ctx, contract)
	if err != nil {
		return err
	}
	defer func() { piped.close() }()
	working, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	var pipedURL atomic.Value
	pipedURL.Store(piped.url)
	for i := range s.clients {
		if i%2 == 0 {
			all.Go(func() { s.client(working, i, func() string { return state.url }, stateCalls()) })
		} else {
			all.Go(func() { s.client(working, i, func() string { return pipedURL.Load().(string) }, pipedCalls()) })
		}
	}
	fmt.Fprintln(out, "    after      calls  refused  wrong  memory MB  goroutines")
	var memory, routines []float64
	for began := time.Now(); time.Since(began) < s.length && ctx.Err() == nil; {
		wait(ctx, s.period)
		if err := post(ctx, state.url+"/__anvil/reset"); err != nil && ctx.Err() == nil {
			return err
		}
		if err := piped.end(); err != nil {
			return err
		}
		if piped, err = s.startPiped(ctx, contract); err != nil {
			return err
		}
		pipedURL.Store(piped.url)
		m, g, err := state.size(ctx)
		if err != nil {
			return err
		}
		memory, routines = append(memory, m), append(routines, g)
		fmt.Fprintf(out, "%9s %10d %8d %6d %10.1f %11.0f\n", time.Since(began).Round(time.Second), s.calls.Load(), s.refused.Load(), s.wrong.Load(), m, g)
	}
	return s.verdict(out, memory, routines)
}

// verdict compares the last quarter of the samples with the second.
func (s *soak) verdict(out io.Writer, memory, routines []float64) error {
	quarter := func(v []float64, n int) float64 { return median(v[n*len(v)/4 : max((n+1)*len(v)/4, n*len(v)/4+1)]) }
	m2, m4 := quarter(memory, 1), quarter(memory, 3)
	g2, g4 := quarter(routines, 1), quarter(routines, 3)
	fmt.Fprintf(out, "\nsecond quarter %.1f MB, %.0f goroutines; last quarter %.1f MB, %.0f goroutines\n", m2, g2, m4, g4)
	switch {
	case s.wrong.Load() > 0:
		return fmt.Errorf("%d calls were answered wrongly, the first: %v", s.wrong.Load(), s.firstWrong.Load())
	case m4 > 1.2*m2+8:
		return fmt.Errorf("memory grew from %.1f to %.1f MB", m2, m4)
	case g4 > 1.2*g2+16:
		return fmt.Errorf("goroutines grew from %.0f to %.0f", g2, g4)
	}
	return nil
}

// wait returns after d, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// A soaked is a server that tells its size.
type soaked struct {
	*served
	pprof string
}

func (s *soak) start(ctx context.Context, args ...string) (*soaked, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := listener.Addr().String()
	listener.Close() // the server takes it right away
	p, err := serve(ctx, s.stderr, s.binary, append([]string{"serve", "--port", "0", "--trace", os.DevNull, "--pprof", addr}, args...)...)
	if err != nil {
		return nil, err
	}
	return &soaked{served: p, pprof: "http://" + addr + "/debug/pprof/"}, nil
}

func (s *soak) startPiped(ctx context.Context, contract string) (*soaked, error) {
	return s.start(ctx, "--contract", contract, "--provider-cmd", quote(s.self, "part-provider"))
}

// size is the resident memory in MB after a collection, and the number of
// goroutines.
func (p *soaked) size(ctx context.Context) (memory, routines float64, err error) {
	if _, err := fetch(ctx, p.pprof+"heap?gc=1", ""); err != nil {
		return 0, 0, err
	}
	text, err := fetch(ctx, p.pprof+"goroutine?debug=1", "")
	if err != nil {
		return 0, 0, err
	}
	var n int
	if _, err := fmt.Sscanf(string(text), "goroutine profile: total %d", &n); err != nil {
		return 0, 0, fmt.Errorf("no goroutine profile: %.80q: %w", text, err)
	}
	return statusMB(p.cmd.Process.Pid, "VmRSS:"), float64(n), nil
}

func post(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("POST %s: status %d, want success: %.200s", url, response.StatusCode, answer)
	}
	return err
}

// A soakCall is one request; N in path and body is a number that moves on.
type soakCall struct {
	method, path, body string
	statuses           []int
	tenant, key        string // "": none
}

// stateCalls are made to the tickets of writeFixtures.
func stateCalls() []soakCall {
	return []soakCall{
		{"GET", "/ticket/T-1", "", []int{200, 404}, "", ""},
		{"GET", "/ticket?status=open&limit=20", "", []int{200}, "", ""},
		{"POST", "/ticket", `{"subject":"soak N","status":"open","priority":1,"urgent":0,"created_at":"2026-01-01T00:00:00Z"}`, []int{201}, "", ""},
		{"PATCH", "/ticket/T-N", `{"status":"closed"}`, []int{200, 404}, "", ""},
		{"GET", "/ticket/T-N", "", []int{200, 404}, "", ""},
		{"DELETE", "/ticket/T-N", "", []int{200, 204, 404}, "", ""},
		{"POST", "/ticket", `{"subject":`, []int{400}, "", ""},
		{"GET", "/nowhere/N", "", []int{404}, "", ""},
	}
}

// pipedCalls are made to contract.yaml.
func pipedCalls() []soakCall {
	return []soakCall{
		{"GET", "/v1/tickets/T-N", "", []int{200}, "", ""},
		{"POST", "/v1/tickets", `{"subject":"soak N"}`, []int{201}, "", ""},
		{"GET", "/v1/nowhere", "", []int{404}, "", ""},
	}
}

// client makes calls until ctx ends.
func (s *soak) client(ctx context.Context, start int, url func() string, calls []soakCall) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for n := start; ctx.Err() == nil; n++ {
		s.call(ctx, transport, url(), calls[n%len(calls)].numbered(n%997))
	}
}

// numbered puts the number in.
func (c soakCall) numbered(n int) soakCall {
	number := strconv.Itoa(n)
	c.path, c.body = strings.ReplaceAll(c.path, "N", number), strings.ReplaceAll(c.body, "N", number)
	return c
}

// call makes one call. No connection, or 503 from a server that ends, is a refusal;
// any other status that is not expected is wrong.
func (s *soak) call(ctx context.Context, transport http.RoundTripper, url string, c soakCall) {
	request, err := http.NewRequestWithContext(ctx, c.method, url+c.path, strings.NewReader(c.body))
	if err != nil {
		s.miss(err.Error())
		return
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"X-Anvil-Tenant": c.tenant, "Idempotency-Key": c.key} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		s.refused.Add(1)
		wait(ctx, 5*time.Millisecond) // a server is on its way
		return
	}
	answer, _ := io.ReadAll(response.Body) // counted by its status
	response.Body.Close()
	s.calls.Add(1)
	switch {
	case response.StatusCode == http.StatusServiceUnavailable:
		s.refused.Add(1)
	case !slices.Contains(c.statuses, response.StatusCode):
		s.miss(fmt.Sprintf("%s %s: status %d, want %v: %.200s", c.method, request.URL, response.StatusCode, c.statuses, answer))
	}
}

func (s *soak) miss(what string) {
	s.wrong.Add(1)
	s.firstWrong.CompareAndSwap(nil, what)
}
