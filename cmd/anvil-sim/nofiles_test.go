//go:build linux

package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Clients open more connections than the program may open files. Those that were
// there and ask are served, as are new ones; one sentence is said; and with the
// clients gone all is as before, for copies of tenants too.
func TestMoreClientsThanFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tape := filepath.Join(dir, "tape.yaml")
	text := "version: 1\ninteractions:\n- request: {method: GET, url: http://x/Genre/1}\n  response: {status: 200 OK, code: 200, body: one}\n"
	if err := os.WriteFile(tape, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, command string }{
		{"serve", "exec anvil-sim serve --fixtures " + abs(t, chinook) + " --trace " + filepath.Join(dir, "trace.jsonl")},
		{"replay", "exec anvil-sim replay --after-last repeat " + tape},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, exec.Command("sh", "-c", "ulimit -n 64; "+tc.command))
			host := strings.TrimPrefix(p.url, "http://")
			var idle []net.Conn
			for range 100 {
				conn, err := net.Dial("tcp", host)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				idle = append(idle, conn)
			}
			var all sync.WaitGroup
			for range 40 {
				all.Go(func() {
					if status, body, err := get(p.url + "/Genre/1"); err != nil || status != http.StatusOK {
						t.Errorf("beside idle connections: %d %s, %v; want 200", status, body, err)
					}
				})
			}
			all.Wait()
			for _, conn := range idle {
				conn.Close()
			}
			status, body := 0, ""
			for range 1000 { // until the server has noticed that they left
				if status, body = p.getAs("t1", "/Genre/1"); status == http.StatusOK {
					break
				}
			}
			if status != http.StatusOK {
				t.Errorf("afterwards a new tenant gets %d %s, want 200", status, body)
			}
			if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if code := p.wait(); code != 0 {
				t.Errorf("exit %d, want 0", code)
			}
			if n := strings.Count(p.stderr.String(), "make room"); n < 1 || n > 2 || strings.Contains(p.stderr.String(), "retrying") {
				t.Errorf("%d sentences about room, want one or two:\n%s", n, p.stderr.String())
			}
		})
	}
}

// getAs asks as a tenant.
func (p *process) getAs(tenant, path string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), "GET", p.url+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("X-Anvil-Tenant", tenant)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
