package main

import (
	"bytes"
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
	name     string
	args     []string // of anvil-sim serve
	path     string   // what is asked
	body     string   // a file; "" asks with GET, else it is posted
	pipe     []string // the command of the provider behind a pipe; nil asks no provider process
	untraced bool

	server *served
	mux    string // URL of the limit with the same bytes
}

// The names of two targets that are compared with each other.
const (
	builtIn  = "built-in store"
	untraced = ", no trace"
)

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
		args := append([]string{"serve", "--port", "0"}, t.args...)
		if !t.untraced {
			args = append(args, "--trace", filepath.Join(dir, fmt.Sprintf("trace-%d.jsonl", i)))
		}
		if t.server, err = serve(ctx, stderr, s.Binary, args...); err != nil {
			return b, fmt.Errorf("%s: %w", t.name, err)
		}
		body, err := fetch(ctx, t.server.url+t.path, t.body)
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
	contract, script, fixtures, post := filepath.Join(b.dir, "air.yaml"), filepath.Join(b.dir, "provider.py"), filepath.Join(b.dir, "fixtures.db"), filepath.Join(b.dir, "post.json")
	err := errors.Join(
		os.WriteFile(contract, contractYAML, 0o644),
		os.WriteFile(post, []byte(`{"subject":"Printer","status":"`+strings.Repeat("open ", 198)+`"}`), 0o644), // 1 KB
		os.WriteFile(script, providerPython, 0o644),
		writeFixtures(fixtures),
	)
	if err != nil {
		return nil, err
	}
	const read = "/v1/tickets/T-1"
	store, bare := []string{"--contract", contract}, []string{b.self, "part-provider"}
	targets := []*target{
		{name: builtIn, args: store, path: read},
		{name: builtIn + untraced, args: store, path: read, untraced: true},
		{name: builtIn + ", POST 1 KB", args: store, path: "/v1/tickets", body: post},
		{name: "fixtures in process", args: []string{"--fixtures", fixtures}, path: "/ticket/T-1"},
		{name: "stdio, bare Go", args: append(store, "--provider-cmd", quote(bare...)), path: read, pipe: bare},
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		b.notes = append(b.notes, "no python3 on the PATH: the Python provider is left out")
		return targets, nil
	}
	command := []string{python, script}
	return append(targets, &target{name: "stdio, Python", args: append(store, "--provider-cmd", quote(command...)), path: read, pipe: command}), nil
}

// quote makes a shell command of words.
func quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

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

// fetch reads what a target answers, to the content of a file if one is given;
// anything but success is an error.
func fetch(ctx context.Context, url, file string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // the machine may be busy
	defer cancel()
	method, body := http.MethodGet, []byte(nil)
	if file != "" {
		var err error
		if body, err = os.ReadFile(file); err != nil {
			return nil, err
		}
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: status %d, want success: %.200s", method, url, response.StatusCode, answer)
	}
	return answer, err
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
			for _, t := range b.targets {
				var pipes result
				if t.pipe != nil {
					var err error
					if pipes, err = pipe(ctx, t.pipe, conns, b.For); err != nil {
						return nil, fmt.Errorf("pipe of %s: %w", t.name, err)
					}
				}
				limit, err := b.loadServed(ctx, b.mux, t.mux, conns, t.body)
				if err != nil {
					return nil, fmt.Errorf("limit of %s: %w", t.name, err)
				}
				got, err := b.loadServed(ctx, t.server, t.server.url+t.path, conns, t.body)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", t.name, err)
				}
				key := fmt.Sprintf("%s %d", t.name, conns)
				if rows[key] == nil {
					rows[key] = &row{Target: t.name, Conns: conns}
					rep.Rows = append(rep.Rows, rows[key])
				}
				rows[key].add(got, limit, pipes)
			}
		}
	}
	return rep.finish(), nil
}

// loadServed is load with the processor time that the server took.
func (b *bench) loadServed(ctx context.Context, p *served, url string, conns int, body string) (result, error) {
	before := processorTime(p.cmd.Process.Pid)
	r, err := b.load(ctx, url, conns, "--post", body)
	if r.Requests > 0 {
		r.CPU = (processorTime(p.cmd.Process.Pid) - before).Seconds() * 1e6 / float64(r.Requests)
	}
	return r, err
}

// load runs the load generator as a process.
func (b *bench) load(ctx context.Context, url string, conns int, more ...string) (r result, err error) {
	args := append([]string{"part-load", "--url", url, "--conns", fmt.Sprint(conns), "--for", b.For.String()}, more...)
	cmd := exec.CommandContext(ctx, b.self, args...)
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
