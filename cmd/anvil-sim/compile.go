package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
)

// compileOptions are the options of compile as typed.
type compileOptions struct {
	streams  cli.Streams
	out      string
	root     string
	service  string
	manifest string
	profile  string
	verbose  bool
}

func newCompile(s cli.Streams) *cobra.Command {
	o := &compileOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "compile SPEC --out BUNDLE",
		Short: "Compile an API description into a contract for review",
		Long: `Compile an OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0 description, YAML or JSON, also
gzipped, into a bundle: air.yaml, air.json, diagnostics.json, source.json and the
files read under source/. The same bytes give the same bundle. References to other
files are followed inside the import root; nothing is ever fetched.

Nothing is approved by compiling. When BUNDLE is there already, its approvals are
kept for the operations that did not change.`,
		Example: `  anvil-sim compile openapi.yaml --out ./bundle
  anvil-sim approve ./bundle --reads --reviewer "Ada"
  anvil-sim serve --contract ./bundle`,
		Args: cli.Args("SPEC"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "directory of the bundle (required)")
	f.StringVar(&o.root, "root", "", "import root: no file outside it is read (default the folder of SPEC)")
	f.StringVar(&o.service, "service", "", "id of the service (default from the manifest, else from the title)")
	f.StringVar(&o.manifest, "manifest", "", "anvil.yaml with what the description does not say")
	f.StringVar(&o.profile, "profile", "", "exposure profile: which operations are served")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print every diagnostic, not only a count of each code")
	_ = cmd.MarkFlagRequired("out")
	_ = cmd.MarkFlagFilename("manifest", "yaml", "yml")
	_ = cmd.MarkFlagFilename("profile", "yaml", "yml")
	return cmd
}

func (o *compileOptions) run(spec string) error {
	opts := &compile.Options{Root: o.root, Service: o.service}
	if err := readOptions(opts, o.manifest, o.profile); err != nil {
		return err
	}
	r, err := compile.Compile(spec, opts)
	if err != nil {
		return refused(spec, err)
	}
	b := r.Bundle()
	approvals, err := earlierApprovals(o.out)
	if err != nil {
		return err
	}
	b.Carry(approvals)
	if err := b.Write(o.out); err != nil {
		return err
	}
	if r.Compiled == 0 {
		fmt.Fprintf(o.streams.Err, "anvil-sim: warning: nothing in %s can be served: %s\n", spec, r.WhyNone())
	}
	return o.streams.Print(func(w io.Writer) { o.report(w, r, b) })
}

// refused adds what to do to the refusal of a description.
func refused(spec string, err error) error {
	if _, statErr := os.Stat(spec); errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist, want an API description", spec)
	}
	var load *air.LoadError
	if errors.As(err, &load) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, statErr := air.Load(spec); statErr == nil {
		return cli.WithHint(err, fmt.Sprintf("%s is a contract already (service %s): serve it with --contract", spec, info.Service.ID))
	}
	return err
}

// earlierApprovals are those of a bundle that is written over.
func earlierApprovals(dir string) ([]compile.Approval, error) {
	b, err := compile.ReadBundle(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cli.WithHint(fmt.Errorf("the bundle that is there cannot be read: %w", err), "remove "+dir+" to start afresh; its approvals are lost then")
	}
	return b.Approvals, nil
}

func (o *compileOptions) report(w io.Writer, r *compile.Result, b *compile.Bundle) {
	also := ""
	if r.Aliases > 0 {
		also = fmt.Sprintf(", %d of them by POST too", r.Aliases)
	}
	fmt.Fprintf(w, "%s: %s of %d%s, %d approved, %d file(s) read\n", o.out, plural.Of(r.Compiled, "operation"), r.Found, also, len(b.Approvals), len(r.Sources))
	if o.verbose {
		for _, d := range b.Diagnostics {
			printDiagnostic(w, d)
		}
		return
	}
	var order []string
	count := map[string]int{}
	for _, d := range b.Diagnostics {
		key := d.Level + " " + d.Code
		if count[key]++; count[key] == 1 {
			order = append(order, key)
		}
	}
	for _, key := range order {
		fmt.Fprintf(w, "%6d %s\n", count[key], key)
	}
	if len(order) > 0 {
		fmt.Fprintf(w, "see %s/diagnostics.json, or compile again with --verbose\n", strings.TrimSuffix(o.out, "/"))
	}
}

func printDiagnostic(w io.Writer, d api.Diagnostic) {
	where := d.Operation
	if where == "" {
		where = d.Path
	}
	fmt.Fprintf(w, "%s %s %s: %s\n", d.Level, d.Code, where, d.Message)
}
