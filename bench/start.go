package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// startRun measures what a server costs before and beside its answers.
func startRun(ctx context.Context, args []string, out io.Writer, stderr *os.File) (err error) {
	s, contract, err := parseStart(args, stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "anvil-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if s.Binary, err = binary(ctx, s.Binary, "anvil-sim", dir, stderr); err != nil {
		return err
	}
	b := &bench{settings: s, dir: dir}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	rep := newFigures("start", s.Rounds)
	if err := b.measureStarts(ctx, contract, stderr, rep); err != nil {
		return err
	}
	if err := b.measureSlow(ctx, stderr, rep); err != nil {
		return err
	}
	return rep.print(out, s.JSON)
}

func parseStart(args []string, stderr io.Writer) (s settings, contract string, err error) {
	flags := newFlags("bench start", stderr)
	flags.StringVar(&s.Binary, "anvil-sim", "", "the binary to measure (default: build ./cmd/anvil-sim)")
	flags.IntVar(&s.Rounds, "rounds", 5, "rounds; medians are taken over them")
	flags.StringVar(&contract, "contract", "", "a contract to start with too, with the path of a GET: FILE=PATH")
	flags.BoolVar(&s.JSON, "json", false, "print JSON instead of a table")
	short, err := parseShort(flags, args, map[string]string{"rounds": "1"})
	if err != nil {
		return s, "", err
	}
	if s.For = time.Second; short {
		s.For = 50 * time.Millisecond
	}
	if s.Rounds < 1 {
		return s, "", fmt.Errorf("--rounds wants more than 0, got %d", s.Rounds)
	}
	if contract != "" && !strings.Contains(contract, "=/") {
		return s, "", fmt.Errorf("--contract %s: want FILE=/PATH, for example air.yaml=/user", contract)
	}
	return s, contract, nil
}

// measureStarts starts a server per contract and round, asks once, and asks over
// 64 connections: contracts of 2, 200 and 2,000 operations, and the one given.
func (b *bench) measureStarts(ctx context.Context, given string, stderr *os.File, rep *figures) error {
	type start struct{ name, file, path string }
	sizes := []int{1, 100, 1000}
	if b.Rounds == 1 {
		sizes = sizes[:2]
	}
	var starts []start
	for _, n := range sizes {
		file := filepath.Join(b.dir, fmt.Sprintf("air-%d.yaml", n))
		if err := os.WriteFile(file, repeatContract(n), 0o644); err != nil {
			return err
		}
		starts = append(starts, start{fmt.Sprintf("%d operations", 2*n), file, "/v1/tickets/T-1"})
	}
	if given != "" {
		file, path, _ := strings.Cut(given, "=")
		starts = append(starts, start{filepath.Base(file), file, path})
	}
	for range b.Rounds {
		for _, c := range starts {
			first, peak, err := b.start(ctx, c.file, c.path, stderr)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			rep.add("start to first answer, "+c.name, "ms", first.Seconds()*1000)
			if peak > 0 {
				rep.add("peak memory under 64 connections, "+c.name, "MB", peak)
			}
		}
	}
	return nil
}

// start is the time to the first answer of a new process, and its peak memory
// after some load; 0 where the system does not tell.
func (b *bench) start(ctx context.Context, contract, path string, stderr *os.File) (first time.Duration, peakMB float64, err error) {
	began := time.Now()
	p, err := serve(ctx, stderr, b.Binary, "serve", "--port", "0", "--contract", contract, "--trace", filepath.Join(b.dir, "start.jsonl"))
	if err != nil {
		return 0, 0, err
	}
	defer p.close()
	if _, err := fetch(ctx, p.url+path, ""); err != nil {
		return 0, 0, err
	}
	first = time.Since(began)
	if _, err := b.load(ctx, p.url+path, 64); err != nil {
		return 0, 0, err
	}
	return first, peakMemory(p.cmd.Process.Pid), nil
}

// repeatContract is the benchmark's contract with its operations n times, each
// time under other names, paths and schemas.
func repeatContract(n int) []byte {
	head, rest, _ := strings.Cut(string(contractYAML), "operations:\n")
	operations, schemas, _ := strings.Cut(rest, "schemas:\n")
	var text, tail strings.Builder
	text.WriteString(head + "operations:\n" + operations)
	tail.WriteString("schemas:\n" + schemas)
	for i := 1; i < n; i++ {
		names := strings.NewReplacer("tickets", fmt.Sprintf("tickets%d", i), "Ticket", fmt.Sprintf("Ticket%d", i), "resource: ticket", fmt.Sprintf("resource: ticket%d", i))
		text.WriteString(names.Replace(operations))
		tail.WriteString(names.Replace(schemas))
	}
	return []byte(text.String() + tail.String())
}

// measureSlow compares the answers of many connections with and without one
// request that its provider holds.
func (b *bench) measureSlow(ctx context.Context, stderr *os.File, rep *figures) error {
	conns := 1000
	if b.Rounds == 1 {
		conns = 50
	}
	contract := filepath.Join(b.dir, "air.yaml")
	if err := os.WriteFile(contract, contractYAML, 0o644); err != nil {
		return err
	}
	p, err := serve(ctx, stderr, b.Binary, "serve", "--port", "0", "--contract", contract,
		"--provider-cmd", quote(b.self, "part-provider"), "--trace", filepath.Join(b.dir, "slow.jsonl"))
	if err != nil {
		return err
	}
	defer p.close()
	for range b.Rounds {
		url := p.url + "/v1/tickets/T-1"
		alone, err := b.load(ctx, url, conns)
		if err != nil {
			return err
		}
		beside, err := b.load(ctx, url, conns, "--slow", "/v1/tickets/SLOW")
		if err != nil {
			return err
		}
		rep.addRatio(fmt.Sprintf("p99 of %d in flight beside one slow answer", conns), "ms", beside.P99, "without it", alone.P99)
	}
	return nil
}
