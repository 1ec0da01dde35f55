package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// figures are measured values, each beside its limit if it has one.
type figures struct {
	Part   string    `json:"part"`
	Rounds int       `json:"rounds"`
	Rows   []*figure `json:"results"`
	Notes  []string  `json:"notes,omitempty"`
}

// A figure is the median over the rounds; the ratio is the median of the rounds'
// ratios.
type figure struct {
	Name      string  `json:"name"`
	Unit      string  `json:"unit"`
	Value     float64 `json:"value"`
	LimitName string  `json:"limit_name,omitempty"`
	Limit     float64 `json:"limit,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"`

	values, limits, ratios []float64
}

func newFigures(part string, rounds int) *figures { return &figures{Part: part, Rounds: rounds} }

func (f *figures) row(name, unit string) *figure {
	for _, r := range f.Rows {
		if r.Name == name {
			return r
		}
	}
	r := &figure{Name: name, Unit: unit}
	f.Rows = append(f.Rows, r)
	return r
}

// add takes a value of one round that has no limit beside it.
func (f *figures) add(name, unit string, value float64) {
	r := f.row(name, unit)
	r.values = append(r.values, value)
	r.Value = median(r.values)
}

// addRatio takes a value of one round and its limit of the same unit.
func (f *figures) addRatio(name, unit string, value float64, limitName string, limit float64) {
	f.add(name, unit, value)
	r := f.row(name, unit)
	r.LimitName = limitName
	r.limits, r.ratios = append(r.limits, limit), append(r.ratios, value/limit)
	r.Limit, r.Ratio = median(r.limits), median(r.ratios)
}

// grew takes the cost of some work, beside ten times the cost of a tenth of it:
// over 1, cost grows faster than the work. Without the tenth there is no limit.
func (f *figures) grew(name, unit string, value, tenth float64) {
	if tenth <= 0 {
		f.add(name, unit, value)
		return
	}
	f.addRatio(name, unit, value, "10 times the row above", 10*tenth)
}

// print writes a table, or JSON.
func (f *figures) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return writeJSON(out, f)
	}
	return f.table(out)
}

func (f *figures) table(out io.Writer) error {
	fmt.Fprintf(out, "%s; %d rounds, medians\n\n", f.Part, f.Rounds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tvalue\tlimit\tratio")
	for _, r := range f.Rows {
		limit, ratio := "-", "-"
		if r.LimitName != "" {
			limit, ratio = fmt.Sprintf("%s %s, %s", number(r.Limit), r.Unit, r.LimitName), fmt.Sprintf("%.2f", r.Ratio)
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\n", r.Name, number(r.Value), r.Unit, limit, ratio)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, n := range f.Notes {
		fmt.Fprintln(out, "\n"+n)
	}
	return nil
}

// number has three digits that tell.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// writeJSON writes what a part found.
func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
