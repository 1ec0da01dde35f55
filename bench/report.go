package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// A report is what a run found. Rates are medians over the rounds, ratios are
// medians of the ratios within a round.
type report struct {
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	CPUs     int      `json:"cpus"`
	Rounds   int      `json:"rounds"`
	Seconds  float64  `json:"seconds"` // of one measurement
	Rows     []*row   `json:"results"`
	Notes    []string `json:"notes,omitempty"`
}

type row struct {
	Target  string  `json:"target"`
	Conns   int     `json:"connections"`
	Rate    float64 `json:"requests_per_second"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
	MuxRate float64 `json:"net_http_per_second"` // the bare handler with the same bytes
	OfMux   float64 `json:"of_net_http"`
	CPU     float64 `json:"cpu_us,omitempty"`          // of the server's own process, for one request
	OfCPU   float64 `json:"of_net_http_cpu,omitempty"` // how many times the processor time of the bare handler
	Pipe    float64 `json:"pipe_per_second,omitempty"` // only of targets that ask over a pipe
	OfPipe  float64 `json:"of_pipe,omitempty"`

	rates, p50s, p99s, muxes, ofMux, pipes, ofPipe, cpus, ofCPU []float64
}

// add takes the pipe of no request for a target without one.
func (r *row) add(got, mux, pipe result) {
	r.rates = append(r.rates, got.rate())
	r.p50s = append(r.p50s, got.P50)
	r.p99s = append(r.p99s, got.P99)
	r.muxes = append(r.muxes, mux.rate())
	r.ofMux = append(r.ofMux, got.rate()/mux.rate())
	if got.CPU > 0 && mux.CPU > 0 {
		r.cpus = append(r.cpus, got.CPU)
		r.ofCPU = append(r.ofCPU, got.CPU/mux.CPU)
	}
	if pipe.Requests > 0 {
		r.pipes = append(r.pipes, pipe.rate())
		r.ofPipe = append(r.ofPipe, got.rate()/pipe.rate())
	}
}

func (rep *report) finish() *report {
	traced := map[int]*row{}
	for _, r := range rep.Rows {
		if r.Target == builtIn {
			traced[r.Conns] = r
		}
		if t := traced[r.Conns]; t != nil && r.Target == builtIn+untraced {
			rep.Notes = append(rep.Notes, fmt.Sprintf("Traced against untraced, %d connections: %.2f.", r.Conns, median(ratios(t.rates, r.rates))))
		}
		r.Rate, r.P50, r.P99 = median(r.rates), median(r.p50s), median(r.p99s)
		r.MuxRate, r.OfMux = median(r.muxes), median(r.ofMux)
		r.CPU, r.OfCPU = median(r.cpus), median(r.ofCPU)
		r.Pipe, r.OfPipe = median(r.pipes), median(r.ofPipe)
	}
	return rep
}

// ratios divides value by value.
func ratios(of, by []float64) []float64 {
	list := make([]float64, min(len(of), len(by)))
	for i := range list {
		list[i] = of[i] / by[i]
	}
	return list
}

// median of no values is 0.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	switch n := len(v); {
	case n == 0:
		return 0
	case n%2 == 1:
		return v[n/2]
	default:
		return (v[n/2-1] + v[n/2]) / 2
	}
}

func (rep *report) table(out io.Writer) error {
	fmt.Fprintf(out, "%s %s, %d CPUs; %d rounds of %g s; calls are traced unless the name says otherwise\n\n", rep.Go, rep.Platform, rep.CPUs, rep.Rounds, rep.Seconds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "target\tconns\treq/s\tp50 ms\tp99 ms\tnet/http req/s\tof net/http\tCPU us\tof its CPU\tpipe req/s\tof pipe\t")
	for _, r := range rep.Rows {
		pipe, ofPipe := "-", "-"
		if r.Pipe > 0 {
			pipe, ofPipe = fmt.Sprintf("%.0f", r.Pipe), fmt.Sprintf("%.2f", r.OfPipe)
		}
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.2f\t%.2f\t%.0f\t%.2f\t%.0f\t%.1f\t%s\t%s\t\n", r.Target, r.Conns, r.Rate, r.P50, r.P99, r.MuxRate, r.OfMux, r.CPU, r.OfCPU, pipe, ofPipe)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, n := range rep.Notes {
		fmt.Fprintln(out, "\n"+n)
	}
	return nil
}
