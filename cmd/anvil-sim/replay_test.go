package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// replay plays a recording until the client is done, and returns the exit code
// and what was said.
func replay(t *testing.T, client func(url string), args ...string) (code int, said string) {
	t.Helper()
	cmd := exec.Command("anvil-sim", append([]string{"replay"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode(), stderr.String()
	}
	client(strings.TrimSpace(line))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), stderr.String()
}

func TestReplayCommand(t *testing.T) {
	const file = "../../replayer/testdata/real/govcr1/fastly-newrelic-form-400.yaml"
	ask := func(body, want string) func(string) {
		return func(url string) {
			resp, err := http.Post(url+"/service/kKJb5bOFI47uHeBVluGfX1/version/176/logging/newrelic", "application/x-www-form-urlencoded", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if text, _ := io.ReadAll(resp.Body); !strings.Contains(string(text), want) {
				t.Errorf("%d %s, want %s", resp.StatusCode, text, want)
			}
		}
	}
	const good = "token=another&name=test-newrelic-3&format=format&placement=none&region=abc"
	for _, c := range []struct {
		name   string
		client func(string)
		args   []string
		code   int
		said   string
	}{
		{"an answer", ask(good, "unrecognized region abc"), []string{file, "--fail-unused", "--fail-miss"}, 0, "1 of 1 recorded answers used, 0 miss(es)"},
		{"a miss", ask("name=x", "anvil_miss"), []string{file}, 0, "body/name: asked \"x\", recorded \"test-newrelic-3\""},
		{"a miss that counts", ask("name=x", "anvil_miss"), []string{file, "--fail-miss"}, 1, "1 request(s) had no recorded answer"},
		{"an unused answer", func(string) {}, []string{file, "--fail-unused"}, 1, "unused: " + file + " #0 POST"},
		{"no recording", nil, []string{"../../go.mod"}, 2, "no recording"},
		{"a bad port", nil, []string{file, "--port", "70000"}, 2, "--port: found 70000"},
	} {
		code, said := replay(t, c.client, c.args...)
		if code != c.code || !strings.Contains(said, c.said) {
			t.Errorf("%s: exit %d, want %d\n%s\nwant %s", c.name, code, c.code, said, c.said)
		}
	}
}
