package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dnaeon/go-vcr/v2/cassette"
)

// A tapeReport is what loading, indexing and asking a go-vcr tape costs, beside
// what the YAML library and go-vcr need for the same bytes in the same run.
type tapeReport struct {
	Bytes        int64         `json:"bytes"`
	Interactions int           `json:"interactions"`
	Rounds       int           `json:"rounds"`
	Loads        []*tapeLoad   `json:"loads"`
	Lookups      []*tapeLookup `json:"lookups"`
	Body         *tapeLoad     `json:"body"` // one large body: loaded, indexed and replayed over HTTP
}

// A tapeLoad is one way of loading; medians over the rounds. Each load is a
// process of its own, so that its peak is its own.
type tapeLoad struct {
	What    string  `json:"what"`
	Seconds float64 `json:"seconds"`
	OfGoVCR float64 `json:"of_go_vcr,omitempty"` // median of the ratios within a round
	CPU     float64 `json:"cpu_seconds"`
	CPUOf   float64 `json:"cpu_of_go_vcr,omitempty"`
	PeakMB  float64 `json:"peak_mb"`
	OfFile  float64 `json:"peak_of_file"` // peak memory by the size of the file

	seconds, ratios, cpus, cpuRatios, peaks []float64
}

// A tapeLookup is what one recorded answer costs in a tape of so many.
type tapeLookup struct {
	Interactions int     `json:"interactions"`
	Micros       float64 `json:"micros"`
	CPU          float64 `json:"cpu_micros"`

	micros, cpus []float64
}

// tapeSettings are the flags of "bench tape".
type tapeSettings struct {
	rounds int
	bytes  int64 // of the tape
	calls  int   // on the tape
	sizes  []int // of the tapes that are asked
	body   int64 // bytes of the one large body
	json   bool
}

func parseTape(args []string, stderr io.Writer) (tapeSettings, error) {
	s := tapeSettings{rounds: 5, bytes: 20 << 20, calls: 10_000, sizes: []int{1_000, 10_000, 100_000}, body: 100 << 20}
	flags := newFlags("bench tape", stderr)
	flags.IntVar(&s.rounds, "rounds", s.rounds, "rounds; medians are taken over them")
	flags.BoolVar(&s.json, "json", false, "print JSON instead of tables")
	short, err := parseShort(flags, args, map[string]string{"rounds": "1"})
	if err != nil {
		return s, err
	}
	if short {
		s = tapeSettings{rounds: s.rounds, bytes: 1 << 20, calls: 500, sizes: []int{100, 1_000, 10_000}, body: 4 << 20, json: s.json}
	}
	if s.rounds < 1 {
		return s, fmt.Errorf("--rounds wants more than 0, got %d", s.rounds)
	}
	return s, nil
}

