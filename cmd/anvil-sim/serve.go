package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/surface"
	"github.com/anvil-sim/anvil/store"
)

// serveOptions are the options of serve as typed.
type serveOptions struct {
	streams    cli.Streams
	contract   string
	provider   string
	fixtures   string
	timeoutMS  int
	host       string
	port       int
	seed       string
	capability string
	principal  string
	pageSize   int
	trace      string
	validate   bool
	facade     bool
	cors       bool
	tls        bool
	tlsCert    string
	tlsKey     string
	admin      bool
	adminToken string
	strict     bool
	slowMS     int
	pprof      string
	fixture    fixtureFlags
	describe   descriptionFlags

	hard  context.Context // ends with a second signal
	calls *traceLog       // nil without --trace
	trust string          // the certificate that clients of --tls trust
}

func newServe(s cli.Streams) *cobra.Command {
	o := &serveOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "serve [flags] [-- COMMAND [ARGS...]]",
		Short: "Serve a contract over HTTP",
		Long: `Serve a contract over HTTP until SIGINT or SIGTERM. The first line on stdout is
the URL; everything else goes to stderr.

The contract is --contract, else $ANVIL_CONTRACT, else air.yaml or air.json in
the current folder. Without any of these the provider is asked for one: a
fixture database derives it from its tables. With no state either, a small demo
is served.

With a command after --, the command runs with ANVIL_BASE_URL set to the URL;
when it ends the server stops, and its exit status is the command's. With --tls
it also has ANVIL_CA_CERT, the certificate to trust.`,
		Example: `  anvil-sim serve
  anvil-sim serve --fixtures app.sqlite --port 8080
  anvil-sim serve --contract openapi.yaml --approve all --manifest anvil.yaml
  anvil-sim serve --contract ./bundle --provider-cmd "python provider.py" --trace calls.jsonl
  anvil-sim serve --provider-cmd "anvil-sim provider sqlite fixtures.db"
  anvil-sim serve --contract ./bundle -- go test ./...`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := emptyCommand(cmd, args); err != nil {
				return err
			}
			if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
				return cli.WithHint(fmt.Errorf("serve takes no argument %q", args[0]),
					"to run a command against the server, put -- before it", "a contract is given with --contract, a database with --fixtures")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.checkFixtureFlags(cmd); err != nil {
				return err
			}
			if o.pageSize == 0 && cmd.Flags().Changed("page-size") {
				return errors.New("--page-size: found 0, want at least 1")
			}
			return o.run(cmd.Context(), args)
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *serveOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.contract, "contract", "", "bundle directory, or its air.yaml or air.json, or an API description with --approve; also gzipped")
	o.describe.add(f)
	f.StringVar(&o.provider, "provider-cmd", "", "shell command that starts the state provider")
	f.StringVar(&o.fixtures, "fixtures", "", "SQLite file that holds the state, served in process")
	o.fixture.add(f)
	f.IntVar(&o.timeoutMS, "provider-timeout", 30000, "deadline of each provider request, in ms")
	f.StringVar(&o.host, "host", "127.0.0.1", "address to bind")
	f.IntVar(&o.port, "port", 0, "port to bind; 0 picks a free one")
	f.StringVar(&o.seed, "seed", "1", "seed of the built-in store, a whole number")
	f.StringVar(&o.capability, "capability", "", "serve one capability instead of the whole service")
	f.StringVar(&o.principal, "principal", "", "principal of requests that name none (default admin, which holds every scope)")
	f.IntVar(&o.pageSize, "page-size", 0, "page size when the contract gives none (default 2)")
	f.StringVar(&o.trace, "trace", "", "append one JSON line a call to this file")
	f.BoolVar(&o.validate, "validate-values", false, "also refuse calls whose values do not match their declared schemas")
	f.BoolVar(&o.facade, "protocol-facade", false, "serve SOAP, transcoded gRPC and queue operations at their synthesized paths")
	f.BoolVar(&o.tls, "tls", false, "serve HTTPS with a certificate of an own authority, made on first use")
	f.StringVar(&o.tlsCert, "tls-cert", "", "serve HTTPS with this certificate (PEM)")
	f.StringVar(&o.tlsKey, "tls-key", "", "the key of --tls-cert (PEM)")
	f.BoolVar(&o.admin, "admin", false, "serve the control endpoints under /__anvil/: reset, trace, health")
	f.StringVar(&o.adminToken, "admin-token", "", "token that control requests must carry; needed beyond the loopback interface (default $ANVIL_ADMIN_TOKEN)")
	f.BoolVar(&o.cors, "cors", false, "let browsers of any origin call the server")
	f.BoolVar(&o.strict, "graphql-strict", false, "execute GraphQL documents: every root field, literals, fragments, selection sets, validation")
	f.StringVar(&o.pprof, "pprof", "", "serve profiles of the program (net/http/pprof) on this loopback HOST:PORT")
	f.IntVar(&o.slowMS, "slow-ms", 1000, "delay of the fault \"slow\", in ms")
	cmd.MarkFlagsMutuallyExclusive("provider-cmd", "fixtures")
	_ = cmd.MarkFlagFilename("contract", "yaml", "json", "gz")
	_ = cmd.MarkFlagFilename("manifest", "yaml", "yml")
	_ = cmd.MarkFlagFilename("profile", "yaml", "yml")
	_ = cmd.MarkFlagFilename("fixtures")
	_ = cmd.MarkFlagFilename("trace", "jsonl")
}

