package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
	"github.com/anvil-sim/anvil/recorder"
	"github.com/anvil-sim/anvil/recorder/scrub"
	"github.com/anvil-sim/anvil/recorder/vcr"
	"github.com/anvil-sim/anvil/replayer"
)

// recordGrace is how long exchanges that are under way may take to end after a
// signal.
const recordGrace = 5 * time.Second

// recordOptions are the options of record as typed.
type recordOptions struct {
	streams   cli.Streams
	target    string
	cassette  string
	contract  string
	mode      string
	force     bool
	rules     string
	host      string
	port      int
	timeoutMS int
	maxBody   int64
	ca        string
	insecure  bool
	rewrite   bool
	durations bool
	chunks    bool
	matching  matchOptions
}

func newRecord(s cli.Streams) *cobra.Command {
	o := &recordOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "record --target URL --cassette FILE [-- COMMAND [ARGS...]]",
		Short: "Record real traffic to a cassette",
		Long: `Record real traffic: a local proxy forwards every request to the target and
writes each exchange to a go-vcr cassette (format 1). The first line on stdout is
the proxy's URL, which the client takes as the API's base URL. SIGINT or SIGTERM
ends it with a summary on stderr. With a command after --, the command runs with
ANVIL_BASE_URL set to the URL, and its end ends the recording.

Secrets are replaced before anything is written, dates and request ids become
fixed values. An exchange that still looks as if it held a secret is not written:
that is said at once, and the exit status is then 1. An exchange is on the disk
before the client sees the end of its answer; a killed recorder loses nothing else.

Modes, by their misses:
  record  the cassette is new; one that exists is an error without --force
  append  the cassette may exist; new exchanges follow what it holds
  auto    what the cassette answers does not go out; a miss does, and is appended
  replay  nothing goes out; a miss is a 503 with X-Anvil-Miss
  spy     everything is forwarded and nothing is written

A rules file is YAML with lists of names and patterns: headers, query, fields,
json (places in JSON bodies: /users/*/ssn), patterns (regular expressions), allow
and keep (what is no secret), and volatile (headers, query, json, patterns).`,
		Example: `  anvil-sim record --target https://api.example.com --cassette tape.yaml
  anvil-sim record --target https://api.example.com/v1 --cassette tape.yaml --mode append --contract ./bundle
  anvil-sim record --target https://api.example.com --cassette tape.yaml --rules scrub.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := emptyCommand(cmd, args); err != nil {
				return err
			}
			if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
				return cli.WithHint(fmt.Errorf("record takes no argument %q", args[0]), "to run a command against the proxy, put -- before it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.register(cmd.Flags())
	_ = cmd.MarkFlagFilename("cassette", "yaml", "yml")
	_ = cmd.MarkFlagFilename("rules", "yaml", "yml")
	_ = cmd.MarkFlagFilename("contract", "yaml", "json", "gz")
	return cmd
}

func (o *recordOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.target, "target", "", "URL of the API, perhaps with a base path (required)")
	f.StringVar(&o.cassette, "cassette", "", "the cassette to write")
	f.StringVar(&o.contract, "contract", "", "contract whose credential carriers are hidden and whose operations are counted")
	f.StringVar(&o.mode, "mode", "record", "record, append, auto, replay or spy")
	f.BoolVar(&o.force, "force", false, "replace a cassette that exists")
	f.StringVar(&o.rules, "rules", "", "YAML file with rules for secrets and volatile values")
	f.StringVar(&o.host, "host", "127.0.0.1", "address to bind")
	f.IntVar(&o.port, "port", 0, "port to bind; 0 picks a free one")
	f.IntVar(&o.timeoutMS, "timeout", 60000, "how long to wait for the target's answer to begin, in ms; 0 is no bound")
	f.Int64Var(&o.maxBody, "max-body", recorder.DefaultMaxBody, "bytes of a body that are kept; a longer one is cut, with a note")
	f.StringVar(&o.ca, "ca", "", "PEM file with certificates to trust for the target")
	f.BoolVar(&o.insecure, "insecure", false, "do not check the target's certificate")
	f.BoolVar(&o.rewrite, "rewrite-bodies", false, "rewrite links to the target in JSON, XML and text for the client")
	f.BoolVar(&o.durations, "durations", false, "keep how long answers took; two recordings then differ")
	f.BoolVar(&o.chunks, "chunks", false, "keep in which pieces streamed answers came; two recordings may differ")
	o.matching.register(f)
}

// check reads what flags alone cannot.
func (o *recordOptions) check() (*url.URL, error) {
	modes := []string{"record", "append", "auto", "replay", "spy"}
	switch {
	case o.target == "":
		return nil, cli.WithHint(errors.New("no target"), "--target names the API: anvil-sim record --target https://api.example.com --cassette tape.yaml")
	case !slices.Contains(modes, o.mode):
		return nil, cli.WithHint(fmt.Errorf("--mode: found %q, want %s", o.mode, strings.Join(modes, ", ")), cli.DidYouMean(o.mode, modes))
	case o.cassette == "" && o.mode != "spy":
		return nil, cli.WithHint(errors.New("no cassette"), "--cassette names the file to write; --mode spy writes none")
	case o.force && o.mode != "record":
		return nil, fmt.Errorf("--force replaces a cassette, which --mode %s does not do", o.mode)
	case o.port < 0 || o.port > 65535:
		return nil, fmt.Errorf("--port: found %d, want 0 to 65535", o.port)
	case o.timeoutMS < 0:
		return nil, fmt.Errorf("--timeout: found %d, want at least 0 (ms)", o.timeoutMS)
	case o.maxBody < 1:
		return nil, fmt.Errorf("--max-body: found %d, want at least 1 (bytes)", o.maxBody)
	}
	u, err := url.Parse(o.target)
	if err != nil {
		return nil, fmt.Errorf("--target: %w", err)
	}
	return u, nil
}

func (o *recordOptions) run(ctx context.Context, command []string) error {
	target, err := o.check()
	if err != nil {
		return err
	}
	opts := &recorder.Options{Append: o.mode == "append" || o.mode == "auto", Replace: o.force, Chunks: o.chunks, MaxBody: o.maxBody, Random: rand.Reader, Warn: warner(o.streams)}
	if o.durations {
		opts.Now = time.Now
	}
	if opts.Rules, opts.Contract, err = loadRules(o.rules, o.contract, "--contract"); err != nil {
		return err
	}
	proxyOpts := recorder.ProxyOptions{Target: target, Timeout: time.Duration(o.timeoutMS) * time.Millisecond, Via: http.ProxyFromEnvironment, RewriteBodies: o.rewrite,
		MaxConns: maxConns(freeFiles() / 2), ErrorLog: connLog(o.streams)}
	if proxyOpts.TLS, err = o.trust(); err != nil {
		return err
	}
	if _, err := recorder.NewProxy(nil, proxyOpts); err != nil {
		return fmt.Errorf("--target: %w", err) // before a cassette is made
	}
	tape, err := o.openTape(&proxyOpts)
	if err != nil {
		return err
	}
	addr := net.JoinHostPort(o.host, strconv.Itoa(o.port))
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return cli.WithHint(fmt.Errorf("cannot listen on %s: %w", addr, err), "--port 0 picks a free port")
	}
	path := o.cassette
	if o.mode == "spy" || o.mode == "replay" {
		path = ""
	}
	rec, err := recorder.Open(path, opts)
	if err != nil {
		return errors.Join(existsHint(err), l.Close())
	}
	err = o.record(ctx, rec, proxyOpts, l, command)
	if tape != nil {
		if played := o.matching.finish(o.streams.Err, tape.Stats()); err == nil {
			err = played
		}
	}
	return err
}

// openTape makes the modes auto and replay answer from the cassette; nil in others.
func (o *recordOptions) openTape(to *recorder.ProxyOptions) (*replayer.Transport, error) {
	if o.mode != "auto" && o.mode != "replay" {
		return nil, nil
	}
	if _, err := os.Stat(o.cassette); errors.Is(err, os.ErrNotExist) && o.mode == "auto" {
		return nil, nil // everything is a miss
	}
	told := io.Discard // in auto a miss is no news
	if o.mode == "replay" {
		told = o.streams.Err
	}
	opts, err := o.matching.options(told)
	if err != nil {
		return nil, err
	}
	tapes, err := loadTapes(o.streams.Err, []string{o.cassette})
	if err != nil {
		return nil, err
	}
	t, err := replayer.NewTransport(tapes, opts)
	if err != nil {
		return nil, err
	}
	to.Replay, to.Closed = missing{t}, o.mode == "replay"
	return t, nil
}

// missing tells a recorder of misses in its own terms.
type missing struct{ tape *replayer.Transport }

// RoundTrip implements http.RoundTripper.
func (m missing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.tape.RoundTrip(req)
	var miss *replayer.Miss
	if errors.As(err, &miss) {
		err = fmt.Errorf("%w: %w", recorder.ErrMiss, err)
	}
	return resp, err
}

// record forwards until ctx ends or the command is done, and sums up.
func (o *recordOptions) record(ctx context.Context, rec *recorder.Recorder, opts recorder.ProxyOptions, l net.Listener, command []string) error {
	proxy, err := recorder.NewProxy(rec, opts)
	at := "http://" + l.Addr().String()
	if err == nil && len(command) == 0 {
		_, err = fmt.Fprintln(o.streams.Out, at)
	}
	if err != nil {
		return errors.Join(err, l.Close(), rec.Close())
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	var status error
	if len(command) > 0 {
		done := make(chan error, 1)
		go func() { done <- proxy.Serve(serving, l, recordGrace) }()
		status = runCommand(ctx, o.streams, at, command)
		stop()
		err = <-done
	} else {
		err = proxy.Serve(serving, l, recordGrace)
	}
	if err = errors.Join(err, rec.Close()); err != nil {
		return err
	}
	sum := rec.Summary()
	fmt.Fprintln(o.streams.Err, sum)
	if n := proxy.Links(); n > 0 {
		fmt.Fprintf(o.streams.Err, "anvil-sim: %s with links to the target in the body, which lead a client past the recorder; --rewrite-bodies changes them\n", plural.Of(n, "answer"))
	}
	if status == nil && sum.Refused > 0 {
		return cli.Exit(cli.CodeNo, fmt.Errorf("not on the cassette: %s", plural.Of(sum.Refused, "exchange")))
	}
	return status
}

// trust makes the settings of TLS, nil for the system's.
func (o *recordOptions) trust() (*tls.Config, error) {
	if o.ca == "" && !o.insecure {
		return nil, nil
	}
	config := &tls.Config{InsecureSkipVerify: o.insecure}
	if o.ca != "" {
		pem, err := os.ReadFile(o.ca)
		if err != nil {
			return nil, err
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: found no PEM certificate", o.ca)
		}
		config.RootCAs = pool
	}
	return config, nil
}

// warner prints what could not be recorded when it happens.
func warner(s cli.Streams) func(error) {
	return func(err error) {
		text := "anvil-sim: " + cli.Text(err) + "\n"
		var h cli.Hinter
		if errors.As(err, &h) {
			text += "hint: " + h.Hint() + "\n"
		}
		fmt.Fprint(s.Err, text) // one write: exchanges end in parallel
	}
}

// loadRules reads a rules file and a contract, each when it is named; from says
// what named the contract.
func loadRules(rules, contract, from string) (*scrub.Rules, *air.Document, error) {
	var r *scrub.Rules
	if rules != "" {
		data, err := os.ReadFile(rules)
		if err != nil {
			return nil, nil, err
		}
		if r, err = scrub.ParseRules(rules, data); err != nil {
			return nil, nil, err
		}
	}
	if contract == "" {
		return r, nil, nil
	}
	doc, err := air.Load(contract)
	return r, doc, contractError(contract, from, err)
}

func existsHint(err error) error {
	if errors.Is(err, vcr.ErrExists) {
		return cli.WithHint(err, "--force replaces it, --mode append goes on with it")
	}
	return lockedHint(err)
}

func lockedHint(err error) error {
	if errors.Is(err, vcr.ErrLocked) {
		return cli.WithHint(err, "end the other one first, or name another file")
	}
	return err
}
