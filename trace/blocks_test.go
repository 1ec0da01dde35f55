package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// plainScan finds runs line by line, in one goroutine.
func plainScan(src *source) ([]run, error) {
	lines := newLineReader(src, 0, src.size, 0)
	var runs []run
	seen, last := map[int64]bool{}, int64(-1)
	for {
		ln, err := lines.read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		h, bad := readHead(src.name, ln)
		if bad == nil && !ln.ended {
			bad = checkJSON(src.name, ln)
		}
		if len(runs) == 0 || bad == nil && seen[h.seq] {
			runs = append(runs, run{offset: ln.offset, line: ln.number - 1, ascending: true})
			seen, last = map[int64]bool{}, -1
		}
		r := &runs[len(runs)-1]
		r.end = lines.next - int64(lines.to-lines.from)
		if bad != nil {
			if r.bad == nil {
				r.bad = bad
			}
			continue
		}
		r.calls++
		r.ascending = r.ascending && h.seq > last
		last, seen[h.seq] = h.seq, true
	}
	if len(runs) == 0 {
		return nil, &InputError{Name: src.name, Msg: "the trace is empty"}
	}
	return runs, nil
}

func describeRuns(runs []run, err error) string {
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, "%d-%d after %d, %d calls, %v, %v\n", r.offset, r.end, r.line, r.calls, r.ascending, r.bad)
	}
	return fmt.Sprint(b.String(), err)
}

// describeLines lists the lines that a reader gives.
func describeLines(read func() (line, error)) string {
	var b strings.Builder
	for {
		ln, err := read()
		if err != nil {
			return fmt.Sprint(b.String(), err)
		}
		fmt.Fprintf(&b, "%d@%d %v %q\n", ln.number, ln.offset, ln.ended, ln.text)
	}
}

// FuzzBlocks: a trace in blocks of any size has the runs, the errors and the lines
// that it has line by line.
func FuzzBlocks(f *testing.F) {
	for i, data := range seedTraces(f) {
		if len(data) < 64<<10 {
			f.Add(data, uint16(i*97))
		}
	}
	two := gets("/1", "/2")
	for _, s := range []string{"", "\n", "\n\n \n", "\xEF\xBB\xBF" + two, "\xFF\xFEx", two + two[:40], two + two, two + "x\n" + two, strings.ReplaceAll(two, "\n", "\r\n\n"),
		call(5, "GET", "/", "1") + call(3, "GET", "/", "1") + call(5000, "GET", "/", "1") + call(3, "GET", "/", "1") + "\n"} {
		for _, size := range []uint16{1, 7, 300, 5000} {
			f.Add([]byte(s), size)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		src := &source{name: "x", r: bytes.NewReader(data), size: int64(len(data))}
		by := sizes{int64(size%9000) + 1, MaxLine}
		if len(data)/int(by.block) > 4000 {
			return
		}
		want, wantErr := plainScan(src)
		s, err := scanRuns(context.Background(), src, by)
		var got []run
		if s != nil {
			got = s.runs
		}
		if got, want := describeRuns(got, err), describeRuns(want, wantErr); got != want {
			t.Fatalf("in blocks of %d:\n%s\nline by line:\n%s", by.block, got, want)
		}
		if err != nil {
			return
		}
		for i := range got {
			plain := newLineReader(src, got[i].offset, got[i].end, got[i].line)
			blocks, r := s.of(got[i:i+1]), &blockReader{src: src}
			var lines textLines
			read := func() (ln line, err error) {
				for ln, err = lines.read(); err == io.EOF && len(blocks) > 0; ln, err = lines.read() {
					if lines, err = r.read(blocks[0]); err != nil {
						return line{}, err
					}
					blocks = blocks[1:]
				}
				return ln, err
			}
			if got, want := describeLines(read), describeLines(plain.read); got != want {
				t.Fatalf("run %d in blocks of %d:\n%s\nline by line:\n%s", i+1, by.block, got, want)
			}
		}
	})
}

// A line is as long as the limit, or too long, wherever blocks are cut.
func TestLongLinesInBlocks(t *testing.T) {
	good := call(1, "GET", "/", "1")
	long := call(2, "GET", "/", `"`+strings.Repeat("x", 20000)+`"`)
	data := good + "\n" + long + good
	src := &source{name: "x", r: strings.NewReader(data), size: int64(len(data))}
	for _, block := range []int64{50, 1000, 7000} {
		for _, limit := range []int{len(long) - 2, len(long) - 1} {
			_, err := scanRuns(t.Context(), src, sizes{block, limit})
			want := ""
			if limit < len(long)-1 {
				want = fmt.Sprintf("x: line 3 (byte %d): the line is longer than %d bytes", len(good)+1, limit)
			}
			if fmt.Sprint(err) != want && (err != nil || want != "") {
				t.Errorf("blocks of %d, lines of %d: %v, want %q", block, limit, err, want)
			}
		}
	}
}

