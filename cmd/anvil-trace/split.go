package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/wholefile"
	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/arrange"
)

const splitHelp = `Write the runs of a trace to files of their own: NAME-1.jsonl, NAME-2.jsonl and so
on, in the folder that --dir names, which is made when it is not there. A new run
begins where a seq comes again. Lines stay byte for byte.

With --by source a trace that 'anvil-trace merge' wrote is taken apart again, into
NAME.jsonl for each server.

Either all files appear or none; a file that is there already is an error unless
--force is given. Their paths are printed.

Exit codes: 0 written, 2 could not.`

const splitExample = `  anvil-trace split calls.jsonl --dir runs
  anvil-trace split both.jsonl --by source --dir servers`

type splitFlags struct {
	dir, name, by string
	force         bool
}

func newSplit(s cli.Streams) *cobra.Command {
	var f splitFlags
	cmd := &cobra.Command{
		Use:     "split TRACE --dir DIR",
		Short:   "Write the runs of a trace to files",
		Long:    splitHelp,
		Example: splitExample,
		Args:    cli.Args("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSplit(cmd, s, &f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", "", "write the files to the folder `DIR`")
	flags.StringVar(&f.name, "name", "", "begin the names of the files with `NAME` (default: the trace's name)")
	flags.StringVar(&f.by, "by", string(arrange.ByRun), "what goes to one file: a run or a source")
	flags.BoolVar(&f.force, "force", false, "replace files that are there")
	choose(cmd, "by", string(arrange.ByRun), string(arrange.BySource))
	return cmd
}

func runSplit(cmd *cobra.Command, s cli.Streams, f *splitFlags, file string) error {
	if f.dir == "" {
		return cli.WithHint(fmt.Errorf("--dir is missing"), "name the folder for the files: --dir runs")
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	var set wholefile.Set
	defer set.Abort()
	defer removeOnSignal(s, &set)()
	var paths []string
	create := func(part string) (io.WriteCloser, error) {
		path, err := f.path(file, part)
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(path); err == nil && !f.force {
			return nil, cli.WithHint(fmt.Errorf("%s: the file is there already", path), "name another folder, or give --force to replace it")
		}
		paths = append(paths, path)
		return set.Create(path)
	}
	parts, err := arrange.Split(cmd.Context(), input(s, file), arrange.By(f.by), create)
	if err != nil {
		return err
	}
	if err := set.Commit(); err != nil {
		return err
	}
	return writeTo(s, "", func(w io.Writer) error {
		for i, p := range parts {
			if _, err := fmt.Fprintf(w, "%s: %d call(s)\n", trace.Clean(paths[i]), p.Calls); err != nil {
				return err
			}
		}
		return nil
	})
}

// path is where a part goes. A source's name comes from a trace, so that it must
// not lead out of the folder.
func (f *splitFlags) path(file, part string) (string, error) {
	name := f.name
	switch {
	case arrange.By(f.by) == arrange.ByRun && name == "":
		name = serverName(file) + "-" + part
	case arrange.By(f.by) == arrange.ByRun:
		name += "-" + part
	default:
		name += part
	}
	if strings.ContainsAny(name, "/\\\x00:") || strings.HasPrefix(name, ".") || len(name) > 200 {
		return "", cli.WithHint(fmt.Errorf("%q makes no safe file name", part), "merge the traces under plain names: NAME=FILE")
	}
	return filepath.Join(f.dir, name+".jsonl"), nil
}
