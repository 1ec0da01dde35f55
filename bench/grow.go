package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A growth measures whether cost grows with the work and no faster: each kind of
// work at a size, at 10 and at 100 times that size, by processor time.
type growth struct {
	settings
	traceBinary string // anvil-trace; "" builds it
	scale       int    // the sizes are divided by it
	dir         string
	said        *os.File // what the servers write: a replay names each answer that nobody asked for
	rep         *figures
}

// growRun is `bench grow`.
func growRun(ctx context.Context, args []string, out io.Writer, stderr *os.File) (err error) {
	g, err := parseGrow(args, stderr)
	if err != nil {
		return err
	}
	if g.dir, err = os.MkdirTemp("", "anvil-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(g.dir)
	if g.Binary, err = binary(ctx, g.Binary, "anvil-sim", g.dir, stderr); err != nil {
		return err
	}
	if g.traceBinary, err = binary(ctx, g.traceBinary, "anvil-trace", g.dir, stderr); err != nil {
		return err
	}
	if g.said, err = os.OpenFile(filepath.Join(g.dir, "said"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	defer g.said.Close()
	g.rep = newFigures("grow", g.Rounds)
	for range g.Rounds {
		if err := g.round(ctx); err != nil {
			return err
		}
	}
	return g.rep.print(out, g.JSON)
}

func parseGrow(args []string, stderr *os.File) (*growth, error) {
	g := &growth{scale: 1}
	flags := flag.NewFlagSet("bench grow", flag.ContinueOnError)
	flags.SetOutput(stderr)
	short := flags.Bool("short", false, "a quick run: 1 round, a tenth of the work")
	flags.StringVar(&g.Binary, "anvil-sim", "", "the binary to measure (default: build ./cmd/anvil-sim)")
	flags.StringVar(&g.traceBinary, "anvil-trace", "", "the binary to measure (default: build ./cmd/anvil-trace)")
	flags.IntVar(&g.Rounds, "rounds", 3, "rounds; medians are taken over them")
	flags.BoolVar(&g.JSON, "json", false, "print JSON instead of a table")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if *short {
		g.Rounds, g.scale = 1, 10
	}
	if g.Rounds < 1 || flags.NArg() > 0 {
		return nil, fmt.Errorf("--rounds wants more than 0, and there are no arguments; got %d, %q", g.Rounds, flags.Args())
	}
	return g, nil
}

// round measures every kind once, from small to large.
func (g *growth) round(ctx context.Context) error {
	for _, k := range []struct {
		name string // with a place for the size
		from int
		cost func(ctx context.Context, n int) (ms float64, err error)
	}{
		{"start with %d operations", 20, g.operations},
		{"20 requests on each of %d connections", 10, g.connections},
		{"all pages of %d rows", 1000, g.rows},
		{"diff of %d calls, 1 in 1,000 inserted", 1000, g.diff},
		{"20 rules on %d calls", 1000, g.rules},
		{"start with %d tapes", 10, g.tapes},
		{"start with a tape of %d interactions", 100, g.interactions},
	} {
		tenth := 0.0
		for n := k.from / g.scale; n <= 100*k.from/g.scale; n *= 10 {
			ms, err := k.cost(ctx, n)
			if err != nil {
				return fmt.Errorf(k.name+": %w", n, err)
			}
			g.rep.grew(fmt.Sprintf(k.name, n), "ms", ms, tenth)
			tenth = ms
		}
	}
	return nil
}

// serving is the processor time of a server's whole life, in ms: it starts, use
// asks it, and it ends.
func (g *growth) serving(ctx context.Context, use func(p *served) error, args ...string) (ms float64, err error) {
	if err := g.said.Truncate(0); err != nil {
		return 0, err
	}
	p, err := serve(ctx, g.said, g.Binary, append(args, "--port", "0")...)
	if err != nil {
		said, _ := os.ReadFile(g.said.Name()) // the error is there without it
		return 0, fmt.Errorf("%w; it said: %.500s", err, said)
	}
	err = use(p)
	p.close()
	return millis(p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()), err
}

func (g *growth) operations(ctx context.Context, n int) (float64, error) {
	file := filepath.Join(g.dir, "air.yaml")
	if err := os.WriteFile(file, repeatContract(max(n/2, 1)), 0o644); err != nil { // it has two
		return 0, err
	}
	return g.serving(ctx, func(p *served) error {
		_, err := fetch(ctx, p.url+"/v1/tickets/T-1", "")
		return err
	}, "serve", "--contract", file)
}

// connections opens them all, and then all ask together, twenty requests each.
func (g *growth) connections(ctx context.Context, n int) (float64, error) {
	file := filepath.Join(g.dir, "air.yaml")
	if err := os.WriteFile(file, contractYAML, 0o644); err != nil {
		return 0, err
	}
	return g.serving(ctx, func(p *served) error {
		host := strings.TrimPrefix(p.url, "http://")
		request := []byte("GET /v1/tickets/T-1 HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		clients := make([]*client, n)
		for i := range clients {
			var err error
			if clients[i], err = dial(ctx, host, request); err != nil {
				return err
			}
			defer clients[i].conn.Close()
		}
		errs := make([]error, n)
		var all sync.WaitGroup
		for i, c := range clients {
			all.Go(func() { errs[i] = askTimes(c, 20) })
		}
		all.Wait()
		return errors.Join(errs...)
	}, "serve", "--contract", file)
}

// askTimes asks so often; anything but success is an error.
func askTimes(c *client, times int) error {
	for range times {
		status, err := c.once()
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d, want 200", status)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rows reads a table to its end, page by page.
func (g *growth) rows(ctx context.Context, n int) (float64, error) {
	file := filepath.Join(g.dir, "tickets.db")
	if err := os.RemoveAll(file); err != nil {
		return 0, err
	}
	if err := writeTickets(ctx, file, n); err != nil {
		return 0, err
	}
	return g.serving(ctx, func(p *served) error {
		var page struct {
			Cursor string `json:"next_cursor"`
		}
		for {
			text, err := fetch(ctx, p.url+"/tickets?limit=100&cursor="+url.QueryEscape(page.Cursor), "")
			if err != nil {
				return err
			}
			page.Cursor = ""
			if err := json.Unmarshal(text, &page); err != nil || page.Cursor == "" {
				return err
			}
		}
	}, "serve", "--fixtures", file)
}

func (g *growth) diff(ctx context.Context, n int) (float64, error) {
	a, b := filepath.Join(g.dir, "a.jsonl"), filepath.Join(g.dir, "b.jsonl")
	if err := writeTrace(a, n, variant{}); err != nil {
		return 0, err
	}
	if err := writeTrace(b, n, variant{addEvery: 1000, renumber: true}); err != nil {
		return 0, err
	}
	return g.run(ctx, "diff", a, b)
}

func (g *growth) rules(ctx context.Context, n int) (float64, error) {
	a, rules := filepath.Join(g.dir, "a.jsonl"), filepath.Join(g.dir, "rules.yaml")
	if err := writeTrace(a, n, variant{}); err != nil {
		return 0, err
	}
	if err := os.WriteFile(rules, []byte(twentyRules), 0o644); err != nil {
		return 0, err
	}
	return g.run(ctx, "assert", "-f", rules, a)
}

// run is the processor time of anvil-trace; that its answer is no is fine.
func (g *growth) run(ctx context.Context, args ...string) (ms float64, err error) {
	u, err := timed(ctx, io.Discard, []int{0, 1}, append([]string{g.traceBinary}, args...)...)
	return u.CPU * 1000, err
}

// tapes starts a replay of a folder of tapes, of ten interactions each.
func (g *growth) tapes(ctx context.Context, n int) (float64, error) {
	dir := filepath.Join(g.dir, fmt.Sprintf("tapes-%d", n))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	for i := range n {
		if err := writeTape(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), 10, 20_000); err != nil {
			return 0, err
		}
	}
	return g.replaying(ctx, dir)
}

func (g *growth) interactions(ctx context.Context, n int) (float64, error) {
	file := filepath.Join(g.dir, "tape.yaml")
	if err := writeTape(file, n, int64(n)*2000); err != nil {
		return 0, err
	}
	return g.replaying(ctx, file)
}

func (g *growth) replaying(ctx context.Context, path string) (float64, error) {
	return g.serving(ctx, func(*served) error { return nil }, "replay", path)
}
