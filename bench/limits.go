package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/anvil-sim/anvil/provider"
)

// muxPart serves each file that is named by its place: /0 is the first. It is
// what net/http alone can do with these bytes.
func muxPart(ctx context.Context, files []string, out io.Writer) error {
	mux := http.NewServeMux()
	for i, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		mux.HandleFunc("/"+strconv.Itoa(i), func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body) // the client counts what came
		})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux}
	stopped := make(chan struct{})
	go func() {
		<-ctx.Done()
		server.Close()
		close(stopped)
	}()
	fmt.Fprintln(out, "http://"+listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	return nil
}

const ticket = `{"id":"T-1","subject":"Printer","status":"open","priority":3,"urgent":false,"created_at":"2026-01-01T00:00:00Z"}`

// slowAnswer is how long the provider needs for a ticket that is called SLOW.
const slowAnswer = 200 * time.Millisecond

// providerPart is a provider that does nothing but answer: it finds the id and
// the method in the line and sends fixed bytes.
func providerPart(in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, 1<<20), answers{w: bufio.NewWriterSize(out, 64<<10)}
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return w.flush()
		}
		if err != nil {
			return err
		}
		result := `{"ok":true,"result":` + ticket + `}`
		done := false
		switch {
		case bytes.Contains(line, []byte(`"id":"SLOW"`)):
			id := bytes.Clone(lineID(line))
			time.AfterFunc(slowAnswer, func() {
				w.add(id, result)
				_ = w.flush() // the simulator may have gone
			})
			continue
		case bytes.Contains(line, []byte(`"method":"initialize"`)):
			result = `{"protocolVersion":1}`
		case bytes.Contains(line, []byte(`"method":"shutdown"`)):
			result, done = "null", true
		}
		w.add(lineID(line), result)
		if r.Buffered() == 0 || done {
			if err := w.flush(); err != nil || done {
				return err
			}
		}
	}
}

// answers are written by the loop and by what came late.
type answers struct {
	mu sync.Mutex
	w  *bufio.Writer
}

func (a *answers) add(id []byte, result string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.w.WriteString(`{"jsonrpc":"2.0","id":`)
	a.w.Write(id)
	a.w.WriteString(`,"result":`)
	a.w.WriteString(result)
	a.w.WriteString("}\n")
}

func (a *answers) flush() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.w.Flush()
}

// lineID is the number behind the first "id": of a line.
func lineID(line []byte) []byte {
	_, rest, _ := bytes.Cut(line, []byte(`"id":`))
	rest = bytes.TrimLeft(rest, " ")
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	return rest[:max(end, 0)]
}

// readRequest is what the simulator asks a provider for the read that the targets
// serve: the limit of a pipe is measured with the same lines.
func readRequest() *provider.Request {
	resource := "ticket"
	return &provider.Request{
		RequestID: "r1", CapabilityID: "helpdesk", OperationID: "helpdesk.tickets.get", ToolName: "helpdesk_tickets_get",
		Kind: provider.KindRead, Action: "get", Resource: &resource, Method: "GET", PathTemplate: "/v1/tickets/{id}",
		Params: provider.Params{Path: provider.Object{{Name: "id", Value: []byte(`"T-1"`)}}},
	}
}

// pipe measures round trips over the pipes of a provider process with a number
// of requests under way.
func pipe(ctx context.Context, command []string, under int, length time.Duration) (r result, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return r, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, in.Close(), cmd.Wait()) }()
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`+"\n"); err != nil {
		return r, err
	}
	answers := bufio.NewReaderSize(out, 1<<20)
	if line, err := answers.ReadSlice('\n'); err != nil {
		return r, fmt.Errorf("initialize: %w, answered %q", err, line)
	}
	return roundTrips(in, answers, under, length)
}

// roundTrips keeps a number of requests under way for a while, and then waits for
// their answers.
func roundTrips(in io.Writer, answers *bufio.Reader, under int, length time.Duration) (r result, err error) {
	params := readRequest().AppendJSON(nil)
	sent := make([]time.Time, under)
	send := func(i int) error {
		sent[i] = time.Now()
		_, err := in.Write(provider.AppendRequest(nil, uint64(i), provider.MethodInvoke, params))
		return err
	}
	for i := range under {
		if err := send(i); err != nil {
			return r, err
		}
	}
	var times []time.Duration
	began := time.Now()
	for open := under; open > 0; {
		line, err := answers.ReadSlice('\n')
		if err != nil {
			return r, err
		}
		i, err := strconv.Atoi(string(lineID(line)))
		if err != nil || i >= under {
			return r, fmt.Errorf("an answer without its request: %q", line)
		}
		times = append(times, time.Since(sent[i]))
		if time.Since(began) >= length {
			open--
			continue
		}
		if err := send(i); err != nil {
			return r, err
		}
	}
	r.Requests, r.Seconds = len(times), time.Since(began).Seconds()
	slices.Sort(times)
	r.P50, r.P99 = percentile(times, 0.50), percentile(times, 0.99)
	return r, nil
}
