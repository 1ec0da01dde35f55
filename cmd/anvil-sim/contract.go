package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

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

// loadContract loads a contract, or compiles an API description in memory.
func loadContract(path, approve string) (*air.Document, error) {
	c, err := readContract(path)
	if err != nil {
		return nil, err
	}
	if c.description {
		return compile.Document(c.file, c.data, &compile.Options{Approve: approve})
	}
	return air.Parse(c.file, c.data)
}

// descriptionFlags are the options of serve about an API description.
type descriptionFlags struct {
	approve, manifest, profile string
}

func (d *descriptionFlags) add(f *pflag.FlagSet) {
	f.StringVar(&d.approve, "approve", "", "serve an API description as the contract: reads, or all of it")
	f.StringVar(&d.manifest, "manifest", "", "anvil.yaml with what the API description does not say")
	f.StringVar(&d.profile, "profile", "", "exposure profile: which operations of the API description are served")
}

// check refuses options that cannot be; provider is the command of one, or "".
func (d *descriptionFlags) check(provider string) error {
	switch {
	case d.approve != "" && d.approve != "reads" && d.approve != "all":
		return fmt.Errorf("--approve: found %q, want reads or all", d.approve)
	case d.manifest != "" && provider != "":
		return cli.WithHint(errors.New("--manifest and --provider-cmd do not go together: a provider reads the description itself, without the manifest"),
			"compile it for both: anvil-sim compile SPEC --manifest "+d.manifest+" --out ./bundle")
	}
	return nil
}

// refuse tells which of the options have nothing to be about: path is a contract
// that is compiled already, or "" when none is named.
func (d *descriptionFlags) refuse(path string) error {
	for _, o := range []struct{ name, value, hint string }{
		{"approve", d.approve, "run 'anvil-sim approve' to approve operations of a bundle"},
		{"manifest", d.manifest, "for a bundle, give the manifest to 'anvil-sim compile'"},
		{"profile", d.profile, "for a bundle, give the profile to 'anvil-sim compile'"},
	} {
		switch {
		case o.value == "":
		case path == "":
			return cli.WithHint(fmt.Errorf("--%s is for API descriptions, and no contract is named", o.name), "--contract names the description")
		default:
			return cli.WithHint(fmt.Errorf("--%s is for API descriptions, and %s is a contract", o.name, path), o.hint)
		}
	}
	return nil
}

// compile compiles a description with the options. Without --approve there is
// nothing in it that may be served.
func (d *descriptionFlags) compile(path string, c *contractText) (*air.Document, error) {
	if d.approve == "" {
		return nil, cli.WithHint(fmt.Errorf("%s is an API description, in which nothing is approved yet", path),
			"--approve all serves everything in it, --approve reads what only reads",
			"or compile it for review: anvil-sim compile "+path+" --out ./bundle")
	}
	opts := &compile.Options{Approve: d.approve}
	if err := readOptions(opts, d.manifest, d.profile); err != nil {
		return nil, err
	}
	return compile.Document(c.file, c.data, opts)
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
