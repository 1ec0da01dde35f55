package main

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

//go:embed contract.yaml
var contractYAML []byte

//go:embed provider.py
var providerPython []byte

// A target is one way of serving the same read.
type target struct {
	name  string
	args  []string // of anvil-sim serve
	path  string   // what is asked
	piped bool     // a request goes over a pipe

	server *served
	mux    string // URL of the limit with the same bytes
}

// A bench holds the servers of one run.
type bench struct {
	settings
	self    string
	dir     string
	targets []*target
	mux     *served
	notes   []string
}

// newBench starts everything. The bench is to be closed after an error too.
func newBench(ctx context.Context, s settings, dir string, stderr *os.File) (*bench, error) {
	b := &bench{settings: s, dir: dir}
	var err error
	if b.self, err = os.Executable(); err != nil {
		return b, err
	}
	if b.targets, err = b.plan(); err != nil {
		return b, err
	}
	muxArgs := []string{"part-mux"}
	for i, t := range b.targets {
		trace := filepath.Join(dir, fmt.Sprintf("trace-%d.jsonl", i))
		args := append([]string{"serve", "--port", "0", "--trace", trace}, t.args...)
		if t.server, err = serve(ctx, stderr, s.Binary, args...); err != nil {
			return b, fmt.Errorf("%s: %w", t.name, err)
		}
		body, err := fetch(ctx, t.server.url+t.path)
		if err != nil {
			return b, fmt.Errorf("%s: %w", t.name, err)
		}
		file := filepath.Join(dir, fmt.Sprintf("body-%d", i))
		if err := os.WriteFile(file, body, 0o644); err != nil {
			return b, err
		}
		muxArgs = append(muxArgs, file)
	}
	if b.mux, err = serve(ctx, stderr, b.self, muxArgs...); err != nil {
		return b, err
	}
	for i, t := range b.targets {
		t.mux = fmt.Sprintf("%s/%d", b.mux.url, i)
	}
	return b, nil
}

func (b *bench) close() {
	for _, t := range b.targets {
		if t.server != nil {
			t.server.close()
		}
	}
	if b.mux != nil {
		b.mux.close()
	}
}

// plan writes the files that the targets need.
func (b *bench) plan() ([]*target, error) {
	contract, script, fixtures := filepath.Join(b.dir, "air.yaml"), filepath.Join(b.dir, "provider.py"), filepath.Join(b.dir, "fixtures.db")
	err := errors.Join(
		os.WriteFile(contract, contractYAML, 0o644),
		os.WriteFile(script, providerPython, 0o644),
		writeFixtures(fixtures),
	)
	if err != nil {
		return nil, err
	}
	const read = "/v1/tickets/T-1"
	targets := []*target{
		{name: "built-in store", args: []string{"--contract", contract}, path: read},
		{name: "fixtures in process", args: []string{"--fixtures", fixtures}, path: "/ticket/T-1"},
		{name: "stdio, bare Go", args: []string{"--contract", contract, "--provider-cmd", quote(b.self) + " part-provider"}, path: read, piped: true},
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		b.notes = append(b.notes, "no python3 on the PATH: the Python provider is left out")
		return targets, nil
	}
	command := quote(python) + " " + quote(script)
	return append(targets, &target{name: "stdio, Python", args: []string{"--contract", contract, "--provider-cmd", command}, path: read, piped: true}), nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// writeFixtures makes a database of a thousand tickets.
func writeFixtures(file string) (err error) {
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.Exec(`
		CREATE TABLE ticket (id TEXT PRIMARY KEY NOT NULL, subject TEXT NOT NULL, status TEXT NOT NULL,
			priority INTEGER NOT NULL, urgent INTEGER NOT NULL, created_at TEXT NOT NULL);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO ticket SELECT 'T-' || i, 'Printer', 'open', i % 5 + 1, i % 2, '2026-01-01T00:00:00Z' FROM n`)
	return err
}

// fetch reads what a target answers; anything but 200 is an error.
func fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d, want 200: %.200s", url, response.StatusCode, body)
	}
	return body, err
}

// measure lets the targets take turns, each right after its limits.
func (b *bench) measure(ctx context.Context) (*report, error) {
	rep := &report{
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Rounds: b.Rounds, Seconds: b.For.Seconds(), Notes: b.notes,
	}
	rows := map[string]*row{}
	for range b.Rounds {
		for _, conns := range b.Conns {
			pipes, err := pipe(ctx, b.self, conns, b.For)
			if err != nil {
				return nil, fmt.Errorf("pipe: %w", err)
			}
			for _, t := range b.targets {
				limit, err := b.load(ctx, t.mux, conns)
				if err != nil {
					return nil, fmt.Errorf("limit of %s: %w", t.name, err)
				}
				got, err := b.load(ctx, t.server.url+t.path, conns)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", t.name, err)
				}
				key := fmt.Sprintf("%s %d", t.name, conns)
				if rows[key] == nil {
					rows[key] = &row{Target: t.name, Conns: conns}
					rep.Rows = append(rep.Rows, rows[key])
				}
				rows[key].add(got, limit, pipes, t.piped)
			}
		}
	}
	return rep.finish(), nil
}

// load runs the load generator as a process.
func (b *bench) load(ctx context.Context, url string, conns int) (r result, err error) {
	cmd := exec.CommandContext(ctx, b.self, "part-load", "--url", url, "--conns", fmt.Sprint(conns), "--for", b.For.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, err
	}
	if r.Failed > 0 || r.Requests == 0 {
		return r, fmt.Errorf("%d of %d answers were no success", r.Failed, r.Requests)
	}
	return r, nil
}
