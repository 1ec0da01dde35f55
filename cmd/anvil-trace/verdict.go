package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/wholefile"
)

// reports writes a verdict on standard output in one format, and more of them to
// files.
type reports struct {
	format  string
	files   []string // FORMAT=FILE
	formats []string // accepted
}

func (r *reports) flags(cmd *cobra.Command, formats ...string) {
	r.formats = formats
	cmd.Flags().StringVar(&r.format, "format", "text", "output: "+strings.Join(formats, ", "))
	cmd.Flags().StringArrayVar(&r.files, "report", nil, "write the verdict to a file too: `FORMAT=FILE` (may be repeated)")
	choose(cmd, "format", formats...)
}

// check judges the formats before any work is done.
func (r *reports) check() error {
	if err := r.known("--format", r.format); err != nil {
		return err
	}
	for _, f := range r.files {
		format, file, ok := strings.Cut(f, "=")
		if !ok || file == "" {
			return fmt.Errorf("--report: found %q, want FORMAT=FILE such as junit=result.xml", f)
		}
		if err := r.known("--report", format); err != nil {
			return err
		}
	}
	return nil
}

func (r *reports) known(option, format string) error {
	if !slices.Contains(r.formats, format) {
		return cli.WithHint(fmt.Errorf("%s: found the format %q, want one of %s", option, format, strings.Join(r.formats, ", ")), cli.DidYouMean(format, r.formats))
	}
	return nil
}

// wants reports whether any output has one of the formats.
func (r *reports) wants(formats ...string) bool {
	return slices.Contains(formats, r.format) || slices.ContainsFunc(r.files, func(f string) bool {
		format, _, _ := strings.Cut(f, "=")
		return slices.Contains(formats, format)
	})
}

// write writes all outputs; write1 writes one, in colour or not.
func (r *reports) write(s cli.Streams, write1 func(w io.Writer, format string, color bool) error) error {
	for _, f := range r.files {
		format, file, _ := strings.Cut(f, "=")
		err := wholefile.Write(file, func(w io.Writer) error { return write1(w, format, false) })
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if err := write1(s.Out, r.format, s.Color(s.Out)); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
