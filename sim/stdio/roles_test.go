package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/provider"
)

// The test binary plays the provider: roleEnv names which one.
const (
	roleEnv = "ANVIL_STDIO_TEST_ROLE"
	argEnv  = "ANVIL_STDIO_TEST_ARG"
)

// roles are the providers that tests start. One that no test starts fails the run.
var roles = map[string]func(){
	"serve":        serveRole,
	"bare":         bareRole,
	"raw":          rawRole,
	"reversed":     reversedRole,
	"late":         lateRole,
	"deaf":         deafRole,
	"silent":       silentRole,
	"hold":         holdRole,
	"never-exits":  neverExitsRole,
	"closes-in":    closesInRole,
	"closes-out":   closesOutRole,
	"with-child":   withChildRole,
	"child":        childRole,
	"with-stray":   withStrayRole,
	"stray":        strayRole,
	"print-env":    printEnvRole,
	"slow-to-term": slowToTermRole,
}

var (
	rolesMu   sync.Mutex
	rolesUsed = map[string]bool{}
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		roles[role]()
		os.Exit(0)
	}
	code := m.Run()
	if code == 0 && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == "" {
		var idle []string
		for role := range roles {
			if !rolesUsed[role] && role != "child" && role != "stray" { // started by with-child and with-stray
				idle = append(idle, role)
			}
		}
		if slices.Sort(idle); len(idle) > 0 {
			fmt.Fprintln(os.Stderr, "no test starts the providers", idle)
			code = 1
		}
	}
	os.Exit(code)
}

// as returns options that start a role.
func as(role string, arg string) Options {
	rolesMu.Lock()
	defer rolesMu.Unlock()
	if roles[role] == nil {
		panic("no role " + role)
	}
	rolesUsed[role] = true
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Options{
		Command: "exec '" + strings.ReplaceAll(exe, "'", `'\''`) + "'",
		Timeout: time.Minute,
		bounds:  bounds{answer: 50 * time.Millisecond}, // few roles answer shutdown
		Env:     []string{roleEnv + "=" + role, argEnv + "=" + arg},
	}
}

// echo is a provider that answers with what it was asked.
type echo struct{}

func (echo) Invoke(_ context.Context, req *provider.Request) (*provider.Response, error) {
	if req.Page != nil {
		return provider.PageOf([]string{req.RequestID}, "next")
	}
	if req.Kind == provider.KindDelete {
		return provider.Fail(provider.NotFound, "no %s", req.RequestID), nil
	}
	return provider.ResultJSON(req.AppendJSON(nil)), nil
}

func serveRole() {
	if err := provider.Serve(context.Background(), echo{}, os.Stdin, os.Stdout, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bareRole answers every request with the same bytes: the limit of a provider.
func bareRole() { bare(os.Stdin, os.Stdout) }

// A wireRequest is a request as the raw roles read it.
type wireRequest struct {
	ID     json.Number
	Method string
	Params struct{ RequestID string }
}

// requests calls f with each request, after it answered initialize itself.
func requests(f func(r wireRequest)) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r wireRequest
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		switch r.Method {
		case provider.MethodInitialize:
			reply(r, `{"protocolVersion":1}`)
		default:
			f(r)
		}
	}
}

func reply(r wireRequest, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
}

func answerText(text string) string { return fmt.Sprintf(`{"ok":true,"result":%q}`, text) }

// rawRole writes its argument for each line it reads, {{id}} replaced;
// "{{exit N}}" at its end makes it exit, "{{signal N}}" die; {{huge}} is a text
// of 10 MB.
func rawRole() {
	text, last, _ := strings.Cut(os.Getenv(argEnv), "{{then ")
	in := bufio.NewReader(os.Stdin)
	for n := 1; ; n++ {
		if _, err := in.ReadBytes('\n'); err != nil {
			return
		}
		out := strings.ReplaceAll(text, "{{id}}", fmt.Sprint(n))
		out = strings.ReplaceAll(out, "{{huge}}", strings.Repeat("0123456789", 1<<20))
		os.Stdout.WriteString(out)
		var code int
		if _, err := fmt.Sscanf(last, "exit %d", &code); err == nil {
			fmt.Fprintln(os.Stderr, "fatal: out of rows")
			os.Exit(code)
		}
	}
}

