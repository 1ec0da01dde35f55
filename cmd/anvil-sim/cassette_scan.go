package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
	"github.com/anvil-sim/anvil/recorder/scrub"
)

func newCassetteScan(s cli.Streams) *cobra.Command {
	var rules string
	cmd := &cobra.Command{
		Use:   "scan FILE...",
		Short: "Fail when a recording holds what looks like a secret",
		Long: `Look for secrets in recordings: cassettes, HAR files, provider recordings, traces,
and whatever else is YAML, JSON or JSON lines; of a folder all files that end so.

Each finding is one line on stdout with file, line, interaction and place, and no
more of the value than tells it apart. The exit status is 1 when there are any, and
2 for a file that is empty or cannot be read.
What is no secret is named in a rules file under allow and keep.`,
		Example: `  anvil-sim cassette scan testdata/
  anvil-sim cassette scan tape.yaml --rules scrub.yaml`,
		Args: cli.Args("FILE..."),
		RunE: func(_ *cobra.Command, args []string) error { return scanCassettes(s, args, rules) },
	}
	cmd.Flags().StringVar(&rules, "rules", "", "YAML file with rules for secrets")
	_ = cmd.MarkFlagFilename("rules", "yaml", "yml")
	return cmd
}

func scanCassettes(s cli.Streams, args []string, rulesFile string) error {
	rules, _, err := loadRules(rulesFile, "", "")
	if err != nil {
		return err
	}
	files, err := recordings(args)
	if err != nil {
		return err
	}
	found := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err == nil {
			err = notEmpty(name, data)
		}
		if err != nil {
			return err
		}
		list, err := scrub.ScanFile(name, data, rules)
		if err != nil {
			return err
		}
		for _, f := range list {
			if _, err := fmt.Fprintln(s.Out, f); err != nil {
				return err
			}
		}
		found += len(list)
	}
	if found > 0 {
		return cli.Exit(cli.CodeNo, cli.WithHint(fmt.Errorf("found %s in %s", plural.Of(found, "possible secret"), plural.Of(len(files), "file")),
			"replace them, or name what is no secret in a rules file (allow, keep) and pass it with --rules"))
	}
	return nil
}

// notEmpty refuses a file that holds nothing: a recording that was not made is no
// recording without secrets. The other commands say the same of it.
func notEmpty(name string, data []byte) error {
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")))) == 0 {
		return errors.New(name + ": the file is empty, want a recording")
	}
	return nil
}

// recordings are the files that are named, and those inside of named folders that
// end as recordings do, in order.
func recordings(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		before := len(files)
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			ends := []string{".yaml", ".yml", ".json", ".jsonl", ".har", ".ndjson"}
			if err == nil && d.Type().IsRegular() && slices.Contains(ends, strings.ToLower(filepath.Ext(path))) {
				files = append(files, path)
			}
			return err
		})
		if err == nil && len(files) == before {
			err = errors.New(arg + ": found no recording in this folder")
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
