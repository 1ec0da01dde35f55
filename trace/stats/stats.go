// Package stats counts the calls of a trace.
package stats

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/plural"
	"github.com/anvil-sim/anvil/trace"
)

// Stats are the counts of a trace. Lists are sorted, so that equal traces give
// equal bytes.
type Stats struct {
	Side  trace.Side
	OK    int // calls whose result says so
	Asked int // calls that a provider answered
	Bytes int64
	Rows  []Row
}

// A Row counts the calls with one outcome of one operation.
type Row struct {
	Source    string // the server, in a merged trace
	Operation string // "" when no operation was found
	Tool      string
	Status    int    // 0 in process
	Code      string // of the result's error, "" without one
	Calls     int
}

func compare(a, b Row) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Tool, b.Tool),
		cmp.Compare(a.Status, b.Status), cmp.Compare(a.Code, b.Code))
}

// Count reads the runs of a trace that which chooses, as in [trace.OpenRun].
// Memory grows with the number of different rows, not with the calls.
func Count(ctx context.Context, in trace.Input, which string) (*Stats, error) {
	r, side, err := trace.OpenRun(ctx, in, which)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &Stats{Side: side}
	rows := map[Row]int{}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		f, err := l.Facts()
		if err != nil {
			return nil, err
		}
		rows[Row{Source: f.Source, Operation: f.Operation, Tool: f.Tool, Status: f.Status, Code: f.Code}]++
		s.Bytes += int64(len(l.Text)) + 1
		s.OK += one(f.OK)
		s.Asked += one(f.Asked)
	}
	for row, n := range rows {
		row.Calls = n
		s.Rows = append(s.Rows, row)
	}
	slices.SortFunc(s.Rows, compare)
	return s, nil
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// sums adds the rows up by one of their values, in its order.
func (s *Stats) sums(of func(Row) Row) (list []Row) {
	at := map[Row]int{}
	for _, row := range s.Rows {
		key := of(row)
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key], list = i, append(list, key)
		}
		list[i].Calls += row.Calls
	}
	slices.SortFunc(list, compare)
	return list
}

func byStatus(r Row) Row { return Row{Status: r.Status} }
func byCode(r Row) Row   { return Row{Code: r.Code} }
func bySource(r Row) Row { return Row{Source: r.Source} }

// WriteText writes the counts for a person: a row for each outcome of each
// operation, then sums.
func (s *Stats) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s: %s\n\n", trace.Clean(trace.DisplayName(s.Side.Name)), s.Side.Describe())
	table := [][]string{{"calls", "operation", "status", "code"}}
	sources := slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Source != "" })
	if sources {
		table[0] = append(table[0], "source")
	}
	for _, r := range s.Rows {
		line := []string{strconv.Itoa(r.Calls), operation(r), statusText(r.Status), trace.Clean(r.Code)}
		if sources {
			line = append(line, trace.Clean(r.Source))
		}
		table = append(table, line)
	}
	writeTable(out, table)
	fmt.Fprintf(out, "\nstatus: %s\n", list(s.sums(byStatus), func(r Row) string { return statusText(r.Status) }))
	if codes := slices.DeleteFunc(s.sums(byCode), func(r Row) bool { return r.Code == "" }); len(codes) > 0 {
		fmt.Fprintf(out, "code:   %s\n", list(codes, func(r Row) string { return trace.Clean(r.Code) }))
	}
	if sources {
		fmt.Fprintf(out, "source: %s\n", list(s.sums(bySource), func(r Row) string { return trace.Clean(r.Source) }))
	}
	fmt.Fprintf(out, "total:  %s, %d ok, %d not; a provider answered %d; %s\n", plural.Of(s.Side.Calls, "call"), s.OK, s.Side.Calls-s.OK, s.Asked, plural.Of(s.Bytes, "byte"))
	return out.Flush()
}

func operation(r Row) string {
	switch {
	case r.Operation != "":
		return trace.Clean(r.Operation)
	case r.Tool != "":
		return trace.Clean(r.Tool)
	}
	return "(no operation)"
}

func statusText(status int) string {
	if status == 0 {
		return "in process"
	}
	return strconv.Itoa(status)
}

func list(rows []Row, name func(Row) string) string {
	var parts []string
	for _, r := range rows {
		parts = append(parts, fmt.Sprintf("%s (%d)", name(r), r.Calls))
	}
	return strings.Join(parts, ", ")
}

// writeTable aligns columns; the first one to the right.
func writeTable(out *bufio.Writer, table [][]string) {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range table {
		line := fmt.Sprintf("%*s", widths[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("  %-*s", widths[i+1], cell)
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// WriteJSON writes the counts as one JSON object and a line break. Keys: trace,
// runs, run, calls, ok, asked, bytes; operations, a list of operation, tool,
// status, code, source and calls; statuses, codes and sources, the sums. What is
// not there is null.
func (s *Stats) WriteJSON(w io.Writer) error {
	dst := canon.AppendString([]byte(`{"trace":`), s.Side.Name)
	for _, n := range []struct {
		key string
		n   int64
	}{{"runs", int64(s.Side.Runs)}, {"run", int64(s.Side.Run)}, {"calls", int64(s.Side.Calls)}, {"ok", int64(s.OK)}, {"asked", int64(s.Asked)}, {"bytes", s.Bytes}} {
		dst = strconv.AppendInt(append(append(append(dst, `,"`...), n.key...), `":`...), n.n, 10)
	}
	dst = appendRows(append(dst, `,"operations":`...), s.Rows, func(dst []byte, r Row) []byte {
		dst = text(append(dst, `"operation":`...), r.Operation)
		dst = text(append(dst, `,"tool":`...), r.Tool)
		dst = number(append(dst, `,"status":`...), r.Status)
		dst = text(append(dst, `,"code":`...), r.Code)
		return text(append(dst, `,"source":`...), r.Source)
	})
	dst = appendRows(append(dst, `,"statuses":`...), s.sums(byStatus), func(dst []byte, r Row) []byte { return number(append(dst, `"status":`...), r.Status) })
	dst = appendRows(append(dst, `,"codes":`...), s.sums(byCode), func(dst []byte, r Row) []byte { return text(append(dst, `"code":`...), r.Code) })
	dst = appendRows(append(dst, `,"sources":`...), s.sums(bySource), func(dst []byte, r Row) []byte { return text(append(dst, `"source":`...), r.Source) })
	_, err := w.Write(append(dst, "}\n"...))
	return err
}

func appendRows(dst []byte, rows []Row, fields func(dst []byte, r Row) []byte) []byte {
	dst = append(dst, '[')
	for i, r := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fields(append(dst, '{'), r)
		dst = append(strconv.AppendInt(append(dst, `,"calls":`...), int64(r.Calls), 10), '}')
	}
	return append(dst, ']')
}

func text(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return canon.AppendString(dst, s)
}

func number(dst []byte, n int) []byte {
	if n == 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
