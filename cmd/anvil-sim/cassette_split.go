package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/wholefile"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// splitOptions are the options of cassette split as typed.
type splitOptions struct {
	streams  cli.Streams
	by       string
	dir      string
	contract string
	maxBytes int
	force    bool
	dryRun   bool
}

func newCassetteSplit(s cli.Streams) *cobra.Command {
	o := &splitOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "split FILE --by WHAT --dir DIR",
		Short: "Split a recording into files",
		Long: `Split a recording into files of its own format, all of them or none. Entries keep
their bytes and their order; the recording itself stays. Files are named after what
they hold, and printed with the number of interactions.

  --by operation   one file an operation of the contract; others.* is the rest
  --by host        one file a host
  --by session     one file a session: the same session id, cookies or credential
                   (at the provider seam the same tenant and principal)
  --by size        parts of up to --max-bytes each, in order`,
		Example: `  anvil-sim cassette split all.yaml --by operation --contract ./bundle --dir tapes/
  anvil-sim cassette split session.har --by host --dir hosts/
  anvil-sim cassette split big.yaml --by size --max-bytes 1000000 --dir parts/`,
		Args: cli.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.by, "by", "", "operation, host, session or size (required)")
	f.StringVar(&o.dir, "dir", "", "folder for the files, made when it is missing (required)")
	f.StringVar(&o.contract, "contract", "", "the contract, for --by operation (default $ANVIL_CONTRACT)")
	f.IntVar(&o.maxBytes, "max-bytes", 1<<20, "size of a part, for --by size; one interaction may be larger")
	f.BoolVar(&o.force, "force", false, "replace files that exist")
	f.BoolVar(&o.dryRun, "dry-run", false, "say which files there would be and write nothing")
	_ = cmd.MarkFlagDirname("dir")
	return cmd
}

func (o *splitOptions) run(path string) error {
	ways := []string{"operation", "host", "session", "size"}
	switch {
	case !slices.Contains(ways, o.by):
		return cli.WithHint(fmt.Errorf("--by: found %q, want %s", o.by, strings.Join(ways, ", ")), cli.DidYouMean(o.by, ways))
	case o.dir == "" && !o.dryRun:
		return errors.New("--dir names the folder for the files, found none")
	case o.maxBytes < 1:
		return fmt.Errorf("--max-bytes: found %d, want at least 1", o.maxBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the recording: %w", err)
	}
	p, err := tape.Cut(path, data)
	if err != nil {
		return err
	}
	name, err := o.namer(p)
	if err != nil {
		return err
	}
	return o.write(path, p, group(p, name))
}

// namer gives each interaction the name of its file, without the ending.
func (o *splitOptions) namer(p *tape.Pieces) (func(*tape.Interaction) string, error) {
	switch o.by {
	case "operation":
		var doc *air.Document
		if f := p.Tape.Format; o.contract != "" || f != tape.Provider && f != tape.Trace {
			var err error
			if doc, err = theContract(o.streams, o.contract); err != nil {
				return nil, err
			}
		}
		ties, err := replayer.NewTies(doc)
		if err != nil {
			return nil, err
		}
		return ties.Operation, nil
	case "host":
		return hostOf, nil
	case "session":
		return newSessions().name, nil
	}
	part, size := 1, 0
	return func(it *tape.Interaction) string {
		n := p.Size(it.Position)
		if size > 0 && size+n > o.maxBytes {
			part, size = part+1, 0
		}
		size += n
		return fmt.Sprintf("part-%03d", part)
	}, nil
}

func hostOf(it *tape.Interaction) string {
	if u, err := url.Parse(it.Request.URL); err == nil && it.HTTP() {
		return u.Host
	}
	return ""
}

// sessions number what tells sessions apart, which may be a secret, by first sight.
type sessions struct{ numbers map[string]int }

func newSessions() *sessions { return &sessions{map[string]int{}} }

func (s *sessions) name(it *tape.Interaction) string {
	key := ""
	if it.Call != nil {
		if req, err := provider.DecodeRequest(it.Call.Request); err == nil {
			if req.TenantID != nil {
				key = "tenant " + *req.TenantID
			}
			if req.Principal != nil {
				key += " principal " + req.Principal.ID
			}
		}
	}
	for _, name := range []string{"Mcp-Session-Id", "X-Session-Id", "Cookie", "Authorization"} {
		if v := it.Request.Header.Get(name); v != "" && key == "" {
			key = name + ": " + v
		}
	}
	if key == "" {
		return ""
	}
	if s.numbers[key] == 0 {
		s.numbers[key] = len(s.numbers) + 1
	}
	return fmt.Sprintf("session-%03d", s.numbers[key])
}

// A splitGroup is the entries of one file.
type splitGroup struct {
	name      string
	positions []int
}

// group collects the entries of each name, in order of first sight; what has no
// name, and what cannot be replayed, are others.
func group(p *tape.Pieces, name func(*tape.Interaction) string) (list []*splitGroup) {
	names := make([]string, p.Len())
	for _, it := range p.Tape.Interactions {
		names[it.Position] = name(it)
	}
	byName := map[string]*splitGroup{}
	taken := map[string]bool{}
	for at, name := range names {
		g := byName[name]
		if g == nil {
			g = &splitGroup{name: freeName(name, taken)}
			byName[name] = g
			list = append(list, g)
		}
		g.positions = append(g.positions, at)
	}
	return list
}

// freeName makes a name one of a file that no other group has, whatever the system
// thinks of letter case.
func freeName(name string, taken map[string]bool) string {
	file := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
	file = strings.TrimLeft(file, ".-")
	const longest = 100
	if file = file[:min(len(file), longest)]; file == "" {
		file = "others"
	}
	free := file
	for n := 2; taken[strings.ToLower(free)]; n++ {
		free = file + "-" + strconv.Itoa(n)
	}
	taken[strings.ToLower(free)] = true
	return free
}

func (o *splitOptions) write(path string, p *tape.Pieces, groups []*splitGroup) error {
	ext := filepath.Ext(path)
	if ext == "" {
		ext = ".yaml"
	}
	if !o.dryRun {
		if err := os.MkdirAll(o.dir, 0o755); err != nil {
			return fmt.Errorf("--dir: %w", err)
		}
	}
	var set wholefile.Set
	defer set.Abort()
	for _, g := range groups {
		name := filepath.Join(o.dir, g.name+ext)
		if _, err := os.Lstat(name); err == nil && !o.force {
			return cli.WithHint(fmt.Errorf("%s: the file exists already; nothing is written", name), "--force replaces it, --dir names another folder")
		}
		text, err := p.Select(g.positions)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if o.dryRun {
			continue
		}
		f, err := set.Create(name)
		if err != nil {
			return err
		}
		if _, err := f.Write(text); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if err := set.Commit(); err != nil {
		return err
	}
	for _, g := range groups {
		if _, err := fmt.Fprintf(o.streams.Out, "%s: %d interaction(s)\n", filepath.Join(o.dir, g.name+ext), len(g.positions)); err != nil {
			return err
		}
	}
	return nil
}
