package stdio

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

var bareAnswer = []byte(`,"result":{"ok":true,"result":{"id":"T-1","title":"Ticket 1","status":"open","body":"` +
	strings.Repeat("lorem ipsum ", 60) + `"}}}` + "\n")

// bare answers each line with its id and a fixed answer of about 1 KB.
func bare(in io.Reader, out io.Writer) {
	r, w := bufio.NewReaderSize(in, 256<<10), bufio.NewWriterSize(out, 256<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		w.WriteString(`{"jsonrpc":"2.0","id":`)
		w.Write(lineID(line))
		if bytes.Contains(line[:min(len(line), 80)], []byte(`"initialize"`)) {
			w.WriteString(`,"result":{"protocolVersion":1}}` + "\n")
		} else {
			w.Write(bareAnswer)
		}
		if r.Buffered() == 0 {
			w.Flush()
		}
	}
}

func lineID(line []byte) []byte {
	at := bytes.Index(line, []byte(`"id":`)) + 5
	end := at
	for line[end] >= '0' && line[end] <= '9' {
		end++
	}
	return line[at:end]
}

func benchRequest() *provider.Request {
	r := request(1)
	r.Params.Path = provider.Object{{Name: "ticket_id", Value: []byte(`"T-1"`)}}
	r.Params.Query = provider.Object{{Name: "pad", Value: []byte(`"` + strings.Repeat("x", 420) + `"`)}}
	r.Freeze()
	return r
}

// BenchmarkInvoke asks a child that answers at once, with callers in flight at
// the same time; "pipe" is the round trip of the same lines with the same child
// without a protocol, the limit.
func BenchmarkInvoke(b *testing.B) {
	for _, flight := range []int{1, 64} {
		name := map[int]string{1: "1", 64: "64"}[flight]
		b.Run("pipe-"+name, func(b *testing.B) { benchPipe(b, flight) })
		b.Run("invoke-"+name, func(b *testing.B) {
			benchInvoke(b, as("bare", ""), flight)
		})
		b.Run("served-"+name, func(b *testing.B) {
			benchInvoke(b, as("serve", ""), flight)
		})
	}
}

func benchInvoke(b *testing.B, opts Options, flight int) {
	p, err := Start(context.Background(), opts)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close(context.Background())
	if _, err := p.Initialize(context.Background(), initParams()); err != nil {
		b.Fatal(err)
	}
	req := benchRequest()
	b.ReportAllocs()
	b.ResetTimer()
	inFlight(b, flight, func() {
		if _, err := p.Invoke(context.Background(), req); err != nil {
			b.Error(err)
		}
	})
	b.StopTimer()
}

func TestBareProvider(t *testing.T) {
	p := ready(t, as("bare", ""))
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 50 {
				if r, err := p.Invoke(context.Background(), request(1)); err != nil || !r.OK {
					t.Error(r, err)
				}
			}
		})
	}
	wg.Wait()
}

// inFlight calls f b.N times from several goroutines.
func inFlight(b *testing.B, flight int, f func()) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for range flight {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				f()
			}
		})
	}
	wg.Wait()
}

func benchPipe(b *testing.B, flight int) {
	opts := as("bare", "")
	p := &Process{tail: new(tail)}
	opts.Stderr = os.Stderr
	if err := p.start(opts); err != nil {
		b.Fatal(err)
	}
	defer p.cmd.Wait()
	defer closeAll(p.stdin, p.stdout, p.stderr)
	line := provider.AppendRequest(nil, 7, provider.MethodInvoke, benchRequest().Freeze())
	b.SetBytes(int64(len(line)))
	tokens := make(chan struct{}, flight)
	go func() { // writes as long as fewer than flight lines are under way
		for range b.N {
			tokens <- struct{}{}
			p.stdin.Write(line)
		}
	}()
	r := bufio.NewReaderSize(p.stdout, 256<<10)
	b.ResetTimer()
	for range b.N {
		if _, err := r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
		<-tokens
	}
	b.StopTimer()
}
