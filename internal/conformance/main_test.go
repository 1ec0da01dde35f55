package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

// The test binary plays three parts: the tests, the scripted provider, and a
// simulator that only repeats what was recorded ("serve", as anvil-sim is
// called).
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 4 && os.Args[1] == "provider":
		os.Exit(ServeScript(os.Args[2], os.Args[3], os.Stdin, os.Stdout, os.Stderr))
	case len(os.Args) > 1 && os.Args[1] == "serve":
		if err := repeat(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// providerCommand starts this binary as the scripted provider.
func providerCommand(t *testing.T) func(sessionFile, logs string) string {
	exe := self(t)
	return func(sessionFile, logs string) string {
		return shellQuote(exe) + " provider " + shellQuote(sessionFile) + " " + shellQuote(logs)
	}
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// repeat serves the recorded answers of a session in order, asks the provider
// what was recorded, and appends the recorded trace. Where the environment
// names a change (REPEAT_CHANGE), it makes one mistake.
func repeat(args []string) error {
	flags := map[string]string{}
	for i := range len(args) - 1 {
		flags[args[i]] = args[i+1] // of a switch, or of no flag at all, it is never read
	}
	s, err := Load(filepath.Dir(flags["--contract"]))
	if err != nil {
		return err
	}
	change := os.Getenv("REPEAT_CHANGE")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	origin := "http://" + listener.Addr().String()
	told, err := askProvider(s, flags["--provider-cmd"], origin, change)
	if err != nil {
		return err
	}
	trace, _, err := readIfAny(s.path("trace.jsonl"))
	if err != nil {
		return err
	}
	if change == "trace" {
		trace = strings.Replace(trace, `"seq":1,`, `"seq":9,`, 1)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	fmt.Println(origin)
	go repeatAnswers(listener, s, origin, change)
	<-stop
	if err := told(); err != nil {
		return err
	}
	f, err := os.OpenFile(flags["--trace"], os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.WriteString(f, strings.ReplaceAll(trace, "{{origin}}", origin)); err != nil {
		return err
	}
	if change == "status" {
		return fmt.Errorf("ends badly")
	}
	return nil
}

func repeatAnswers(listener net.Listener, s *Session, origin, change string) {
	for _, e := range s.spec.Get("exchanges").Elems() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		answerOnce(conn, e.Get("response"), origin, change)
		change = ""
	}
}

func answerOnce(conn net.Conn, response *canon.Value, origin, change string) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	length := 0
	for {
		line, err := readLine(r)
		if err != nil {
			return
		}
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "content-length") {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
		if line == "" {
			break
		}
	}
	if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
		return
	}
	body := strings.ReplaceAll(response.Get("bodyText").Text(), "{{origin}}", origin)
	code := int(response.Get("status").Float())
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d Any\r\nContent-Length: %d\r\nDate: today\r\n", code, len(body))
	for i, m := range response.Get("headers").Members() {
		if change == "lost header" && i == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s: %s\r\n", m.Key, latin1(strings.ReplaceAll(m.Value.Text(), "{{origin}}", origin)))
	}
	if change == "new header" {
		b.WriteString("X-More: 1\r\n")
	}
	b.WriteString("\r\n")
	if code != 204 && code != 304 {
		if change == "body" {
			body = strings.Replace(body, `"`, ` `, 1)
		}
		b.WriteString(body)
	}
	_, _ = conn.Write(b.Bytes()) // the other side judges
}

// askProvider starts the provider and sends it what was recorded. The function
// that it returns shuts the provider down.
func askProvider(s *Session, command, origin, change string) (func() error, error) {
	if command == "" {
		return func() error { return nil }, nil
	}
	p := exec.Command("sh", "-c", command)
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	answers := bufio.NewReader(out)
	ask := func(method, params string) error {
		_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
		return err
	}
	initialize, _, err := readIfAny(s.path("initialize.json"))
	if err != nil {
		return nil, err
	}
	if initialize == "" {
		initialize = "{}"
	}
	told, err := canon.Parse([]byte(initialize), canon.Lenient)
	if err != nil {
		return nil, err
	}
	// The recording leaves out what is each implementation's own.
	for _, key := range []string{"simulator", "surfaceDigest"} {
		if !truthy(told.Get(key)) {
			told = told.With(key, canon.NewString("own"))
		}
	}
	if err := ask("initialize", told.String()); err != nil {
		return nil, err
	}
	if _, err := answers.ReadString('\n'); err != nil {
		return nil, err
	}
	invokes, _, err := readIfAny(s.path("invokes.jsonl"))
	if err != nil {
		return nil, err
	}
	for i, line := range lines(invokes) {
		if change == "provider request" && i == 0 {
			line = strings.Replace(line, "r1", "r2", 1)
		}
		if err := ask("invoke", strings.ReplaceAll(line, "{{origin}}", origin)); err != nil {
			return nil, err
		}
		if _, err := answers.ReadString('\n'); err != nil {
			return nil, err
		}
	}
	return func() error {
		if change != "no shutdown" {
			if err := ask("shutdown", "null"); err != nil {
				return err
			}
		}
		if err := in.Close(); err != nil {
			return err
		}
		return p.Wait()
	}, nil
}
