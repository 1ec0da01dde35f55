package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A crowd is clients that do not behave, beside ordinary ones.
type crowd struct {
	settings
	idle, bad, clients int
	dir, self          string
	stderr             *os.File
	rep                *figures
}

// crowdRun measures ordinary clients with and without a crowd around them. It is
// an error when one of them is not answered rightly, when an idle connection is
// lost, or when something of the crowd stays behind in the server.
func crowdRun(ctx context.Context, args []string, out io.Writer, stderr *os.File) error {
	c, err := parseCrowd(args, stderr)
	if err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "anvil-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(c.dir)
	if c.Binary, err = binary(ctx, c.Binary, "anvil-sim", c.dir, stderr); err != nil {
		return err
	}
	if c.self, err = os.Executable(); err != nil {
		return err
	}
	fixtures := filepath.Join(c.dir, "fixtures.db")
	if err := writeFixtures(fixtures); err != nil {
		return err
	}
	server, err := (&soak{binary: c.Binary, stderr: stderr}).start(ctx, "--fixtures", fixtures, "--admin")
	if err != nil {
		return err
	}
	defer server.close()
	c.rep = newFigures("crowd", c.Rounds)
	c.note()
	for range c.Rounds {
		if err := c.round(ctx, server); err != nil {
			return err
		}
	}
	return c.rep.print(out, c.JSON)
}

func parseCrowd(args []string, stderr *os.File) (*crowd, error) {
	c := &crowd{stderr: stderr}
	flags := newFlags("bench crowd", stderr)
	flags.StringVar(&c.Binary, "anvil-sim", "", "the binary to measure (default: build ./cmd/anvil-sim)")
	flags.IntVar(&c.Rounds, "rounds", 3, "rounds; medians are taken over them")
	flags.DurationVar(&c.For, "for", 5*time.Second, "length of a measurement of the ordinary clients")
	flags.IntVar(&c.idle, "idle", 10000, "connections that have asked once and stay open")
	flags.IntVar(&c.bad, "bad", 100, "bad clients of each of the kinds")
	flags.IntVar(&c.clients, "clients", 64, "ordinary clients")
	flags.BoolVar(&c.JSON, "json", false, "print JSON instead of a table")
	if _, err := parseShort(flags, args, map[string]string{"rounds": "1", "for": "200ms", "idle": "300", "bad": "8"}); err != nil {
		return nil, err
	}
	if c.Rounds < 1 || c.For <= 0 || c.idle < 1 || c.bad < 1 || c.clients < 1 {
		return nil, fmt.Errorf("every option wants more than 0, got %d, %v, %d, %d, %d", c.Rounds, c.For, c.idle, c.bad, c.clients)
	}
	return c, nil
}

// note lowers the number of idle connections to what the system allows; the
// server keeps a quarter of its files for the state.
func (c *crowd) note() {
	files, known := filesAllowed()
	if !known {
		return // it shows when they are opened
	}
	others := c.bad*len(badClients()) + c.clients + 100
	if most := int(min(files, math.MaxInt32)/4*3) - others; most < c.idle {
		c.rep.Notes = append(c.rep.Notes, fmt.Sprintf("%d open files are allowed here, so %d connections are idle and not %d", files, most, c.idle))
		c.idle = max(most, 1)
	}
	c.rep.Notes = append(c.rep.Notes, fmt.Sprintf("%d idle connections, %d bad clients of each of %d kinds, %d ordinary ones",
		c.idle, c.bad, len(badClients()), c.clients))
}

const crowdPath = "/ticket/T-1"

func (c *crowd) round(ctx context.Context, server *soaked) error {
	b := &bench{settings: c.settings, self: c.self}
	alone, err := b.load(ctx, server.url+crowdPath, c.clients)
	if err != nil {
		return fmt.Errorf("without the crowd: %w", err)
	}
	memory, routines, err := server.size(ctx)
	if err != nil {
		return err
	}
	files := openFiles(server.cmd.Process.Pid)
	host := strings.TrimPrefix(server.url, "http://")
	idle, err := c.gather(ctx, host)
	defer func() { closeConns(idle) }()
	if err != nil {
		return fmt.Errorf("after %d idle connections: %w", len(idle), err)
	}
	wait(ctx, 2*time.Second) // until they count as silent
	full, crowded, err := server.size(ctx)
	if err != nil {
		return err
	}
	c.rep.add("memory for one idle connection", "KB", (full-memory)*1024/float64(len(idle)))
	c.rep.add("goroutines with the idle ones", "", crowded)
	c.rep.add("open files with the idle ones", "", float64(openFiles(server.cmd.Process.Pid)))
	beside, err := c.beside(ctx, b, server, host)
	if err != nil {
		return fmt.Errorf("beside the crowd: %w", err)
	}
	c.rep.addRatio("p50 of the ordinary", "ms", beside.P50, "without the crowd", alone.P50)
	c.rep.addRatio("p99 of the ordinary", "ms", beside.P99, "without the crowd", alone.P99)
	c.rep.addRatio("answers", "/s", beside.rate(), "without the crowd", alone.rate())
	if lost := closedBy(idle); lost > 0 {
		return fmt.Errorf("%d of %d idle connections were closed by the server", lost, len(idle))
	}
	closeConns(idle)
	return c.settle(ctx, server, routines, files)
}

