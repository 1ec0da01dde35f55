package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/recorder"
	"github.com/anvil-sim/anvil/recorder/scrub"
)

func newCassetteRedact(s cli.Streams) *cobra.Command {
	o := &editOptions{streams: s}
	var rules, contract string
	cmd := &cobra.Command{
		Use:   "redact FILE...",
		Short: "Replace the secrets in recordings that others made",
		Long: `Replace the secrets in recordings that others made, of any format, each file in its
place and all of them or none: as if this program had recorded them. The same secret
becomes the same placeholder wherever it stands in a file, so matching still works;
dates and request ids become fixed values. Bodies keep their base64 and content
codings. JSON keeps its layout, YAML is laid out anew.

When a value still looks like a secret, it is named on stdout, nothing is written
and the exit status is 1: a rules file says what to do with it (record --help).`,
		Example: `  anvil-sim cassette redact session.har
  anvil-sim cassette redact tapes/ --rules scrub.yaml --dry-run
  anvil-sim cassette redact session.har -o clean.har && anvil-sim cassette scan clean.har`,
		Args: cli.Args("FILE", "[FILE...]"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, doc, err := loadRules(rules, contract, "--contract")
			if err != nil {
				return err
			}
			if r, err = recorder.WithCarriers(r, doc); err != nil {
				return err
			}
			return redactCassettes(o, args, r)
		},
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&rules, "rules", "", "YAML file with rules for secrets and volatile values")
	f.StringVar(&contract, "contract", "", "contract whose credential carriers are hidden")
	_ = cmd.MarkFlagFilename("rules", "yaml", "yml")
	return cmd
}

func redactCassettes(o *editOptions, args []string, rules *scrub.Rules) error {
	left := 0
	o.before = func() error {
		if left > 0 {
			return cli.Exit(cli.CodeNo, cli.WithHint(fmt.Errorf("%d value(s) still look like secrets; nothing is written", left),
				"name the places, or what is no secret, in a rules file and pass it with --rules"))
		}
		return nil
	}
	return o.each(args, func(path string, data []byte) ([]byte, error) {
		if err := notEmpty(path, data); err != nil {
			return nil, err
		}
		text, r, err := scrub.RedactFile(path, data, rules)
		if err != nil {
			return nil, err
		}
		for _, f := range r.Left {
			if _, err := fmt.Fprintln(o.streams.Out, f); err != nil {
				return nil, err
			}
		}
		left += len(r.Left)
		if len(data) > 0 && len(text) == 0 {
			return nil, errors.New(path + ": nothing is left of it")
		}
		fmt.Fprintf(o.streams.Err, "anvil-sim: %s: %d value(s) of %d secret(s) replaced\n", path, r.Replaced, r.Secrets)
		return text, nil
	})
}
