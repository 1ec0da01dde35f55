package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
	"github.com/anvil-sim/anvil/sim/values"
)

func newCassetteCoverage(s cli.Streams) *cobra.Command {
	var contract string
	var gate bool
	cmd := &cobra.Command{
		Use:   "coverage FILE...",
		Short: "Say which operations and statuses of a contract are recorded",
		Example: `  anvil-sim cassette coverage tapes/ --contract ./bundle
  anvil-sim cassette coverage tapes/ --contract ./bundle --gate   # exit 1 when an operation is missing`,
		Args: cli.Args("FILE", "[FILE...]"),
		RunE: func(_ *cobra.Command, args []string) error {
			tapes, doc, err := withContract(s, args, contract)
			if err != nil {
				return err
			}
			list, apart, err := replayer.Coverage(tapes, doc)
			if err != nil {
				return err
			}
			var missing int
			if err := s.Print(func(w io.Writer) { missing = printCoverage(w, list) }); err != nil {
				return err
			}
			for _, it := range apart {
				fmt.Fprintf(s.Err, "anvil-sim: %s: no operation of the contract is %s\n", it.Place(), what(it))
			}
			if gate && missing > 0 {
				return cli.Exit(cli.CodeNo, fmt.Errorf("%d operation(s) are not recorded", missing))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&contract, "contract", "", "the contract (default $ANVIL_CONTRACT)")
	cmd.Flags().BoolVar(&gate, "gate", false, "exit 1 when an operation is not recorded")
	return cmd
}

func printCoverage(out io.Writer, list []replayer.Covered) (missing int) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range list {
		if c.Calls == 0 {
			missing++
		}
		fmt.Fprintf(w, "%s\t%d call(s)\t%s\t%s\n", c.Operation.ID, c.Calls, statuses("", c.Statuses), statuses("not seen: ", c.Unseen))
	}
	_ = w.Flush()
	fmt.Fprintf(out, "%d of %d operations are recorded\n", len(list)-missing, len(list))
	return missing
}

func statuses(before string, list []int) string {
	if len(list) == 0 {
		return ""
	}
	var words []string
	for _, n := range list {
		word := strconv.Itoa(n)
		if n == 0 {
			word = "failure"
		}
		words = append(words, word)
	}
	return before + strings.Join(words, " ")
}

func newCassetteVerify(s cli.Streams) *cobra.Command {
	var contract string
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check recorded answers against a contract, such as a newer one",
		Long: `Check recorded answers against a contract, such as a newer one: each call has to be
an operation, its status declared, its success body fit the declared response.
Findings are on stdout; with any, the exit status is 1.`,
		Example: "  anvil-sim cassette verify tapes/ --contract ./bundle",
		Args:    cli.Args("FILE", "[FILE...]"),
		RunE: func(_ *cobra.Command, args []string) error {
			tapes, doc, err := withContract(s, args, contract)
			if err != nil {
				return err
			}
			findings, err := replayer.Verify(tapes, doc, values.New(doc).Check)
			if err != nil {
				return err
			}
			err = s.Print(func(w io.Writer) {
				for _, f := range findings {
					fmt.Fprintln(w, f)
				}
			})
			if err != nil {
				return err
			}
			if len(findings) > 0 {
				return cli.Exit(cli.CodeNo, fmt.Errorf("%d finding(s)", len(findings)))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&contract, "contract", "", "the contract (default $ANVIL_CONTRACT)")
	return cmd
}

func withContract(s cli.Streams, paths []string, contract string) ([]*tape.Tape, *air.Document, error) {
	doc, err := theContract(s, contract)
	if err != nil {
		return nil, nil, err
	}
	tapes, err := loadTapes(s.Err, paths)
	return tapes, doc, err
}

// theContract is the contract that an option or ANVIL_CONTRACT names.
func theContract(s cli.Streams, contract string) (*air.Document, error) {
	contract, from := namedContract(s, contract)
	if contract == "" {
		return nil, cli.WithHint(errors.New("no contract"), "pass --contract with a bundle directory or an air.yaml, or set ANVIL_CONTRACT")
	}
	doc, err := air.Load(contract)
	return doc, contractError(contract, from, err)
}