// reversedRole holds as many invokes as its argument says, then answers them last
// first.
func reversedRole() {
	var n int
	fmt.Sscan(os.Getenv(argEnv), &n)
	var held []wireRequest
	requests(func(r wireRequest) {
		if held = append(held, r); len(held) < n {
			return
		}
		for i := range held {
			r := held[len(held)-1-i]
			reply(r, answerText(r.Params.RequestID))
		}
		held = nil
	})
}

// lateRole answers each invoke when the next one comes, and that one too.
func lateRole() {
	var held *wireRequest
	requests(func(r wireRequest) {
		if held == nil {
			held = &r
			fmt.Fprintln(os.Stderr, "held")
			return
		}
		reply(*held, answerText("late"))
		reply(r, answerText("in time"))
		held = nil
	})
}

// deafRole never reads and never ends by itself.
func deafRole() { forever() }

// silentRole reads and answers nothing.
func silentRole() { requests(func(wireRequest) {}) }

// holdRole answers nothing; once it holds as many invokes as its argument says,
// it prints its process id.
func holdRole() {
	var n, got int
	fmt.Sscan(os.Getenv(argEnv), &n)
	requests(func(wireRequest) {
		if got++; got == n {
			fmt.Fprintf(os.Stderr, "holding %d\n", os.Getpid())
		}
	})
}

// neverExitsRole answers, but neither shutdown, nor the end of stdin, nor SIGTERM
// ends it.
func neverExitsRole() {
	signal.Ignore(syscall.SIGTERM)
	holdAlive()
	requests(func(r wireRequest) { reply(r, "null") })
	forever()
}

// slowToTermRole ends on SIGTERM only, and says so.
func slowToTermRole() {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGTERM)
	requests(func(r wireRequest) { reply(r, "null") })
	fmt.Fprintln(os.Stderr, "stdin ended")
	<-got
	fmt.Fprintln(os.Stderr, "got SIGTERM")
}

// closesInRole reads no further than initialize, and lives on.
func closesInRole() {
	if _, err := bufio.NewReader(os.Stdin).ReadBytes('\n'); err != nil {
		panic(err)
	}
	os.Stdin.Close()
	fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
	forever()
}

// closesOutRole answers initialize, closes its stdout and lives on.
func closesOutRole() {
	requests(func(wireRequest) {
		os.Stdout.Close()
		forever()
	})
}

// withChildRole starts a child that outlives it and holds its pipes.
func withChildRole() { serveBeside("child", nil) }

// withStrayRole leaves a process behind that is none of its group and holds its pipes.
func withStrayRole() { serveBeside("stray", &syscall.SysProcAttr{Setsid: true}) }

// strayRole lives until somebody writes to the fifo that the argument names.
func strayRole() { _, _ = os.ReadFile(os.Getenv(argEnv)) }

// serveBeside serves while a process of another role runs, which it does not end.
func serveBeside(role string, attr *syscall.SysProcAttr) {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), roleEnv+"="+role)
	c.SysProcAttr = attr
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		panic(err)
	}
	serveRole()
}

func childRole() {
	signal.Ignore(syscall.SIGTERM)
	holdAlive()
	forever()
}

// holdAlive opens the fifo that the argument names: it writes one byte, and as
// long as the process lives its reader sees no end.
func holdAlive() {
	f, err := os.OpenFile(os.Getenv(argEnv), os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	f.WriteString("+")
	runtime.SetFinalizer(f, nil) // it must not be closed
}

func printEnvRole() {
	requests(func(r wireRequest) { reply(r, answerText(os.Getenv("PATH")+" "+os.Getenv("EXTRA"))) })
}

// forever outlives every test.
func forever() { <-time.After(time.Hour) }