// plainSelect is Select line by line, in one goroutine.
func plainSelect(in Input, f *Filter, invert bool, do func(Line, *View) error) error {
	r, _, err := OpenRun(context.Background(), in, "all")
	if err != nil {
		return err
	}
	defer r.Close()
	var v View
	for {
		ln, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		v.Reset(ln.Text)
		ok, err := f.Match(&v)
		if err == nil && v.Bad() {
			err = ln.Check()
		}
		if err != nil {
			return err
		}
		if ok == invert {
			continue
		}
		v.Reset(ln.Text)
		if err := do(ln, &v); err != nil {
			return err
		}
	}
}

// FuzzSelect: a selection by workers is one line by line, with its errors.
func FuzzSelect(f *testing.F) {
	two := gets("/1", "/2")
	for _, s := range []string{two, strings.Replace(two, `"transport":`, `"transport"`, 1), strings.Replace(two, `"status":200`, `"st\u0061tus":200`, 1),
		strings.Replace(two, `"status":200`, `"status":404,"status":200`, 1), strings.Replace(two, `"status":200`, ` "status" : 200 `, 1),
		strings.Replace(two, `"result":{`, `"result":{{`, 1), strings.Replace(two, `"response":`, `"response":}`, 1), two + "\xEF", strings.Replace(two, `"kind"`, `"kind\\"`, 1)} {
		f.Add(s, "200", "read", false)
		f.Add(s, "4xx", "list", true)
		f.Add(s, "", "read", false)
	}
	f.Fuzz(func(t *testing.T, data, status, kind string, invert bool) {
		sel := Selector{Tool: []string{"t_*"}}
		if status != "" {
			sel.Status = []string{status}
		}
		if kind != "" {
			sel.Kind = []string{kind}
		}
		filter, err := sel.Compile()
		if err != nil {
			return
		}
		show := func(run func(do func(Line, *View) error) error) string {
			var b strings.Builder
			err := run(func(ln Line, v *View) error {
				fmt.Fprintf(&b, "%d %d %d@%d %q %s\n", ln.Run, ln.Seq, ln.Number, ln.Offset, ln.Text, v.Describe())
				return nil
			})
			return fmt.Sprint(b.String(), err)
		}
		want := show(func(do func(Line, *View) error) error { return plainSelect(text("x", data), filter, invert, do) })
		got := show(func(do func(Line, *View) error) error {
			_, err := Select(context.Background(), text("x", data), "all", filter, invert, do)
			return err
		})
		if got != want {
			t.Errorf("by workers:\n%s\nline by line:\n%s", got, want)
		}
	})
}

// What was found out ahead comes in order, at any number of workers, and nothing is
// known of a line that is no JSON.
func TestEachAhead(t *testing.T) {
	var in strings.Builder
	for i := range 2500 {
		one := call(i%1200+1, "GET", fmt.Sprint("/", i), `"`+strings.Repeat("x", 400)+`"`)
		if i%500 == 499 {
			one = strings.Replace(one, `"tool":`, `"tool" :`, 1)
		}
		in.WriteString(one)
	}
	for _, procs := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(procs)
		n := 0
		side, err := EachAhead(t.Context(), text("x", in.String()), "all",
			func() func(Line, *View, *string) bool {
				return func(ln Line, v *View, path *string) bool {
					*path = v.Path()
					return ln.Number%2 == 0
				}
			},
			func(ln Line, v *View, path *string) error {
				n += 2
				if ln.Number != n || *path != fmt.Sprint("/", n-1) || v.Path() != *path || ln.Run != (n-1)/1200+1 || ln.Seq != int64((n-1)%1200+1) {
					t.Fatalf("%d procs: line %d of run %d, %s, want line %d", procs, ln.Number, ln.Run, *path, n)
				}
				return nil
			})
		if err != nil || n != 2500 || side.Calls != 2500 || side.Count != 3 {
			t.Errorf("%d procs: %d lines, %+v, %v", procs, n, side, err)
		}
		runtime.GOMAXPROCS(before)
	}
	bad := strings.Replace(gets("/1"), `"transport":`, `"transport"`, 1)
	asked := false
	_, err := EachAhead(t.Context(), text("x", bad), "", func() func(Line, *View, *int) bool {
		return func(_ Line, v *View, _ *int) bool { return v.Status() == "" }
	}, func(_ Line, v *View, found *int) error {
		asked = found == nil && v.Status() == ""
		return nil
	})
	if !asked || !errors.As(err, new(*InputError)) {
		t.Errorf("of what is no JSON: asked %v, %v", asked, err)
	}
}