// tapeBench is "bench tape".
func tapeBench(ctx context.Context, args []string, out io.Writer, stderr *os.File) error {
	s, err := parseTape(args, stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "anvil-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rep, err := measureTape(ctx, s, dir, stderr)
	if err != nil {
		return err
	}
	if s.json {
		return writeJSON(out, rep)
	}
	return rep.table(out)
}

func measureTape(ctx context.Context, s tapeSettings, dir string, stderr *os.File) (*tapeReport, error) {
	file, large := filepath.Join(dir, "tape.yaml"), filepath.Join(dir, "body.yaml")
	if err := errors.Join(writeTape(file, s.calls, s.bytes), writeBody(large, s.body)); err != nil {
		return nil, err
	}
	rep := &tapeReport{Interactions: s.calls, Rounds: s.rounds, Body: &tapeLoad{What: "anvil, replayed over HTTP"}}
	for _, what := range []string{"go-vcr", "yaml.v3", "anvil"} {
		rep.Loads = append(rep.Loads, &tapeLoad{What: what})
	}
	for _, n := range s.sizes {
		rep.Lookups = append(rep.Lookups, &tapeLookup{Interactions: n})
	}
	var err error
	if rep.Bytes, err = sizeOf(file); err != nil {
		return nil, err
	}
	bodySize, err := sizeOf(large)
	if err != nil {
		return nil, err
	}
	for range s.rounds {
		if err := rep.round(ctx, stderr, file, large); err != nil {
			return nil, err
		}
	}
	for _, l := range rep.Loads {
		l.finish(rep.Bytes)
	}
	rep.Body.finish(bodySize)
	for _, l := range rep.Lookups {
		l.Micros, l.CPU = median(l.micros), median(l.cpus)
	}
	return rep, nil
}

// round measures everything once, in turns.
func (rep *tapeReport) round(ctx context.Context, stderr *os.File, file, large string) error {
	for _, l := range rep.Loads {
		if err := l.measure(ctx, stderr, l.What, file, rep.Loads[0]); err != nil {
			return err
		}
	}
	if err := rep.Body.measure(ctx, stderr, "replay", large, nil); err != nil {
		return err
	}
	for _, l := range rep.Lookups {
		p, err := tapePart(ctx, stderr, "lookup", strconv.Itoa(l.Interactions))
		if err != nil {
			return err
		}
		l.micros, l.cpus = append(l.micros, p.Seconds*1e6), append(l.cpus, p.CPU*1e6)
	}
	return nil
}

func (l *tapeLoad) measure(ctx context.Context, stderr *os.File, what, file string, limit *tapeLoad) error {
	p, err := tapePart(ctx, stderr, what, file)
	if err != nil {
		return err
	}
	l.seconds, l.cpus, l.peaks = append(l.seconds, p.Seconds), append(l.cpus, p.CPU), append(l.peaks, p.PeakMB)
	if limit != nil {
		l.ratios = append(l.ratios, p.Seconds/limit.seconds[len(limit.seconds)-1])
		l.cpuRatios = append(l.cpuRatios, p.CPU/limit.cpus[len(limit.cpus)-1])
	}
	return nil
}

func (l *tapeLoad) finish(size int64) {
	l.Seconds, l.OfGoVCR, l.PeakMB = median(l.seconds), median(l.ratios), median(l.peaks)
	l.CPU, l.CPUOf = median(l.cpus), median(l.cpuRatios)
	l.OfFile = l.PeakMB * (1 << 20) / float64(size)
}

// tapePart runs one measurement in a process of its own.
func tapePart(ctx context.Context, stderr *os.File, what, arg string) (p tapeMeasure, err error) {
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	cmd := exec.CommandContext(ctx, self, "part-tape", what, arg)
	cmd.Stderr = stderr
	text, err := cmd.Output()
	if err != nil {
		return p, fmt.Errorf("%s of %s: %w", what, arg, err)
	}
	return p, json.Unmarshal(text, &p)
}

func (rep *tapeReport) table(out io.Writer) error {
	fmt.Fprintf(out, "a go-vcr tape of %.1f MB, %d interactions; %d rounds\n\n", float64(rep.Bytes)/(1<<20), rep.Interactions, rep.Rounds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "load\tseconds\tof go-vcr\tCPU seconds\tof go-vcr\tpeak MB\tpeak of file\t")
	for _, l := range rep.Loads {
		fmt.Fprintf(w, "%s\t%.3f\t%.2f\t%.3f\t%.2f\t%.0f\t%.1f\t\n", l.What, l.Seconds, l.OfGoVCR, l.CPU, l.CPUOf, l.PeakMB, l.OfFile)
	}
	fmt.Fprintf(w, "one large body, %s\t%.3f\t-\t%.3f\t-\t%.0f\t%.1f\t\n", rep.Body.What, rep.Body.Seconds, rep.Body.CPU, rep.Body.PeakMB, rep.Body.OfFile)
	fmt.Fprintln(w, "\t\t\t\t\t\t\nlook-up in\tus\tCPU us\t\t\t\t\t")
	for _, l := range rep.Lookups {
		fmt.Fprintf(w, "%d\t%.1f\t%.1f\t\t\t\t\t\n", l.Interactions, l.Micros, l.CPU)
	}
	return w.Flush()
}

// writeTape saves a tape as go-vcr itself does. Bodies are JSON: on one line, on
// many lines, or with quotes and accents in them.
func writeTape(file string, n int, size int64) error {
	c := cassette.New(strings.TrimSuffix(file, ".yaml"))
	each := max(1, int(size)/n-500)
	for i := range n {
		it := &cassette.Interaction{Request: cassette.Request{URL: tapeURL(i), Method: "PUT", Body: fmt.Sprintf(`{"n":%d,"title":"it's a ticket"}`, i)}}
		it.Request.Headers = http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}, "User-Agent": {"bench/1.0"}}
		it.Response = cassette.Response{Body: tapeBody(i, each), Status: "200 OK", Code: 200, Duration: 12_345_678}
		it.Response.Headers = http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Date": {"Mon, 23 Jun 2025 19:41:18 GMT"}, "Etag": {fmt.Sprintf(`W/"%x"`, i)}}
		c.AddInteraction(it)
	}
	return c.Save()
}

func tapeURL(i int) string {
	return fmt.Sprintf("https://api.example.com/v1/tickets/%d?expand=all&page=%d", i, i%7)
}

func tapeBody(i, size int) string {
	between := []string{",", ",\n  ", ", "}[i%3]
	var b strings.Builder
	fmt.Fprintf(&b, `{"id":%d,"lines":[`, i)
	for k := 0; b.Len() < size; k++ {
		if k > 0 {
			b.WriteString(between)
		}
		fmt.Fprintf(&b, `{"at":%d,"text":"the quick brown fox's %d jumps","who":"Zoë \"Z\" Müller"}`, k, i*k)
	}
	b.WriteString("]}")
	if i%3 == 1 {
		b.WriteByte('\n')
	}
	return b.String()
}

// writeBody saves a tape with one binary body, as a recording holds it.
func writeBody(file string, size int64) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.WriteString(f, "---\nversion: 1\ninteractions:\n- request:\n    body: \"\"\n    form: {}\n    headers: {}\n    url: https://api.example.com/file\n    method: GET\n  response:\n    body: !!binary |\n"); err != nil {
		return err
	}
	line := []byte("      " + strings.Repeat("AAEC/wMF", 9) + "\n") // 54 bytes
	for left := size; left > 0; left -= 54 {
		if _, err := f.Write(line); err != nil {
			return err
		}
	}
	_, err = io.WriteString(f, "    headers:\n      Content-Type:\n      - application/octet-stream\n    status: 200 OK\n    code: 200\n    duration: 1s\n")
	return err
}

func sizeOf(file string) (int64, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