// gather opens the idle connections. Each has asked once.
func (c *crowd) gather(ctx context.Context, host string) (idle []net.Conn, err error) {
	const together = 64 // all must stand before the first was idle for too long
	request := []byte("GET " + crowdPath + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
	lists, errs := make([][]net.Conn, together), make([]error, together)
	var all sync.WaitGroup
	for i := range together {
		all.Go(func() {
			for n := i; n < c.idle && errs[i] == nil; n += together {
				var one *client
				if one, errs[i] = dial(ctx, host, request); errs[i] == nil {
					lists[i] = append(lists[i], one.conn)
				}
			}
		})
	}
	all.Wait()
	return slices.Concat(lists...), errors.Join(errs...)
}

// beside measures the ordinary clients among bad ones, whose answers it compares
// with each other meanwhile, and resets once.
func (c *crowd) beside(ctx context.Context, b *bench, server *soaked, host string) (r result, err error) {
	want, err := fetch(ctx, server.url+crowdPath, "")
	if err != nil {
		return r, err
	}
	working, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	var sent atomic.Int64
	for _, bad := range badClients() {
		for range c.bad {
			all.Go(func() { misbehave(working, host, bad, &sent) })
		}
	}
	for sent.Load() < int64(c.bad*len(badClients())) && ctx.Err() == nil {
		wait(ctx, 5*time.Millisecond) // until each of them has begun
	}
	wrong := make(chan error, 1)
	all.Go(func() { wrong <- compare(working, server.url+crowdPath, want) })
	began := time.Now()
	if err := post(ctx, server.url+"/__anvil/reset"); err != nil {
		return r, err
	}
	c.rep.add("a reset beside the crowd", "ms", time.Since(began).Seconds()*1000)
	r, err = b.load(ctx, server.url+crowdPath, c.clients)
	stop()
	return r, errors.Join(err, <-wrong)
}

// compare asks until ctx ends; it is an error when an answer is not the wanted.
func compare(ctx context.Context, url string, want []byte) error {
	for ctx.Err() == nil {
		got, err := fetch(ctx, url, "")
		if err == nil && string(got) != string(want) {
			err = fmt.Errorf("%s is answered %.200q, want %.200q", url, got, want)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// settle waits until nothing of the crowd is left in the server.
func (c *crowd) settle(ctx context.Context, server *soaked, routines, files float64) error {
	const patience, some = time.Minute, 24 // goroutines that come and go
	began := time.Now()
	for {
		memory, now, err := server.size(ctx)
		if err != nil {
			return err
		}
		open := openFiles(server.cmd.Process.Pid)
		if now <= routines+some && open <= files+some {
			c.rep.add("until the crowd was forgotten", "ms", time.Since(began).Seconds()*1000)
			c.rep.addRatio("goroutines after", "", now, "before", routines)
			if files > 0 {
				c.rep.addRatio("open files after", "", open, "before", files)
			}
			c.rep.add("memory after", "MB", memory)
			return nil
		}
		if time.Since(began) > patience || ctx.Err() != nil {
			return fmt.Errorf("after the crowd %.0f goroutines and %.0f open files stay, before it there were %.0f and %.0f", now, open, routines, files)
		}
		wait(ctx, 20*time.Millisecond)
	}
}

// openFiles is how many files a process has open, 0 where the system does not
// tell.
func openFiles(pid int) float64 {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0
	}
	return float64(len(list))
}

func closeConns(list []net.Conn) {
	for _, conn := range list {
		conn.Close()
	}
}

// closedBy counts connections that the other side has closed.
func closedBy(list []net.Conn) (n int) {
	for _, conn := range list {
		if conn.SetReadDeadline(time.Now().Add(100*time.Microsecond)) != nil {
			n++
			continue
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			n++
		}
	}
	return n
}