// checkFixtureFlags refuses options that would do nothing.
func (o *serveOptions) checkFixtureFlags(cmd *cobra.Command) error {
	if o.fixtures != "" {
		return nil
	}
	for _, name := range fixtureFlagNames {
		if cmd.Flags().Changed(name) {
			return cli.WithHint(fmt.Errorf("--%s is about a fixture database, and --fixtures names none", name),
				"with --provider-cmd, give it to the provider: anvil-sim provider sqlite FILE --"+name)
		}
	}
	return nil
}

// check reads what flags alone cannot: bounds.
func (o *serveOptions) check() (seed uint32, err error) {
	n, err := strconv.ParseUint(o.seed, 10, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("--seed: found %q, want a whole number from 0", o.seed)
	case o.port < 0 || o.port > 65535:
		return 0, fmt.Errorf("--port: found %d, want 0 to 65535", o.port)
	case o.timeoutMS < 1:
		return 0, fmt.Errorf("--provider-timeout: found %d, want at least 1 (ms)", o.timeoutMS)
	case o.pageSize < 0:
		return 0, fmt.Errorf("--page-size: found %d, want at least 1", o.pageSize)
	case o.slowMS < 0:
		return 0, fmt.Errorf("--slow-ms: found %d, want at least 0 (ms)", o.slowMS)
	}
	return uint32(n), o.describe.check() // seeds are taken modulo 2^32
}

func (o *serveOptions) timeout() time.Duration {
	return time.Duration(o.timeoutMS) * time.Millisecond
}

func (o *serveOptions) run(ctx context.Context, command []string) (err error) {
	seed, err := o.check()
	if err != nil {
		return err
	}
	var release func()
	o.hard, release = untilSecondSignal(ctx)
	defer release()
	stopPprof, err := o.servePprof()
	if err != nil {
		return err
	}
	defer stopPprof()
	var sink sim.TraceSink
	if o.trace != "" {
		if o.calls, err = openTraceLog(o.trace, o.say); err != nil {
			return err
		}
		defer func() {
			lost := o.calls.close()
			if len(command) == 0 { // a server that was stopped ends well, as recorded
				o.report(lost)
				return
			}
			err = o.orReport(err, lost)
		}()
		sink = o.calls
	}
	st, err := o.openState(ctx, &sim.Options{
		Trace: sink, Seed: seed, Capability: o.capability, Principal: o.principal, PageSize: o.pageSize,
		Name: provider.Implementation{Name: "anvil-sim", Version: cli.Version()},
	})
	if err != nil && ctx.Err() != nil {
		o.say("interrupted before anything was served")
		return nil
	}
	if err != nil {
		return err
	}
	giveHeapRoom()
	return o.serve(ctx, st, command)
}

// serve binds, says where, and answers until ctx ends, the provider dies or the
// command is done.
func (o *serveOptions) serve(ctx context.Context, st *state, command []string) (err error) {
	defer func() { err = errors.Join(err, o.closeState(st, err)) }()
	slow := time.Duration(o.slowMS) * time.Millisecond
	if slow == 0 {
		slow = -1 // zero would be the default
	}
	handler, err := surface.New(st.sim, &surface.Options{Facade: o.facade, GraphQLStrict: o.strict, Slow: slow})
	if err != nil {
		return err
	}
	o.warnEmpty(st)
	o.warnHidden(handler.Hidden())
	server, err := o.listen(ctx, st, handler)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	if st.died != nil {
		go func() {
			select {
			case <-st.died:
				stop()
			case <-serving.Done():
			}
		}()
	}
	if len(command) > 0 {
		return o.serveCommand(serving, stop, server, st, command)
	}
	if _, err := fmt.Fprintln(o.streams.Out, server.URL()); err != nil {
		return errors.Join(fmt.Errorf("cannot write the URL to stdout: %w", err), server.Close())
	}
	st.welcome(o.streams.Err, server.URL())
	stopNow := context.AfterFunc(o.hard, func() { _ = server.Close() })
	defer stopNow()
	if err := server.Serve(serving); err != nil {
		return fmt.Errorf("serving failed: %w", err)
	}
	return st.death()
}

