// Command bench measures the product beside the limits of the machine, in the
// same run, and prints the ratios. The first argument names the part:
//
//	go run ./bench [serve]   requests per second beside a bare net/http handler that returns the same
//	                         bytes, and beside bare round trips over the pipes of a provider process
//	go run ./bench start     time to the first answer, memory under load, one slow answer among many
//	go run ./bench sqlite    the fixture database beside its prepared statements and a plain copy
//	go run ./bench trace     anvil-trace beside cmp, diff, jq and a bare scan of lines
//	go run ./bench tape      recordings loaded, indexed and asked beside go-vcr and yaml.v3
//	go run ./bench compile   the compiler beside a bare parse of the same description
//	go run ./bench grow      operations, connections, rows, calls and tapes at 1, 10 and 100 times a size
//	go run ./bench crowd     ordinary clients beside 10,000 idle connections, slow clients, floods and garbage
//	go run ./bench all       all of the above; --short and --json are taken
//	go run ./bench soak      an hour of 64 clients with resets and restarts: memory and goroutines stay flat
//
// --help behind a part tells its options. What
// is compared takes turns within each round. Compare the ratios: a rate belongs
// to the machine and the minute.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

// dispatch runs the part that the first argument names; the program starts
// itself for each of them, so that every part is a process of its own.
func dispatch(ctx context.Context, args []string, in io.Reader, out io.Writer, stderr *os.File) error {
	if len(args) > 0 {
		switch args[0] {
		case "trace":
			return runTrace(ctx, args[1:], out, stderr)
		case "part-lines":
			return linesPart(args[1:], out)
		case "part-load":
			return loadPart(ctx, args[1:], out)
		case "part-mux":
			return muxPart(ctx, args[1:], out)
		case "part-provider":
			return providerPart(in, out)
		case "tape":
			return tapeBench(ctx, args[1:], out, stderr)
		case "part-tape":
			return measureTapePart(ctx, args[1:], out)
		case "sqlite":
			return sqliteBench(ctx, args[1:], out, stderr)
		case "start":
			return startRun(ctx, args[1:], out, stderr)
		case "all":
			return all(ctx, args[1:], in, out, stderr)
		case "soak":
			return soakRun(ctx, args[1:], out, stderr)
		case "crowd":
			return crowdRun(ctx, args[1:], out, stderr)
		case "grow":
			return growRun(ctx, args[1:], out, stderr)
		case "compile":
			return compileRun(ctx, args[1:], out, stderr)
		case "part-compile":
			return compilePart(args[1:], out)
		case "serve":
			args = args[1:]
		}
	}
	return run(ctx, args, out, stderr)
}

// all runs the parts that compare, one after the other. With --json the output
// is one JSON value a part.
func all(ctx context.Context, args []string, in io.Reader, out io.Writer, stderr *os.File) error {
	for _, a := range args {
		if a != "--short" && a != "--json" {
			return fmt.Errorf("all: found %q, want --short or --json; a part takes more when it runs alone", a)
		}
	}
	for _, part := range []string{"serve", "start", "sqlite", "tape", "trace", "compile", "grow", "crowd"} {
		fmt.Fprintln(stderr, "bench:", part)
		if err := dispatch(ctx, append([]string{part}, args...), in, out, stderr); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

type settings struct {
	Binary string        // anvil-sim; "" builds it
	Rounds int           //
	For    time.Duration // of one measurement
	Conns  []int         //
	JSON   bool          //
}

func parseSettings(args []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := newFlags("bench", stderr)
	flags.StringVar(&s.Binary, "anvil-sim", "", "the binary to measure (default: build ./cmd/anvil-sim)")
	flags.IntVar(&s.Rounds, "rounds", 5, "rounds; medians are taken over them")
	secs := flags.Float64("secs", 0.5, "seconds of one measurement")
	conns := flags.String("conns", "1,16,64", "numbers of connections")
	flags.BoolVar(&s.JSON, "json", false, "print JSON instead of a table")
	if _, err := parseShort(flags, args, map[string]string{"rounds": "1", "secs": "0.2", "conns": "1,16"}); err != nil {
		return s, err
	}
	for _, text := range strings.Split(*conns, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return s, fmt.Errorf("--conns %s: %q is no positive number; give numbers separated by commas", *conns, text)
		}
		s.Conns = append(s.Conns, n)
	}
	s.For = time.Duration(*secs * float64(time.Second))
	if s.Rounds < 1 || s.For <= 0 {
		return s, fmt.Errorf("--rounds and --secs want more than 0, got %d, %v", s.Rounds, *secs)
	}
	return s, nil
}

func run(ctx context.Context, args []string, out io.Writer, stderr *os.File) error {
	s, err := parseSettings(args, stderr)
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
	b, err := newBench(ctx, s, dir, stderr)
	defer b.close()
	if err != nil {
		return err
	}
	rep, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return writeJSON(out, rep)
	}
	return rep.table(out)
}

// binary is the program to measure: the file that was named, else one that is
// built into dir.
func binary(ctx context.Context, named, program, dir string, stderr *os.File) (string, error) {
	if named != "" {
		return named, nil
	}
	file := filepath.Join(dir, program)
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", file, "github.com/anvil-sim/anvil/cmd/"+program)
	build.Stdout, build.Stderr = stderr, stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("go build ./cmd/%s: %w; or name a binary with --%s", program, err, program)
	}
	return file, nil
}

// A served process prints its URL first and ends on SIGTERM.
type served struct {
	url string
	cmd *exec.Cmd
}

// serve starts a server and waits for its URL. Several servers share stderr, so
// it is a file and not any writer.
func serve(ctx context.Context, stderr *os.File, name string, args ...string) (*served, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	p := &served{url: strings.TrimSpace(line), cmd: cmd}
	if err != nil || !strings.HasPrefix(p.url, "http://") {
		p.close()
		return nil, fmt.Errorf("%s %s: the first line of stdout is %q, want a URL", name, strings.Join(args, " "), p.url)
	}
	return p, nil
}

// end closes a server; it is an error when it did not end well. A binary of the
// race detector that found a race ends with exit code 66.
func (p *served) end() error {
	p.close()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s: exit code %d after SIGTERM, want 0; see stderr", strings.Join(p.cmd.Args, " "), code)
	}
	return nil
}

func (p *served) close() {
	// The process may have ended already.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		_ = p.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute): // the machine may be busy
		_ = p.cmd.Process.Kill()
		<-ended
	}
}
