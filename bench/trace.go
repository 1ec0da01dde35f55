package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// traceSettings are the options of "bench trace".
type traceSettings struct {
	Binary string   // anvil-trace; "" builds it
	Sizes  []int    // of the baseline, in bytes
	Rounds int      //
	Only   []string // names of cases, or parts of them; none is all
	JSON   bool     //
	Dir    string   // for the traces; they are removed at the end
}

func parseTraceSettings(args []string, stderr io.Writer) (s traceSettings, err error) {
	flags := newFlags("bench trace", stderr)
	flags.StringVar(&s.Binary, "anvil-trace", "", "the binary to measure (default: build ./cmd/anvil-trace)")
	sizes := flags.String("size", "100MB", "sizes of the traces, a call takes about 1 KB: 10MB,100MB,1GB")
	flags.IntVar(&s.Rounds, "rounds", 3, "rounds; medians are taken over them")
	only := flags.String("only", "", "cases to run, parts of their names separated by commas")
	flags.BoolVar(&s.JSON, "json", false, "print JSON instead of a table")
	flags.StringVar(&s.Dir, "dir", "", "folder for the traces, three times their size (default: the system's for temporary files)")
	if _, err := parseShort(flags, args, map[string]string{"size": "2MB", "rounds": "1"}); err != nil {
		return s, err
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := parseSize(text)
		if err != nil {
			return s, fmt.Errorf("--size: %w", err)
		}
		s.Sizes = append(s.Sizes, n)
	}
	if *only != "" {
		s.Only = strings.Split(*only, ",")
	}
	if s.Rounds < 1 {
		return s, fmt.Errorf("--rounds wants more than 0, got %d", s.Rounds)
	}
	return s, nil
}

// parseSize reads a number of bytes such as 2MB or 1GB, in powers of ten.
func parseSize(text string) (int, error) {
	for unit, factor := range map[string]int{"KB": 1e3, "MB": 1e6, "GB": 1e9} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.Atoi(number); err == nil && n > 0 && n <= 100e9/factor {
				return n * factor, nil
			}
		}
	}
	return 0, fmt.Errorf("found %q, want a size such as 2MB, 100MB or 1GB, up to 100GB", text)
}

// A traceCase is one question, asked of anvil-trace and of others in turn.
type traceCase struct {
	name    string
	other   *variant                         // the second trace; nil for one trace
	product []string                         // arguments of anvil-trace; A and B stand for the traces
	codes   []int                            // exit codes of the product; nil is 0
	peers   func(b *traceBench) []traceRival // the first one is what the product is compared with
	target  string                           // what is to be reached
}

// A traceRival is another program on the same files.
type traceRival struct {
	name  string
	args  []string
	codes []int
	once  bool // slow: measured in the first round only
}

// A traceRow is what one case took at one size.
type traceRow struct {
	Case    string           `json:"case"`
	MB      float64          `json:"mb"` // of one trace
	Calls   int              `json:"calls"`
	Product usage            `json:"anvil_trace"`
	Rate    float64          `json:"mb_per_second"` // of one trace
	Rivals  map[string]usage `json:"others,omitempty"`
	// Ratios are the product's time by each other's, medians over the rounds.
	Ratios map[string]float64 `json:"ratios,omitempty"`
	// CPURatios are the same of the processor seconds, which move less on a
	// machine that others use.
	CPURatios map[string]float64 `json:"cpu_ratios,omitempty"`
	Target    string             `json:"target"`

	against []string // names of Rivals in order
}

type traceReport struct {
	Go       string      `json:"go"`
	Platform string      `json:"platform"`
	CPUs     int         `json:"cpus"`
	Rounds   int         `json:"rounds"`
	Rows     []*traceRow `json:"results"`
	Notes    []string    `json:"notes,omitempty"`
}

type traceBench struct {
	traceSettings
	self, dir string
	a, b      string // the traces
	equal     string // equal to a
	rules     string // 20 rules
	missing   map[string]bool
	stderr    io.Writer // how far it is
}