// warnEmpty tells of a contract that answers no call: no error, since such a one
// has always been served. Of an API description, which is what --approve is for,
// more was said when it was compiled.
func (o *serveOptions) warnEmpty(st *state) {
	if len(st.sim.Operations()) == 0 && o.describe.approve == "" {
		o.say("no operation is served: of the contract's %d none is approved and chosen; anvil-sim inspect says why, anvil-sim approve changes it", len(st.sim.Document().Operations))
	}
}

// warnHidden names the operations that no request can reach: no error, since
// the rest of the contract is served.
func (o *serveOptions) warnHidden(list []surface.Hidden) {
	const most = 50
	for i, h := range list {
		if i == most {
			o.say("and %d more operations that no request can reach", len(list)-most)
			return
		}
		o.say("no request can reach %s: %s comes first and answers %s too", h.OperationID, h.By, h.Route)
	}
}

// listen binds the handler with what the options put around it.
func (o *serveOptions) listen(ctx context.Context, st *state, calls *surface.Handler) (*surface.Server, error) {
	config, trust, err := o.tlsConfig()
	if err != nil {
		return nil, err
	}
	var handler http.Handler = calls
	if o.admin {
		if handler, err = o.withAdmin(st, calls); err != nil {
			return nil, err
		}
	}
	if o.cors {
		handler = surface.CORS(handler)
	}
	addr := net.JoinHostPort(o.host, strconv.Itoa(o.port))
	server, err := surface.Listen(ctx, addr, handler, &surface.ServerOptions{
		ErrorLog: connLog(o.streams), TLS: config,
		MaxConns: maxConns(freeFiles()), CrowdLeft: newMemoryKeeper().left,
	})
	if err != nil {
		return nil, cli.WithHint(fmt.Errorf("cannot listen on %s: %w", addr, err), "--port 0 picks a free port")
	}
	if o.trust = trust; trust != "" {
		o.say("clients must trust %s: curl --cacert, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS, REQUESTS_CA_BUNDLE", trust)
	}
	return server, nil
}

// connLog prints what goes wrong with connections.
func connLog(s cli.Streams) *log.Logger { return log.New(s.Err, "anvil-sim: ", 0) }

// maxConns is how many connections a server may have that may open so many more
// files, 0 for a number that is not known: copies of tenants, a provider and the
// trace want some too.
func maxConns(files int) int {
	if files == 0 {
		return 0
	}
	const some = 256 // enough for a state with a score of tenants
	return max(files-min(files/2, max(files/4, some)), 1)
}

// orReport is the error that ends the program: the first of two. The other one is said.
func (o *serveOptions) orReport(first, second error) error {
	if first == nil {
		return second
	}
	o.report(second)
	return first
}

// report prints what went wrong beside a call or after the last one.
func (o *serveOptions) report(err error) {
	if err != nil {
		fmt.Fprintf(o.streams.Err, "anvil-sim: %s\n", cli.Text(err))
	}
}

// say prints a line about what the program does.
func (o *serveOptions) say(format string, args ...any) {
	fmt.Fprintf(o.streams.Err, "anvil-sim: "+format+"\n", args...)
}

// closeState ends the provider after a run that ended with an error or nil. The
// run is over: what goes wrong here is said, and does not change the exit status.
// There are two exceptions. A state that was asked for and could not be saved is an
// error, unless the run has one already. And a provider that ends with a code of its
// own after its shutdown says that the answer is no (provider cassette with
// --fail-miss), and so does serve; with 2 that what was asked could not be done
// (provider sqlite with --save-state). A shell's 128 and more tell of a signal, which
// the shutdown itself may have sent.
func (o *serveOptions) closeState(st *state, failed error) error {
	died := st.death() != nil
	if err := st.close(o.hard); err != nil && !died {
		var unsaved *store.SaveError
		if failed == nil && errors.As(err, &unsaved) {
			return err
		}
		o.report(err)
	}
	if st.cut != nil && st.cut() && o.hard.Err() == nil {
		o.say("the state provider did not end after its shutdown and was killed; whatever it would have said in the end is lost")
	}
	if died || st.exit == nil || st.exit() <= 0 || st.exit() >= 128 {
		return nil
	}
	code := cli.CodeNo
	if st.exit() == cli.CodeError {
		code = cli.CodeError
	}
	return cli.Exit(code, fmt.Errorf("the state provider ended with exit code %d after its shutdown", st.exit()))
}
