package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/wholefile"
	"github.com/anvil-sim/anvil/recorder/vcr"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// editOptions are the options of commands that change recordings in their place.
type editOptions struct {
	streams cli.Streams
	out     string
	dryRun  bool
	before  func() error // asked once all is read and before anything is written; nil agrees
}

func (o *editOptions) register(f *pflag.FlagSet) {
	f.StringVarP(&o.out, "output", "o", "", "file to write, - for stdout (default the recording itself); for one FILE")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would change and write nothing")
}

// An edit is the new text of a recording.
type edit struct {
	path      string
	old, text []byte
}

// each makes the edit of every file; all are written when all could be made, each
// whole or not at all.
func (o *editOptions) each(paths []string, change func(path string, data []byte) ([]byte, error)) error {
	files, err := tape.Files(paths...)
	if err != nil {
		return err
	}
	if o.out != "" && len(files) != 1 {
		return cli.WithHint(fmt.Errorf("--output: found %d recordings, want one", len(files)), "without it each is changed in its place")
	}
	var edits []edit
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("cannot read the recording: %w", err)
		}
		text, err := change(path, data)
		if err != nil {
			return err
		}
		edits = append(edits, edit{path, data, text})
	}
	if o.before != nil {
		if err := o.before(); err != nil {
			return err
		}
	}
	switch {
	case o.dryRun:
		return nil
	case o.out == "-":
		_, err := o.streams.Out.Write(edits[0].text)
		return err
	case o.out != "":
		return writeFile(o.out, edits[0].text)
	}
	return replaceAll(edits)
}

// replaceAll puts the new texts in their places, together. A recording that is
// being written, or that changed since it was read, stays, and so do all others.
func replaceAll(edits []edit) error {
	var set wholefile.Set
	defer set.Abort()
	for _, e := range edits {
		if string(e.old) == string(e.text) {
			continue
		}
		release, err := vcr.Hold(e.path)
		if err != nil {
			return lockedHint(err)
		}
		defer release()
		if now, err := os.ReadFile(e.path); err != nil || string(now) != string(e.old) {
			return errors.Join(fmt.Errorf("%s: it changed while it was looked at; nothing is written", e.path), err)
		}
		f, err := set.Create(e.path)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.text); err != nil {
			return err
		}
	}
	return set.Commit()
}

// writeFile writes a file that appears whole or not at all, unless a recorder is
// writing it.
func writeFile(path string, text []byte) error {
	release, err := vcr.Hold(path)
	if err != nil {
		return lockedHint(err)
	}
	defer release()
	return wholefile.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
