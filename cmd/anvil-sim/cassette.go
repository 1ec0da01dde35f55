package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/replayer/tape"
)

func newCassette(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cassette",
		Short: "Look at recordings, change and check them",
		Long: `Look at recordings, convert and check them: go-vcr cassettes, HAR, VCR.py and Ruby
VCR cassettes, provider recordings, call traces. A folder is all its recordings.`,
	}
	cmd.AddCommand(newCassetteLs(s), newCassetteShow(s), newCassetteConvert(s), newCassetteMerge(s), newCassetteSplit(s), newCassettePrune(s),
		newCassetteSort(s), newCassetteRedact(s), newCassetteCoverage(s), newCassetteVerify(s), newCassetteScan(s), newCassetteToFixtures(s))
	return cmd
}

func newCassetteLs(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "ls FILE...",
		Short:   "List the interactions, one a line",
		Example: "  anvil-sim cassette ls tapes/",
		Args:    cli.Args("FILE", "[FILE...]"),
		RunE: func(_ *cobra.Command, args []string) error {
			tapes, err := loadTapes(s.Err, args)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
			for _, t := range tapes {
				fmt.Fprintf(w, "%s\t%s\t%d interaction(s)\t\t\n", t.Name, t.Format, len(t.Interactions))
				for _, it := range t.Interactions {
					fmt.Fprintf(w, "  #%d\t%s\t%s\t%s\t%s\n", it.Position, outcome(it), size(it), method(it), target(it))
				}
			}
			return w.Flush()
		},
	}
}

func method(it *tape.Interaction) string {
	if it.HTTP() {
		return it.Request.Method
	}
	return "invoke"
}

func target(it *tape.Interaction) string {
	if it.HTTP() {
		return it.Request.URL
	}
	return it.ID
}

// outcome is how an exchange ended, in a word.
func outcome(it *tape.Interaction) string {
	switch {
	case it.Failure != nil && it.Failure.TimedOut:
		return "timeout"
	case it.Failure != nil:
		return "failure"
	case it.HTTP():
		return strconv.Itoa(it.Response.Status)
	}
	return "answer"
}

func size(it *tape.Interaction) string {
	n := len(it.Response.Body)
	if it.Call != nil && !it.HTTP() {
		n = len(it.Call.Answer)
	}
	return strconv.Itoa(n) + " B"
}

func newCassetteShow(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "show FILE [POSITION...]",
		Short:   "Show interactions in full, bodies decoded",
		Example: "  anvil-sim cassette show tape.yaml 0 3",
		Args:    cli.Args("FILE", "[POSITION...]"),
		RunE: func(_ *cobra.Command, args []string) error {
			tapes, err := loadTapes(s.Err, args[:1])
			if err != nil {
				return err
			}
			wanted, err := positions(args[1:])
			if err != nil {
				return err
			}
			shown := 0
			err = s.Print(func(w io.Writer) {
				for _, t := range tapes {
					for _, it := range t.Interactions {
						if len(wanted) == 0 || slices.Contains(wanted, it.Position) {
							show(w, it)
							shown++
						}
					}
				}
			})
			if err != nil {
				return err
			}
			if shown == 0 && len(wanted) > 0 {
				return cli.WithHint(fmt.Errorf("%s has no interaction %s", args[0], strings.Join(args[1:], ", ")), "'anvil-sim cassette ls "+args[0]+"' lists them")
			}
			return nil
		},
	}
}

func positions(args []string) ([]int, error) {
	var list []int
	for _, a := range args {
		n, err := strconv.Atoi(strings.TrimPrefix(a, "#"))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("found %q, want the position of an interaction, from 0", a)
		}
		list = append(list, n)
	}
	return list, nil
}

// show writes an interaction as HTTP is written down.
func show(w io.Writer, it *tape.Interaction) {
	fmt.Fprintf(w, "=== %s\n", it.Place())
	if it.HTTP() {
		fmt.Fprintf(w, "%s %s\n", it.Request.Method, it.Request.URL)
		body, err := it.Request.Content()
		showMessage(w, it.Request.Header, body, err, it.Request.Body)
	}
	if it.HTTP() && it.Failure == nil {
		fmt.Fprintf(w, "\n%d %s\n", it.Response.Status, it.Response.Reason)
		body, err := it.Response.Content()
		showMessage(w, it.Response.Header, body, err, it.Response.Body)
	}
	if it.Call != nil {
		fmt.Fprintf(w, "\nasked    %s\n", it.Call.Request)
		if it.Failure == nil {
			fmt.Fprintf(w, "answered %s\n", it.Call.Answer)
		}
	}
	if it.Failure != nil {
		fmt.Fprintf(w, "\nfailed: %s\n", it.Failure.Message)
	}
	fmt.Fprintln(w)
}

func showMessage(w io.Writer, h tape.Header, body []byte, err error, raw []byte) {
	for _, f := range h {
		fmt.Fprintf(w, "%s: %s\n", f.Name, f.Value)
	}
	if err != nil {
		fmt.Fprintf(w, "\n(%d bytes: %v)\n", len(raw), err)
		return
	}
	if len(body) > 0 {
		fmt.Fprintf(w, "\n%s\n", printable(body))
	}
}

// printable keeps bytes that are no text off a terminal.
func printable(body []byte) string {
	text := string(body)
	if strings.ToValidUTF8(text, "") != text || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' }) {
		return fmt.Sprintf("(%d bytes that are no text)", len(body))
	}
	return strings.TrimSuffix(text, "\n")
}
