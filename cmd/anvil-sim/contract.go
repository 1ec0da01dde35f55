package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/cli"
)

// namedContract is the contract of the option, else of the environment, and
// which of the two; "" when there is none.
func namedContract(s cli.Streams, option string) (path, from string) {
	if option != "" {
		return option, "--contract"
	}
	if env := s.Getenv("ANVIL_CONTRACT"); env != "" {
		return env, "$ANVIL_CONTRACT"
	}
	return "", ""
}

// contractError says by what a contract that is not there was named; other
// errors of loading it stay as they are.
func contractError(path, from string, err error) error {
	if err == nil {
		return nil
	}
	if _, missing := os.Stat(path); !errors.Is(missing, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s: %s does not exist, want a bundle directory, an air.yaml or air.json, or an API description", from, path)
}

// A contractText is the file of a contract or of an API description, read once:
// it may be a pipe.
type contractText struct {
	file        string // what errors call it
	data        []byte // what it holds, perhaps gzipped
	description bool
}

func readContract(path string) (*contractText, error) {
	file, data, err := air.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text, err := air.Unzip(file, data)
	if err != nil {
		return nil, err
	}
	if compile.IsDescription(text) {
		return &contractText{file, data, true}, nil
	}
	return &contractText{file, text, false}, nil
}

// parse reads a contract that is compiled already.
func (c *contractText) parse() (*air.Document, error) {
	doc, err := air.Parse(c.file, c.data)
	return doc, c.refuse(err)
}

// refuse says what the file is, where an error of the options or of reading it
// comes from that: it is of another format.
func (c *contractText) refuse(err error) error {
	if err == nil {
		return nil
	}
	what := compile.Foreign(c.data)
	if what == "" {
		return err
	}
	err = fmt.Errorf("%s: it looks like %s, want a contract (a bundle, air.yaml or air.json) or an OpenAPI 3.0 or 3.1 or a Swagger 2.0 description", c.file, what)
	switch what {
	case "a HAR file", "a recording":
		return cli.WithHint(err, "'anvil-sim replay' answers from a recording, 'anvil-sim cassette convert' reads a HAR file")
	case "a SQLite database":
		return cli.WithHint(err, "--fixtures serves a database")
	}
	return err
}

// sourceFlags are the options about an API description, wherever one stands for
// a contract.
type sourceFlags struct{ manifest, profile string }

func (d *sourceFlags) add(f *pflag.FlagSet) {
	f.StringVar(&d.manifest, "manifest", "", "anvil.yaml with what the API description does not say")
	f.StringVar(&d.profile, "profile", "", "exposure profile: which operations of the API description are served")
	for _, name := range []string{"manifest", "profile"} {
		_ = cobra.MarkFlagFilename(f, name, "yaml", "yml")
	}
}

// fromServe takes what serve tells its provider, where the options say nothing
// and the contract is serve's too.
func (d *sourceFlags) fromServe(s cli.Streams, from string) {
	if from != "$ANVIL_CONTRACT" {
		return
	}
	if d.manifest == "" {
		d.manifest = s.Getenv("ANVIL_MANIFEST")
	}
	if d.profile == "" {
		d.profile = s.Getenv("ANVIL_PROFILE")
	}
}

// env is what serve tells its provider of the options.
func (d *sourceFlags) env() (vars []string, err error) {
	for _, v := range []struct{ name, path string }{{"ANVIL_MANIFEST", d.manifest}, {"ANVIL_PROFILE", d.profile}} {
		if v.path == "" {
			continue
		}
		abs, err := filepath.Abs(v.path)
		if err != nil {
			return nil, err
		}
		vars = append(vars, v.name+"="+abs)
	}
	return vars, nil
}

// load loads a contract, or compiles an API description in memory and approves
// of it what approve says: none, reads or all.
func (d *sourceFlags) load(path, approve string) (*air.Document, error) {
	c, err := readContract(path)
	switch {
	case err != nil:
		return nil, err
	case c.description:
		return d.compile(c, approve)
	}
	if err := c.refuse(d.refuse(path)); err != nil {
		return nil, err
	}
	return c.parse()
}

func (d *sourceFlags) compile(c *contractText, approve string) (*air.Document, error) {
	opts := &compile.Options{Approve: approve}
	if err := readOptions(opts, d.manifest, d.profile); err != nil {
		return nil, err
	}
	return compile.Document(c.file, c.data, opts)
}

// refuse tells which of the options have nothing to be about: path is a contract
// that is compiled already, or "" when none is named.
func (d *sourceFlags) refuse(path string) error {
	if err := notDescribed("manifest", d.manifest, path, "for a bundle, give the manifest to 'anvil-sim compile'"); err != nil {
		return err
	}
	return notDescribed("profile", d.profile, path, "for a bundle, give the profile to 'anvil-sim compile'")
}

func notDescribed(name, value, path, hint string) error {
	switch {
	case value == "":
		return nil
	case path == "":
		return cli.WithHint(fmt.Errorf("--%s is for API descriptions, and no contract is named", name), "--contract names the description")
	}
	return cli.WithHint(fmt.Errorf("--%s is for API descriptions, and %s is a contract", name, path), hint)
}

// descriptionFlags are the options of serve about an API description.
type descriptionFlags struct {
	sourceFlags
	approve string
}

func (d *descriptionFlags) add(f *pflag.FlagSet) {
	f.StringVar(&d.approve, "approve", "", "serve an API description as the contract: reads, or all of it")
	d.sourceFlags.add(f)
}

// check refuses options that cannot be.
func (d *descriptionFlags) check() error {
	if d.approve != "" && d.approve != "reads" && d.approve != "all" {
		return fmt.Errorf("--approve: found %q, want reads or all", d.approve)
	}
	return nil
}

// refuse is that of sourceFlags, of --approve too.
func (d *descriptionFlags) refuse(path string) error {
	if err := notDescribed("approve", d.approve, path, "run 'anvil-sim approve' to approve operations of a bundle"); err != nil {
		return err
	}
	return d.sourceFlags.refuse(path)
}

// compile compiles a description with the options. Without --approve there is
// nothing in it that may be served.
func (d *descriptionFlags) compile(path string, c *contractText) (*air.Document, error) {
	if d.approve == "" {
		return nil, cli.WithHint(fmt.Errorf("%s is an API description, in which nothing is approved yet", path),
			"--approve all serves everything in it, --approve reads what only reads",
			"or compile it for review: anvil-sim compile "+path+" --out ./bundle")
	}
	return d.sourceFlags.compile(c, d.approve)
}

// readOptions reads a manifest and a profile where they are named.
func readOptions(opts *compile.Options, manifest, profile string) (err error) {
	if manifest != "" {
		if opts.Manifest, err = compile.ReadManifest(manifest); err != nil {
			return err
		}
	}
	if profile != "" {
		opts.Profile, err = compile.ReadProfile(profile)
	}
	return err
}
