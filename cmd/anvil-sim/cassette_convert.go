package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// writable are the formats that convert writes, by the names of --to.
var writable = []struct {
	name   string
	format tape.Format
}{{"go-vcr", tape.GoVCR1}, {"go-vcr2", tape.GoVCR2}, {"har", tape.HAR}, {"vcr.py", tape.VCRpy}, {"ruby-vcr", tape.RubyVCR}, {"provider", tape.Provider}, {"trace", tape.Trace}}

func newCassetteConvert(s cli.Streams) *cobra.Command {
	var to, out string
	cmd := &cobra.Command{
		Use:   "convert FILE...",
		Short: "Write recordings in another format, and say what gets lost",
		Long: `Write recordings in another format, several as one. What the format cannot hold is
said on stderr. The file appears whole or not at all.

go-vcr is format 1, which go-vcr v1 and v2 load; go-vcr2 is format 2, of go-vcr v3
and v4. A call trace is read and not written.`,
		Example: `  anvil-sim cassette convert session.har --to go-vcr -o tape.yaml
  anvil-sim cassette convert tape.yaml --to go-vcr2 -o v4/tape.yaml
  anvil-sim cassette convert tapes/ --to har > all.har`,
		Args: cli.Args("FILE", "[FILE...]"),
		RunE: func(_ *cobra.Command, args []string) error {
			format, err := formatNamed(to)
			if err != nil {
				return err
			}
			tapes, err := loadTapes(s.Err, args)
			if err != nil {
				return err
			}
			var list []*tape.Interaction
			for _, t := range tapes {
				list = append(list, t.Interactions...)
			}
			return writeTape(s, out, format, list)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "format to write: "+formatNames())
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default stdout)")
	return cmd
}

// writeTape writes a recording to a file, or to stdout when none is named, and
// says what the format could not hold.
func writeTape(s cli.Streams, out string, format tape.Format, list []*tape.Interaction) error {
	var text bytes.Buffer
	lost, err := tape.Write(&text, format, list)
	if err != nil {
		return err
	}
	sayEntries(s.Err, "lost", lost)
	if text.Len() == 0 && len(list) > 0 {
		return fmt.Errorf("nothing would be left in a %s; nothing is written", format)
	}
	return writeOut(s, out, text.Bytes())
}

// writeOut writes a file, or to stdout when none is named.
func writeOut(s cli.Streams, out string, text []byte) error {
	if out == "" {
		_, err := s.Out.Write(text)
		return err
	}
	return writeFile(out, text)
}

// joined is a merge whose entries keep their bytes, so that it makes a small diff;
// nil when it has to be written anew.
func joined(tapes []*tape.Tape, format tape.Format, list []*tape.Interaction) []byte {
	var parts []*tape.Pieces
	for _, t := range tapes {
		if t.Format != format {
			return nil
		}
		data, err := os.ReadFile(t.Name)
		if err != nil {
			return nil
		}
		p, err := tape.Cut(t.Name, data)
		if err != nil || len(p.Tape.Interactions) != len(t.Interactions) {
			return nil
		}
		p.Tape = t // whose interactions the list is of
		parts = append(parts, p)
	}
	text, err := tape.Join(parts, list)
	if err != nil {
		return nil
	}
	return text
}

func newCassetteMerge(s cli.Streams) *cobra.Command {
	var base, to, out string
	cmd := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Join recordings without duplicates",
		Long: `Join recordings without duplicates. An exchange that one of them holds several
times, such as a poll, stays so often. With --base, which all came from, what one
of them took out stays out. Entries keep their bytes where all are of the format
that is written.`,
		Example: `  anvil-sim cassette merge a.yaml b.yaml -o all.yaml
  # as a merge driver of git: * merge=cassette in .gitattributes, and
  git config merge.cassette.driver "anvil-sim cassette merge --base %O %A %B -o %A"`,
		Args: cli.Args("FILE", "[FILE...]"),
		RunE: func(_ *cobra.Command, args []string) error {
			format, err := formatNamed(to)
			if err != nil {
				return err
			}
			tapes, err := loadTapes(s.Err, args)
			if err != nil {
				return err
			}
			from, err := baseTape(base)
			if err != nil {
				return err
			}
			list := tape.Merge(from, tapes...)
			if text := joined(tapes, format, list); text != nil {
				return writeOut(s, out, text)
			}
			return writeTape(s, out, format, list)
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "the recording that all of them came from")
	cmd.Flags().StringVar(&to, "to", "go-vcr", "format to write: "+formatNames())
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default stdout)")
	return cmd
}

// baseTape is what a merge goes out from: nil when none is named, and for the
// empty file that git hands over when there was none.
func baseTape(name string) (*tape.Tape, error) {
	if name == "" {
		return nil, nil
	}
	if info, err := os.Stat(name); err == nil && info.Size() == 0 {
		return nil, nil
	}
	return tape.LoadFile(name)
}

// formatNames are the formats that can be written, for a help text.
func formatNames() string {
	var names []string
	for _, w := range writable {
		if w.format != tape.Trace {
			names = append(names, w.name)
		}
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

func formatNamed(name string) (tape.Format, error) {
	var names []string
	for _, w := range writable {
		if w.name == strings.ToLower(name) {
			return w.format, nil
		}
		if w.format != tape.Trace {
			names = append(names, w.name)
		}
	}
	return "", cli.WithHint(fmt.Errorf("--to: found %q, want %s", name, strings.Join(names, ", ")), cli.DidYouMean(name, names))
}