// runTrace measures anvil-trace beside cmp, diff, jq and a bare scan of lines.
func runTrace(ctx context.Context, args []string, out io.Writer, stderr *os.File) (err error) {
	s, err := parseTraceSettings(args, stderr)
	if err != nil {
		return err
	}
	b := &traceBench{traceSettings: s, missing: map[string]bool{}, stderr: stderr}
	if b.dir, err = os.MkdirTemp(s.Dir, "anvil-bench-trace"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.prepare(ctx, stderr); err != nil {
		return err
	}
	rep := &traceReport{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Rounds: s.Rounds}
	for _, size := range s.Sizes {
		if err := b.measure(ctx, size, rep); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(mapKeys(b.missing)) {
		rep.Notes = append(rep.Notes, "no "+name+" on the PATH: it is left out")
	}
	if s.JSON {
		return writeJSON(out, rep)
	}
	return rep.table(out)
}

func mapKeys(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (b *traceBench) prepare(ctx context.Context, stderr *os.File) (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	file := func(name string) string { return filepath.Join(b.dir, name) }
	b.a, b.b, b.equal, b.rules = file("a.jsonl"), file("b.jsonl"), file("equal.jsonl"), file("rules.yaml")
	if b.Binary, err = binary(ctx, b.Binary, "anvil-trace", b.dir, stderr); err != nil {
		return err
	}
	return os.WriteFile(b.rules, []byte(twentyRules), 0o644)
}

// measure runs all cases on traces of one size.
func (b *traceBench) measure(ctx context.Context, size int, rep *traceReport) error {
	calls := size / callBytes
	for _, file := range []string{b.a, b.equal} {
		if err := writeTrace(file, calls, variant{renumber: true}); err != nil {
			return err
		}
	}
	info, err := os.Stat(b.a)
	if err != nil {
		return err
	}
	for _, c := range traceCases(calls) {
		if len(b.Only) > 0 && !slices.ContainsFunc(b.Only, func(part string) bool { return strings.Contains(c.name, part) }) {
			continue
		}
		if c.other != nil {
			if err := writeTrace(b.b, calls, *c.other); err != nil {
				return err
			}
		}
		row := &traceRow{Case: c.name, MB: float64(info.Size()) / 1e6, Calls: calls, Target: c.target}
		if err := b.runCase(ctx, &c, row); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		rep.Rows = append(rep.Rows, row)
		fmt.Fprintf(b.stderr, "measured: %s, %.0f MB: %.3f s, peak %.0f MB\n", row.Case, row.MB, row.Product.Seconds, row.Product.PeakMB)
	}
	return nil
}

// runCase lets the product and the others take turns.
func (b *traceBench) runCase(ctx context.Context, c *traceCase, row *traceRow) error {
	product := []string{b.Binary}
	for _, arg := range c.product {
		product = append(product, strings.NewReplacer("FILE_A", b.a, "FILE_B", b.b, "FILE_EQUAL", b.equal, "RULES", b.rules).Replace(arg))
	}
	var runs []usage
	rivals, ratios, cpus := map[string][]usage{}, map[string][]float64{}, map[string][]float64{}
	for round := range b.Rounds {
		u, err := timed(ctx, io.Discard, append(c.codes, 0), product...)
		if err != nil {
			return err
		}
		runs = append(runs, u)
		for _, r := range c.peers(b) {
			if r.once && round > 0 {
				continue
			}
			if _, err := exec.LookPath(r.args[0]); err != nil {
				b.missing[r.args[0]] = true
				continue
			}
			other, err := timed(ctx, io.Discard, append(r.codes, 0), r.args...)
			if err != nil {
				return err
			}
			if rivals[r.name] == nil {
				row.against = append(row.against, r.name)
			}
			rivals[r.name] = append(rivals[r.name], other)
			ratios[r.name] = append(ratios[r.name], u.Seconds/other.Seconds)
			cpus[r.name] = append(cpus[r.name], u.CPU/max(other.CPU, 0.001))
		}
	}
	row.Product = middle(runs)
	row.Rate = row.MB / row.Product.Seconds
	row.Rivals, row.Ratios, row.CPURatios = map[string]usage{}, map[string]float64{}, map[string]float64{}
	for name, list := range rivals {
		row.Rivals[name], row.Ratios[name], row.CPURatios[name] = middle(list), median(ratios[name]), median(cpus[name])
	}
	return nil
}

// middle is the median of each measure; of the peak it is the highest.
func middle(list []usage) usage {
	var secs, cpus []float64
	u := usage{}
	for _, one := range list {
		secs, cpus, u.PeakMB = append(secs, one.Seconds), append(cpus, one.CPU), max(u.PeakMB, one.PeakMB)
	}
	u.Seconds, u.CPU = median(secs), median(cpus)
	return u
}

func (rep *traceReport) table(out io.Writer) error {
	fmt.Fprintf(out, "%s %s, %d CPUs; %d rounds; medians, of memory the peak; the ratios are anvil-trace's time and CPU seconds by the other's\n\n", rep.Go, rep.Platform, rep.CPUs, rep.Rounds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tMB\ts\tMB/s\tCPU s\tpeak MB\tbeside\ts\tpeak MB\tratio\tCPU\ttarget\t")
	for _, r := range rep.Rows {
		lead := fmt.Sprintf("%s\t%.0f\t%.3f\t%.0f\t%.2f\t%.0f", r.Case, r.MB, r.Product.Seconds, r.Rate, r.Product.CPU, r.Product.PeakMB)
		target := r.Target
		for _, name := range r.against {
			o := r.Rivals[name]
			fmt.Fprintf(w, "%s\t%s\t%.3f\t%.0f\t%.2f\t%.2f\t%s\t\n", lead, name, o.Seconds, o.PeakMB, r.Ratios[name], r.CPURatios[name], target)
			lead, target = "\t\t\t\t\t", ""
		}
		if len(r.against) == 0 {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\t-\t%s\t\n", lead, target)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, n := range rep.Notes {
		fmt.Fprintln(out, "\n"+n)
	}
	return nil
}

// linesPart counts the lines of a file: a bare scan, which is what reading a
// trace cannot be faster than.
func linesPart(files []string, out io.Writer) error {
	for _, name := range files {
		n, err := countLines(name)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, n)
	}
	return nil
}

func countLines(name string) (n int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReaderSize(f, 256<<10)
	for {
		_, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n++
	}
}
