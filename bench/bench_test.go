package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/air"
)

// The test binary plays the parts of the program, and the simulator ("serve").
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (strings.HasPrefix(os.Args[1], "part-") || os.Args[1] == "serve" || os.Args[1] == "replay") {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		var err error
		if os.Args[1] == "serve" || os.Args[1] == "replay" {
			err = fakeServe(ctx)
		} else {
			err = dispatch(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		}
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fakeServe answers as a simulator does, in chunks.
func fakeServe(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, ticket[:20])
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, ticket[20:])
	})}
	context.AfterFunc(ctx, func() { server.Close() })
	if i := slices.Index(os.Args, "--pprof"); i > 0 {
		profiles, err := net.Listen("tcp", os.Args[i+1])
		if err != nil {
			return err
		}
		go http.Serve(profiles, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "goroutine profile: total %d\n", runtime.NumGoroutine())
		}))
	}
	fmt.Println("http://" + listener.Addr().String())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// A whole run against a simulator that does nothing.
func TestRun(t *testing.T) {
	args := []string{"--short", "--secs", "0.02", "--conns", "1,3", "--anvil-sim", self(t)}
	t.Setenv("GORACE", "atexit_sleep_ms=0") // each part would wait a second at its end
	var out bytes.Buffer
	if err := run(t.Context(), append(args, "--json"), &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	var rep report
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	want := 10
	if _, err := exec.LookPath("python3"); err == nil {
		want = 12
	}
	if len(rep.Rows) != want || rep.Rounds != 1 || rep.CPUs < 1 {
		t.Fatalf("%d rows, %d rounds, %d CPUs; want %d rows, 1 round", len(rep.Rows), rep.Rounds, rep.CPUs, want)
	}
	for _, r := range rep.Rows {
		if r.Rate <= 0 || r.OfMux <= 0 || r.P50 <= 0 || r.P99 < r.P50 {
			t.Errorf("an impossible row: %+v", r)
		}
		if piped := strings.HasPrefix(r.Target, "stdio"); piped != (r.OfPipe > 0) {
			t.Errorf("%s has the pipe ratio %v", r.Target, r.OfPipe)
		}
	}
	out.Reset()
	if err := run(t.Context(), args, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "built-in store") || !strings.Contains(out.String(), "of net/http") {
		t.Errorf("table:\n%s", out.String())
	}
}

func TestRunWithoutServer(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), []string{"--anvil-sim", "/bin/false"}, &out, os.Stderr)
	if err == nil || !strings.Contains(err.Error(), "want a URL") {
		t.Errorf("error %v", err)
	}
}

