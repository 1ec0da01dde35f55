package main

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/pattern"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// pruneOptions are the options of cassette prune as typed.
type pruneOptions struct {
	editOptions
	contract   string
	unused     string
	operations []string
	statuses   []string
	outside    bool
	duplicates bool
	failures   bool

	ties    *replayer.Ties
	listed  map[string]map[int]bool // positions that are unused, by file
	dropped int
}

func newCassettePrune(s cli.Streams) *cobra.Command {
	o := &pruneOptions{editOptions: editOptions{streams: s}}
	cmd := &cobra.Command{
		Use:   "prune FILE...",
		Short: "Take interactions out of recordings",
		Long: `Take interactions out of recordings, each file in its place and whole or not at
all. What goes is named on stdout, with the reason; --dry-run only names it. What
stays keeps its bytes. At least one option has to say what goes:

  --unused LIST      what a replay did not use: LIST is what --write-unused wrote
  --operation ID     calls of an operation of the contract (repeatable; a*, *.list)
  --outside          calls that no operation of the contract takes
  --duplicates       exchanges that equal an earlier one in everything
  --status 5xx       answers of a status (repeatable; 404, 5xx)
  --failures         exchanges that ended without an answer`,
		Example: `  anvil-sim replay tape.yaml --write-unused unused.txt -- pytest -q
  anvil-sim cassette prune tape.yaml --unused unused.txt --dry-run
  anvil-sim cassette prune tapes/ --outside --contract ./bundle
  anvil-sim cassette prune tape.yaml --duplicates --status 5xx -o small.yaml`,
		Args: cli.Args("FILE", "[FILE...]"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&o.contract, "contract", "", "the contract (default $ANVIL_CONTRACT)")
	f.StringVar(&o.unused, "unused", "", "list of unused interactions, one a line: tape.yaml #3")
	f.StringArrayVar(&o.operations, "operation", nil, "take out calls of this operation")
	f.StringArrayVar(&o.statuses, "status", nil, "take out answers of this status: 404, 5xx")
	f.BoolVar(&o.outside, "outside", false, "take out what belongs to no operation of the contract")
	f.BoolVar(&o.duplicates, "duplicates", false, "take out exchanges that equal an earlier one")
	f.BoolVar(&o.failures, "failures", false, "take out exchanges without an answer")
	return cmd
}

func (o *pruneOptions) run(args []string) error {
	if err := o.settle(); err != nil {
		return err
	}
	o.before = o.checkListed
	if err := o.each(args, o.prune); err != nil {
		return err
	}
	done := "taken out"
	if o.dryRun {
		done = "would go"
	}
	fmt.Fprintf(o.streams.Err, "anvil-sim: %d interaction(s) %s\n", o.dropped, done)
	return nil
}

// checkListed finds what the list of unused interactions names and no recording
// has: the list is of other recordings, or of older ones.
func (o *pruneOptions) checkListed() error {
	for _, file := range slices.Sorted(maps.Keys(o.listed)) {
		for _, n := range slices.Sorted(maps.Keys(o.listed[file])) {
			return cli.WithHint(fmt.Errorf("--unused: it names %s #%d, which is none of the interactions; nothing is written", file, n),
				"name the recordings as the replay that wrote the list did")
		}
	}
	return nil
}

var statusPattern = pattern.Of(`^[1-9]([0-9]{2}|xx)$`)

// settle reads what the options name.
func (o *pruneOptions) settle() (err error) {
	if o.unused == "" && len(o.operations) == 0 && len(o.statuses) == 0 && !o.outside && !o.duplicates && !o.failures {
		return errors.New("nothing says what goes: want --unused, --operation, --outside, --duplicates, --status or --failures")
	}
	for _, s := range o.statuses {
		if !statusPattern().MatchString(s) {
			return fmt.Errorf("--status: found %q, want a status such as 404, or 5xx", s)
		}
	}
	if len(o.operations) > 0 || o.outside {
		var doc *air.Document
		if doc, err = theContract(o.streams, o.contract); err != nil {
			return err
		}
		if o.ties, err = replayer.NewTies(doc); err != nil {
			return err
		}
		for _, pattern := range o.operations {
			if err := namesOperation(pattern, doc); err != nil {
				return err
			}
		}
	}
	if o.unused != "" {
		o.listed, err = readUnused(o.unused)
	}
	return err
}

// namesOperation refuses a pattern that no operation has: it is a slip.
func namesOperation(pattern string, doc *air.Document) error {
	var ids []string
	for _, op := range doc.Operations {
		if matchesWord(pattern, op.ID) {
			return nil
		}
		ids = append(ids, op.ID)
	}
	return cli.WithHint(fmt.Errorf("--operation: found %q, which no operation of the contract is called", pattern), cli.DidYouMean(pattern, ids))
}

// matchesWord compares a word with a pattern in which * is any text.
func matchesWord(pattern, word string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(word)
}

// unusedLine is a line of what a replay lists, with or without its "unused:".
var unusedLine = pattern.Of(`^(?:.*\bunused: )?(.+?) #(\d+)(?: .*)?$`)

// readUnused reads positions by file.
func readUnused(name string) (map[string]map[int]bool, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	list := map[string]map[int]bool{}
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		m := unusedLine().FindStringSubmatch(text)
		switch {
		case text == "":
			continue
		case m == nil:
			return nil, fmt.Errorf("%s:%d: found %q, want a recording and a position: tape.yaml #3", name, n, text)
		}
		file := filepath.Clean(m[1])
		if list[file] == nil {
			list[file] = map[int]bool{}
		}
		at, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: found the position %s, want a smaller one", name, n, m[2])
		}
		list[file][at] = true
	}
	return list, lines.Err()
}

