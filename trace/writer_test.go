package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

func ptr(s string) *string { return &s }

func TestAppendLine(t *testing.T) {
	full := Entry{
		Seq: 3, RequestID: "r3", Transport: "http", Tool: ptr("t_get"), Operation: ptr("t.get"),
		Request:    json.RawMessage(`{"method":"GET"}`),
		Normalized: json.RawMessage(`{"n":9007199254740993}`),
		Provider:   json.RawMessage(`{"ok":true}`),
		Result:     json.RawMessage(`{"ok":true,"output":1.10}`),
		Status:     200,
		Response:   json.RawMessage(`1.10`),
		Headers:    json.RawMessage(`{"X-Total":"1"}`),
		Warnings:   []string{`header "A" dropped`, "<b>"},
		Validated:  true,
	}
	tests := []struct {
		name  string
		entry Entry
		want  string
	}{
		{"everything", full, `{"schema":"anvil.simulator.trace/v1","seq":3,"requestId":"r3","transport":"http","tool":"t_get","operationId":"t.get",` +
			`"request":{"method":"GET"},"normalized":{"n":9007199254740993},"provider":{"ok":true},"result":{"ok":true,"output":1.10},` +
			`"status":200,"response":1.10,"headers":{"X-Total":"1"},"warnings":["header \"A\" dropped","<b>"],"validateValues":true}` + "\n"},
		{"nothing, over HTTP", Entry{Seq: 1, RequestID: "r1", Transport: "http", Status: 404},
			`{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","transport":"http","tool":null,"operationId":null,` +
				`"request":null,"normalized":null,"provider":null,"result":null,"status":404,"response":null}` + "\n"},
		{"nothing, in process", Entry{Seq: 1, RequestID: "r1", Transport: "in_process", Response: json.RawMessage(`1`)},
			`{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","transport":"in_process","tool":null,"operationId":null,` +
				`"request":null,"normalized":null,"provider":null,"result":null}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.entry.AppendLine(nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// entryOf takes a recorded line apart, to see that AppendLine puts it together again.
func entryOf(t *testing.T, line []byte) *Entry {
	t.Helper()
	v, err := canon.Parse(line, canon.Strict)
	if err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	raw := func(key string) json.RawMessage {
		if val := v.Get(key); val != nil && !val.Is(canon.Null) {
			return val.AppendJSON(nil)
		}
		return nil
	}
	text := func(key string) *string {
		if val := v.Get(key); val.Is(canon.String) {
			return ptr(val.Text())
		}
		return nil
	}
	e := &Entry{
		Seq: int(v.Get("seq").Float()), RequestID: v.Get("requestId").Text(), Transport: v.Get("transport").Text(),
		Tool: text("tool"), Operation: text("operationId"),
		Request: raw("request"), Normalized: raw("normalized"), Provider: raw("provider"), Result: raw("result"),
		Status: int(v.Get("status").Float()), Response: raw("response"), Headers: raw("headers"),
		Validated: v.Get("validateValues").True(),
	}
	for _, w := range v.Get("warnings").Elems() {
		e.Warnings = append(e.Warnings, w.Text())
	}
	return e
}

func TestRecordedLinesComeBack(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded traces found (%v)", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			if got := entryOf(t, line).AppendLine(nil); !bytes.Equal(got, line) {
				t.Errorf("%s:\ngot  %s\nwant %s", file, got, line)
			}
		}
	}
}

// flaky is a writer whose n-th call accepts the given number of bytes.
type flaky struct {
	bytes.Buffer
	accept []int // -1: everything
	calls  int
}

var errDisk = errors.New("no space left")

func (f *flaky) Write(p []byte) (int, error) {
	n := -1
	if f.calls < len(f.accept) {
		n = f.accept[f.calls]
	}
	f.calls++
	if n < 0 || n >= len(p) {
		return f.Buffer.Write(p)
	}
	f.Buffer.Write(p[:n])
	return n, errDisk
}

func TestWriterAfterTornLine(t *testing.T) {
	line := func(seq int) string { return string((&Entry{Seq: seq}).AppendLine(nil)) }
	tests := []struct {
		name   string
		accept []int
		want   string
	}{
		{"nothing of the second", []int{-1, 0}, line(1) + line(3)},
		{"ten bytes of the second", []int{-1, 10}, line(1) + line(2)[:10] + "\n" + line(3)},
		{"all but the line break", []int{-1, len(line(2)) - 1}, line(1) + line(2) + line(3)},
		{"torn twice", []int{10, 10, -1}, line(1)[:10] + "\n" + line(2)[:9] + "\n" + line(3)},
		{"torn, then only the line break", []int{10, 1, -1}, line(1)[:10] + "\n" + line(3)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &flaky{accept: tt.accept}
			w := NewWriter(f)
			for seq := 1; seq <= 3; seq++ {
				err := w.Write(&Entry{Seq: seq})
				whole := seq > len(tt.accept) || tt.accept[seq-1] < 0
				if whole != (err == nil) || err != nil && !errors.Is(err, errDisk) {
					t.Errorf("entry %d: error %v", seq, err)
				}
			}
			if f.calls != 3 {
				t.Errorf("%d write calls for 3 entries", f.calls)
			}
			if got := f.String(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

type liar struct{}

func (liar) Write(p []byte) (int, error) { return len(p) / 2, nil }

func TestWriterReportsShortWrites(t *testing.T) {
	if err := NewWriter(liar{}).Write(&Entry{Seq: 7}); !errors.Is(err, io.ErrShortWrite) || !strings.Contains(err.Error(), "entry 7") {
		t.Errorf("got %v", err)
	}
}

func TestWriterRefusesLineBreaks(t *testing.T) {
	var buf bytes.Buffer
	err := NewWriter(&buf).Write(&Entry{Seq: 7, Request: json.RawMessage("{\n}")})
	if err == nil || buf.Len() != 0 {
		t.Errorf("error %v, wrote %q", err, buf.String())
	}
}

func TestWriterConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	w, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 50
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for k := range each {
				body := json.RawMessage(fmt.Sprintf(`"%s"`, strings.Repeat("x", k*100)))
				if err := w.Write(&Entry{Seq: i*each + k + 1, Response: body, Status: 200}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		if !canon.Valid(line) {
			t.Fatalf("mixed line %s", line)
		}
		seq, _ := canon.Lookup(bytes.TrimSpace(line), "seq")
		seen[string(seq)] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d different entries, want %d", len(seen), writers*each)
	}
}

func TestOpenFileAppends(t *testing.T) {
	line := string((&Entry{Seq: 1}).AppendLine(nil))
	tests := []struct{ name, before, want string }{
		{"new", "", line},
		{"whole", "{}\n", "{}\n" + line},
		{"torn", `{"schema":"an`, `{"schema":"an` + "\n" + line},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "calls.jsonl")
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w, err := OpenFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Write(&Entry{Seq: 1}), w.Close()); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestOpenFileWithoutWritingLeavesFileAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(path, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "torn" {
		t.Errorf("got %q", got)
	}
}

func TestOpenFileErrors(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ name, path, want string }{
		{"no folder", filepath.Join(dir, "none", "calls.jsonl"), "does not exist; create it"},
		{"a folder", dir, "it is a folder"},
		{"a file as folder", os.DevNull + "/x", "cannot be opened"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := OpenFile(tt.path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("got %v, want %q and the path", err, tt.want)
			}
		})
	}
	if w, err := OpenFile(os.DevNull); err != nil {
		t.Errorf("a device: %v", err)
	} else if err := errors.Join(w.Write(&Entry{}), w.Close()); err != nil {
		t.Errorf("a device: %v", err)
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	w := NewWriter(io.Discard)
	e := &Entry{Seq: 1, RequestID: "r1", Transport: "http", Tool: ptr("t"), Operation: ptr("o"), Status: 200,
		Request: json.RawMessage(`{"a":1}`), Response: json.RawMessage(`{"b":"` + strings.Repeat("é", 500) + `"}`), Warnings: []string{"w"}}
	got := testing.AllocsPerRun(200, func() {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	})
	if got >= 1 && !raceEnabled { // the race detector empties pools at random
		t.Errorf("%v allocations a write, want 0", got)
	}
}

func BenchmarkWrite(b *testing.B) {
	w := NewWriter(io.Discard)
	e := &Entry{Seq: 1, RequestID: "r1", Transport: "http", Tool: ptr("t"), Operation: ptr("o"), Status: 200,
		Request: json.RawMessage(`{"a":1}`), Response: json.RawMessage(`{"b":"` + strings.Repeat("x", 1000) + `"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(e); err != nil {
			b.Fatal(err)
		}
	}
}

// gate is a writer whose first call waits until it is opened.
type gate struct {
	flaky
	entered, open chan struct{}
}

func (g *gate) Write(p []byte) (int, error) {
	if g.calls == 0 {
		close(g.entered)
		<-g.open
	}
	return g.flaky.Write(p)
}

// Lines that become ready while another is written go out in one write, and each
// call hears what became of its own line.
func TestLinesShareAWrite(t *testing.T) {
	line := func(seq int) string { return string((&Entry{Seq: seq}).AppendLine(nil)) }
	each := len(line(2))
	for _, tt := range []struct {
		accept int // bytes of the second write
		whole  int // lines of it
	}{{-1, 8}, {3*each + 10, 3}, {0, 0}, {8*each - 1, 7}} {
		g := &gate{flaky: flaky{accept: []int{-1, tt.accept}}, entered: make(chan struct{}), open: make(chan struct{})}
		w := NewWriter(g)
		errs := make([]error, 10)
		var all sync.WaitGroup
		write := func(seq int) { all.Go(func() { errs[seq] = w.Write(&Entry{Seq: seq}) }) }
		write(1)
		<-g.entered
		for seq := 2; seq <= 9; seq++ {
			write(seq)
			for queued := 0; queued != seq-1; runtime.Gosched() {
				w.mu.Lock()
				queued = len(w.queue)
				w.mu.Unlock()
			}
		}
		close(g.open)
		all.Wait()
		want := line(1)
		for seq := 2; seq <= 9; seq++ {
			want += line(seq)
			if whole := seq-2 < tt.whole; whole != (errs[seq] == nil) {
				t.Errorf("accept %d, entry %d: error %v", tt.accept, seq, errs[seq])
			}
		}
		if tt.accept >= 0 {
			want = want[:each+tt.accept]
		}
		if got := g.String(); got != want || g.calls != 2 || errs[1] != nil {
			t.Errorf("accept %d: %d writes, error %v, wrote\n%s\nwant\n%s", tt.accept, g.calls, errs[1], got, want)
		}
		if err := w.Write(&Entry{Seq: 10}); err != nil || !strings.HasSuffix(g.String(), "\n"+line(10)) {
			t.Errorf("accept %d: error %v, then wrote\n%s", tt.accept, err, g.String())
		}
	}
}

// A long line is not copied to join others: it has a write of its own.
func TestLongLinesAreWrittenAlone(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat("x", joinSize) + `"`)
	var batch []*pending
	var want string
	for seq, request := range []json.RawMessage{nil, nil, long, nil, long, long} {
		e := &Entry{Seq: seq, Request: request}
		batch = append(batch, &pending{text: e.AppendLine([]byte{'\n'}), written: make(chan error, 1)})
		want += string(e.AppendLine(nil))
	}
	f := &flaky{}
	if err := NewWriter(f).writeBatch(batch); err != nil || f.String() != want || f.calls != 5 {
		t.Errorf("%d writes, error %v, %d bytes; want 5 and %d", f.calls, err, f.Len(), len(want))
	}
}

// Goroutines that take turns on one processor never meet in a write, however many
// there are. The writer finds out, also after a time with one of them alone.
func TestLinesOfGoroutinesThatTakeTurnsShareWrites(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const alone, writers, each = 1000, 64, 100
	f := &flaky{}
	w := NewWriter(f)
	write := func(lines int) {
		for range lines {
			if err := w.Write(&Entry{}); err != nil {
				t.Error(err)
			}
		}
	}
	write(alone)
	if f.calls != alone {
		t.Errorf("%d writes of %d lines of one goroutine", f.calls, alone)
	}
	var all sync.WaitGroup
	for range writers {
		all.Go(func() { write(each) })
	}
	all.Wait()
	if got := f.calls - alone; got > writers*each/10 {
		t.Errorf("%d writes of %d lines of %d goroutines, want a tenth at most", got, writers*each, writers)
	}
}