func TestParseSettings(t *testing.T) {
	s, err := parseSettings([]string{"--short"}, io.Discard)
	if err != nil || s.Rounds != 1 || s.For != 200*time.Millisecond || fmt.Sprint(s.Conns) != "[1 16]" {
		t.Errorf("--short gives %+v, %v", s, err)
	}
	s, err = parseSettings([]string{"--conns", "2", "--short", "--rounds", "3"}, io.Discard)
	if err != nil || s.Rounds != 3 || fmt.Sprint(s.Conns) != "[2]" {
		t.Errorf("flags that are given lose against --short: %+v, %v", s, err)
	}
	for _, bad := range [][]string{{"--conns", "1,x"}, {"--conns", "0"}, {"--rounds", "0"}, {"--secs", "-1"}, {"more"}, {"--none"}} {
		if _, err := parseSettings(bad, io.Discard); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestLoad(t *testing.T) {
	big := strings.Repeat("x", 100_000)
	mux := http.NewServeMux()
	mux.HandleFunc("/short", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	mux.HandleFunc("/chunked", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, big) })
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, failing := range map[string]bool{"/short": false, "/chunked": false, "/bad": true} {
		r, err := load(t.Context(), server.URL+path, nil, 3, 30*time.Millisecond, "")
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if r.Requests == 0 || r.Seconds <= 0 || r.P50 <= 0 || (r.Failed == r.Requests) != failing {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if r, err := load(t.Context(), server.URL+"/short", []byte("{}"), 3, time.Nanosecond, "/bad"); err != nil || r.Requests < 3 {
		t.Errorf("a while that is over at once: %+v, %v; want an answer on each connection", r, err)
	}
	if _, err := load(t.Context(), "http://127.0.0.1:1/", nil, 1, time.Millisecond, ""); err == nil {
		t.Error("nobody listens, and that is no error")
	}
}

func TestPipe(t *testing.T) {
	for _, under := range []int{1, 16} {
		r, err := pipe(t.Context(), []string{self(t), "part-provider"}, under, 20*time.Millisecond)
		if err != nil || r.Requests < under || r.P50 <= 0 {
			t.Errorf("%d under way: %+v, %v", under, r, err)
		}
	}
}

func TestProvider(t *testing.T) {
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
{"jsonrpc":"2.0","id": 22,"method":"invoke","params":{"id":7}}
{"jsonrpc":"2.0","id":3,"method":"shutdown","params":null}
`
	want := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":22,"result":{"ok":true,"result":` + ticket + `}}
{"jsonrpc":"2.0","id":3,"result":null}
`
	var out bytes.Buffer
	if err := providerPart(strings.NewReader(in), &out); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestFixtures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fixtures.db")
	if err := writeFixtures(file); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow("SELECT count(*) FROM ticket WHERE id = 'T-1' OR id = 'T-1000'").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d tickets, %v", n, err)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.in); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	r := &row{Target: "x", Conns: 1}
	for _, n := range []int{100, 300, 200} {
		r.add(result{Requests: n, Seconds: 1}, result{Requests: 400, Seconds: 1}, result{Requests: 1000, Seconds: 1})
	}
	rep := (&report{Rows: []*row{r}, Notes: []string{"a note"}}).finish()
	if r.Rate != 200 || r.OfMux != 0.5 || r.OfPipe != 0.2 {
		t.Errorf("medians %+v", r)
	}
	var out bytes.Buffer
	if err := rep.table(&out); err != nil || !strings.Contains(out.String(), "a note") || !strings.Contains(out.String(), "0.50") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestStart(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	var out bytes.Buffer
	args := []string{"start", "--short", "--anvil-sim", self(t), "--contract", "any.yaml=/path"}
	if err := dispatch(t.Context(), append(args, "--json"), nil, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	var rep figures
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	units := map[string]int{}
	for _, r := range rep.Rows {
		units[r.Unit]++
		if r.Value <= 0 || r.LimitName != "" && r.Ratio <= 0 {
			t.Errorf("an impossible figure: %+v", r)
		}
	}
	if units["ms"] != 4 || units["MB"] != 0 && units["MB"] != 3 {
		t.Errorf("figures by unit: %v, want three starts and the slow answer in ms", units)
	}
	for _, bad := range [][]string{{"--contract", "any.yaml"}, {"--rounds", "0"}, {"more"}, {"--none"}} {
		if err := dispatch(t.Context(), append([]string{"start"}, bad...), nil, io.Discard, nil); err == nil {
			t.Errorf("start %q is taken", bad)
		}
	}
}

func TestAllRefuses(t *testing.T) {
	err := dispatch(t.Context(), []string{"all", "--rounds", "1"}, nil, io.Discard, os.Stderr)
	if err == nil || !strings.Contains(err.Error(), `found "--rounds", want --short or --json`) {
		t.Errorf("error %v", err)
	}
}

func TestFigures(t *testing.T) {
	f := newFigures("some", 3)
	for _, v := range []float64{10, 30, 20} {
		f.add("alone", "MB", v)
		f.addRatio("beside", "ms", v, "the limit", 2*v)
	}
	f.Notes = append(f.Notes, "a note")
	if a, b := f.Rows[0], f.Rows[1]; a.Value != 20 || b.Value != 20 || b.Limit != 40 || b.Ratio != 0.5 {
		t.Errorf("medians %+v, %+v", a, b)
	}
	var out bytes.Buffer
	if err := f.print(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"alone", "20.0 MB", "40.0 ms, the limit", "0.50", "a note"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// The contracts of several sizes are contracts.
func TestRepeatContract(t *testing.T) {
	doc, err := air.Parse("air.yaml", repeatContract(3))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Operations) != 6 {
		t.Errorf("%d operations, want 6", len(doc.Operations))
	}
}

// A slow answer holds nobody else up, and comes.
func TestSlowAnswer(t *testing.T) {
	in := `{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"path":{"id":"SLOW"}}}
{"jsonrpc":"2.0","id":2,"method":"invoke","params":{"path":{"id":"T-1"}}}
`
	r, w := io.Pipe()
	out, outW := io.Pipe()
	go func() { _ = providerPart(r, outW) }()
	go func() { _, _ = io.WriteString(w, in) }()
	lines := bufio.NewScanner(out)
	for _, want := range []string{`"id":2,`, `"id":1,`} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("%s, want %s", lines.Text(), want)
		}
	}
	w.Close()
}