func (o *pruneOptions) prune(path string, data []byte) ([]byte, error) {
	p, err := tape.Cut(path, data)
	if err != nil {
		return nil, err
	}
	seen := map[tape.Digest]int{}
	gone := map[int]bool{}
	for _, it := range p.Tape.Interactions {
		reason := o.reason(path, it, seen)
		if reason == "" {
			continue
		}
		gone[it.Position] = true
		if _, err := fmt.Fprintf(o.streams.Out, "%s %s: %s\n", it.Place(), what(it), reason); err != nil {
			return nil, err
		}
	}
	var kept []int
	for i := range p.Len() {
		if !gone[i] {
			kept = append(kept, i)
		}
	}
	o.dropped += len(gone)
	if len(kept) == 0 && len(gone) > 0 && !o.dryRun {
		return nil, fmt.Errorf("%s: nothing of it would be left; remove the file instead", path)
	}
	if len(gone) == 0 {
		return data, nil
	}
	text, err := p.Select(kept)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return text, err
}

// reason says why an interaction goes, "" when it stays.
func (o *pruneOptions) reason(path string, it *tape.Interaction, seen map[tape.Digest]int) string {
	if list := o.listed[filepath.Clean(path)]; list[it.Position] {
		delete(list, it.Position)
		return "unused"
	}
	if o.ties != nil {
		id := o.ties.Operation(it)
		if id == "" && o.outside {
			return "of no operation"
		}
		if id != "" && slices.ContainsFunc(o.operations, func(pattern string) bool { return matchesWord(pattern, id) }) {
			return "of " + id
		}
	}
	if o.failures && it.Failure != nil {
		return "ended without an answer"
	}
	if s := strconv.Itoa(it.Response.Status); it.Failure == nil && slices.ContainsFunc(o.statuses, func(want string) bool { return want == s || want == s[:1]+"xx" }) {
		return "status " + s
	}
	if o.duplicates {
		d := it.Digest()
		if first, ok := seen[d]; ok {
			return fmt.Sprintf("equals #%d", first)
		}
		seen[d] = it.Position
	}
	return ""
}
