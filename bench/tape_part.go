package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dnaeon/go-vcr/v2/cassette"
	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// A tapeMeasure is what a part of the tape benchmark says.
type tapeMeasure struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"` // of all threads; what others do on the machine changes it least
	PeakMB  float64 `json:"peak_mb"`
}

// measureTapePart is "bench part-tape WHAT ARG".
func measureTapePart(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("part-tape wants WHAT and ARG, got %q", args)
	}
	part, ok := map[string]func(context.Context, string) (tapeMeasure, error){
		"go-vcr": loadGoVCR, "yaml.v3": loadYAML, "anvil": loadAnvil, "replay": replayBody, "lookup": lookup,
	}[args[0]]
	if !ok {
		return fmt.Errorf("part-tape has no %q", args[0])
	}
	before, err := cpuTime()
	if err != nil {
		return err
	}
	m, err := part(ctx, args[1])
	if err != nil {
		return err
	}
	if m.CPU == 0 {
		after, err := cpuTime()
		if err != nil {
			return err
		}
		m.CPU = (after - before).Seconds()
	}
	m.PeakMB = peakMB()
	return json.NewEncoder(out).Encode(m)
}

func loadGoVCR(_ context.Context, file string) (m tapeMeasure, err error) {
	began := time.Now()
	c, err := cassette.Load(strings.TrimSuffix(file, ".yaml"))
	m.Seconds = time.Since(began).Seconds()
	if err == nil && len(c.Interactions) == 0 {
		err = errors.New("go-vcr loads no interaction")
	}
	return m, err
}

func loadYAML(_ context.Context, file string) (m tapeMeasure, err error) {
	began := time.Now()
	data, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	var doc yaml.Node
	err = yaml.Unmarshal(data, &doc)
	m.Seconds = time.Since(began).Seconds()
	return m, err
}

// loadAnvil loads and indexes.
func loadAnvil(_ context.Context, file string) (m tapeMeasure, err error) {
	began := time.Now()
	player, err := openTape(file)
	m.Seconds = time.Since(began).Seconds()
	if err == nil && player.Stats().Interactions == 0 {
		err = errors.New("the tape has no interaction")
	}
	return m, err
}

func openTape(file string) (*replayer.Player, error) {
	t, err := tape.LoadFile(file)
	if err != nil {
		return nil, err
	}
	return replayer.NewPlayer([]*tape.Tape{t}, &replayer.Options{AfterLast: replayer.AfterLoop})
}

// replayBody loads a tape, serves it and fetches what it recorded, in one process.
func replayBody(ctx context.Context, file string) (m tapeMeasure, err error) {
	began := time.Now()
	player, err := openTape(file)
	if err != nil {
		return m, err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	server, err := replayer.Listen(serving, "127.0.0.1:0", player, nil)
	if err != nil {
		return m, err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(serving) }()
	resp, err := http.Get(server.URL() + "/file")
	if err != nil {
		return m, err
	}
	n, err := io.Copy(io.Discard, resp.Body)
	m.Seconds = time.Since(began).Seconds()
	if err = errors.Join(err, resp.Body.Close()); err == nil && (resp.StatusCode != http.StatusOK || n == 0) {
		err = fmt.Errorf("%s with %d bytes", resp.Status, n)
	}
	stop()
	return m, errors.Join(err, <-ended)
}

// lookup is the time of one answer of a tape with so many interactions, asked in
// an order that no cache likes.
func lookup(_ context.Context, size string) (m tapeMeasure, err error) {
	n, err := strconv.Atoi(size)
	if err != nil {
		return m, err
	}
	t := &tape.Tape{Name: "bench", Format: tape.GoVCR1}
	for i := range n {
		it := &tape.Interaction{Tape: t.Name, Position: i, Response: tape.Response{Status: http.StatusOK, Body: []byte(`{"id":1}`)}}
		it.Request = tape.Request{Method: http.MethodPut, URL: tapeURL(i), Body: fmt.Appendf(nil, `{"n":%d,"title":"it's a ticket"}`, i)}
		it.Request.Header = tape.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "User-Agent", Value: "bench/1.0"}}
		t.Interactions = append(t.Interactions, it)
	}
	player, err := replayer.NewPlayer([]*tape.Tape{t}, &replayer.Options{AfterLast: replayer.AfterLoop})
	if err != nil {
		return m, err
	}
	runtime.GC()
	const calls, stride = 100_000, 7919 // a prime
	before, err := cpuTime()
	if err != nil {
		return m, err
	}
	began := time.Now()
	for i := range calls {
		if _, err := player.Answer(&t.Interactions[i*stride%n].Request); err != nil {
			return m, err
		}
	}
	m.Seconds = time.Since(began).Seconds() / calls
	after, err := cpuTime()
	m.CPU = (after - before).Seconds() / calls
	return m, err
}

// peakMB is the most memory that this process held. What the runtime took from
// the system, where the kernel does not say.
func peakMB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			if kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64); err == nil {
				return kb / 1024
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys) / (1 << 20)
}
