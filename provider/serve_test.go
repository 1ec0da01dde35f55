package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A fake provider answers by operation id.
type fake struct {
	initialize func(*InitializeParams) (*InitializeResult, error)
	closing    error
	closed     int
	hold       chan struct{}
}

func (f *fake) Initialize(_ context.Context, p *InitializeParams) (*InitializeResult, error) {
	if f.initialize == nil {
		return nil, nil
	}
	return f.initialize(p)
}

func (f *fake) Close(context.Context) error {
	f.closed++
	return f.closing
}

func (f *fake) Invoke(ctx context.Context, req *Request) (*Response, error) {
	switch req.OperationID {
	case "panic":
		panic("boom")
	case "nothing":
		return nil, nil
	case "error":
		return nil, errors.New("database is gone")
	case "rpc":
		return nil, fmt.Errorf("wrapped: %w", &RPCError{Code: -32050, Message: "own"})
	case "malformed":
		return nil, &MalformedError{Reason: "no ok", Raw: []byte(`{"tape":1}`)}
	case "no json":
		return ResultJSON([]byte("{\n")), nil
	case "indented":
		return ResultJSON([]byte("{\n  \"a\": 1\n}")), nil
	case "wait":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "hold":
		<-f.hold
	}
	return Result(req.RequestID)
}

func serveText(t *testing.T, p Provider, in string, opts *ServeOptions) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := Serve(context.Background(), p, strings.NewReader(in), &out, opts)
	return out.String(), err
}

func TestServeAnswers(t *testing.T) {
	const parse, invalid = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700`, `,"error":{"code":-32600`
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`:                 `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`,
		`{"params":{"operationId":"x","requestId":"r1","new":0},"method":"invoke","extra":{},"id":"a"}`: `{"jsonrpc":"2.0","id":"a","result":{"ok":true,"result":"r1"}}`,
		`{"id":2,"method":"invoke","params":{"operationId":"indented"}}`:                                `{"jsonrpc":"2.0","id":2,"result":{"ok":true,"result":{"a":1}}}`,
		`{"id":2,"method":"invoke","params":{"operationId":"malformed"}}`:                               `{"jsonrpc":"2.0","id":2,"result":{"tape":1}}`,
		`{"id":2,"method":"invoke","params":{"operationId":"panic"}}`:                                   `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the provider panicked: boom"}}`,
		`{"id":2,"method":"invoke","params":{"operationId":"nothing"}}`:                                 `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the provider returned neither`,
		`{"id":2,"method":"invoke","params":{"operationId":"error"}}`:                                   `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"database is gone"}}`,
		`{"id":2,"method":"invoke","params":{"operationId":"rpc"}}`:                                     `{"jsonrpc":"2.0","id":2,"error":{"code":-32050,"message":"own"}}`,
		`{"id":2,"method":"invoke","params":{"operationId":"no json"}}`:                                 `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"a value of the answer is not JSON`,
		`{"id":2,"method":"invoke"}`:                                                                    `{"jsonrpc":"2.0","id":2,"error":{"code":-32602`,
		`{"id":2,"method":"invoke","params":{"kind":1}}`:                                                `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"request: /kind is 1`,
		`{"id":2,"method":"initialize","params":{"seed":"x"}}`:                                          `{"jsonrpc":"2.0","id":2,"error":{"code":-32602`,
		`{"id":2,"method":"later/thing","params":{}}`:                                                   `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"unknown method \"later/thing\"`,
		`{"method":"later"}`:              ``,
		`{"method":"invoke","params":{}}`: ``,
		`{"id":7,"result":1}`:             ``,
		"":                                ``,
		" \t\r":                           ``,
		`not json`:                        parse,
		`{"id":1`:                         parse,
		`[]`:                              `{"jsonrpc":"2.0","id":null` + invalid,
		`{"id":5}`:                        `{"jsonrpc":"2.0","id":5` + invalid,
		`{"id":5,"method":7}`:             `{"jsonrpc":"2.0","id":5` + invalid,
		`{"id":{},"method":"invoke"}`:     `{"jsonrpc":"2.0","id":null` + invalid,
		`{"ID":5,"METHOD":"shutdown"}`:    `{"jsonrpc":"2.0","id":null` + invalid,
	} {
		got, err := serveText(t, &fake{}, in+"\n", nil)
		if err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) || strings.Count(got, "\n") != min(len(want), 1) {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

const callX = `{"id":1,"method":"invoke","params":{"operationId":"x","requestId":"r1"}}` + "\n"

func TestServeEnds(t *testing.T) {
	const shutdown = `{"id":9,"method":"shutdown","params":{}}` + "\n"
	for name, tc := range map[string]struct {
		in, want string
		closing  error
		err      string
	}{
		"shutdown":         {in: callX + shutdown + callX, want: `{"jsonrpc":"2.0","id":9,"result":null}` + "\n"},
		"end of input":     {in: callX},
		"no last newline":  {in: strings.TrimSpace(shutdown), want: `{"jsonrpc":"2.0","id":9,"result":null}` + "\n"},
		"waiting call":     {in: strings.Replace(callX, `"x"`, `"wait"`, 1) + shutdown, want: `{"jsonrpc":"2.0","id":9,"result":null}` + "\n"},
		"close fails":      {in: shutdown, closing: errors.New("disk full"), want: `"code":-32603,"message":"close the provider: disk full"}}` + "\n", err: "disk full"},
		"close fails, end": {closing: errors.New("disk full"), err: "disk full"},
		"long line":        {in: strings.Repeat("x", 200) + "\n" + shutdown, err: "read requests: line 1 (byte 0) is longer than 100 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &fake{closing: tc.closing}
			got, err := serveText(t, p, tc.in, &ServeOptions{MaxLine: 100})
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
			if !strings.HasSuffix(got, tc.want) {
				t.Errorf("got %q, want it to end in %q", got, tc.want)
			}
			if p.closed != 1 {
				t.Errorf("closed %d times", p.closed)
			}
		})
	}
}

func TestServeInitialize(t *testing.T) {
	const in = `{"id":1,"method":"initialize","params":{"contractDigest":"abc"}}`
	for want, f := range map[string]func(*InitializeParams) (*InitializeResult, error){
		`"result":{"protocolVersion":1,"contract":{"a":1}}}`: func(*InitializeParams) (*InitializeResult, error) {
			return &InitializeResult{Contract: []byte(`{"a": 1}`)}, nil
		},
		`"error":{"code":-32603,"message":"built for abc"}}`: func(p *InitializeParams) (*InitializeResult, error) {
			return nil, errors.New("built for " + *p.ContractDigest)
		},
		`"error":{"code":-32001,"message":"no"}}`: func(*InitializeParams) (*InitializeResult, error) {
			return nil, &RPCError{Code: -32001, Message: "no"}
		},
		`"error":{"code":-32603,"message":"the provider panicked: oh"}}`: func(*InitializeParams) (*InitializeResult, error) { panic("oh") },
	} {
		var log bytes.Buffer
		got, err := serveText(t, &fake{initialize: f}, in, &ServeOptions{Log: &log})
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		if strings.Contains(want, "panicked") != strings.Contains(log.String(), "serve_test.go") {
			t.Errorf("log: %s", log.String())
		}
	}
}

// One slow call does not hold the others, and Workers bounds how many run.
func TestServeIsConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, send := io.Pipe()
		receive, out := io.Pipe()
		p := &fake{hold: make(chan struct{})}
		ended := make(chan error, 1)
		go func() { ended <- Serve(context.Background(), p, in, out, &ServeOptions{Workers: 2}) }()
		go io.WriteString(send, strings.Replace(callX, `"x"`, `"hold"`, 1)+strings.Replace(callX, `"id":1`, `"id":2`, 1))
		answers := make(chan string, 8)
		go func() {
			b := make([]byte, 4096)
			for {
				n, err := receive.Read(b)
				if err != nil {
					return
				}
				answers <- string(b[:n])
			}
		}()
		if got := <-answers; !strings.Contains(got, `"id":2`) {
			t.Errorf("got %s first", got)
		}
		close(p.hold)
		if got := <-answers; !strings.Contains(got, `"id":1`) {
			t.Errorf("got %s", got)
		}
		send.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		receive.Close()
	})
}

func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, send := io.Pipe()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		p := &fake{}
		go io.WriteString(send, strings.Replace(callX, `"x"`, `"wait"`, 1))
		err := Serve(ctx, p, in, io.Discard, nil)
		if !errors.Is(err, context.DeadlineExceeded) || p.closed != 1 {
			t.Errorf("got %v, closed %d times", err, p.closed)
		}
		send.Close()
	})
}

func TestServeReportsABrokenOutput(t *testing.T) {
	receive, out := io.Pipe()
	receive.CloseWithError(errors.New("gone"))
	err := Serve(context.Background(), &fake{}, strings.NewReader(callX+callX), out, nil)
	if err == nil || err.Error() != "write answers: gone" {
		t.Errorf("got %v", err)
	}
}

// Lines of many senders stay whole, and are joined while a write is going on.
func TestLineWriter(t *testing.T) {
	var out countingWriter
	w := newLineWriter(&out)
	line := []byte(strings.Repeat("x", 999) + "\n")
	var wg sync.WaitGroup
	const senders, each = 32, 300
	for range senders {
		wg.Go(func() {
			for range each {
				w.send(line)
			}
		})
	}
	wg.Wait()
	if out.bytes != senders*each*len(line) || out.torn || out.writes > senders*each {
		t.Errorf("%+v", out)
	}
}

type countingWriter struct {
	bytes, writes int
	torn          bool
}

func (w *countingWriter) Write(b []byte) (int, error) {
	w.bytes += len(b)
	w.writes++
	w.torn = w.torn || len(b)%1000 != 0 || b[len(b)-1] != '\n'
	return len(b), nil
}

func TestMessages(t *testing.T) {
	for in, want := range map[string]struct {
		id uint64
		ok bool
		e  *RPCError
	}{
		`{"id":7}`:                 {7, true, nil},
		`{"id":7.0,"error":null}`:  {7, true, nil},
		`{"id":0}`:                 {0, false, nil},
		`{"id":-1,"error":""}`:     {0, false, nil},
		`{"id":1.5,"error":0.0}`:   {0, false, nil},
		`{"id":"7","error":false}`: {0, false, nil},
		`{"id":1e30}`:              {0, false, nil},
		`[{"id":1}]`:               {0, false, nil},
		`{"error":{"code":-5,"message":"m","data":1}}`: {0, false, &RPCError{-5, "m", json.RawMessage("1")}},
		`{"error":{"code":"x"}}`:                       {0, false, &RPCError{0, `{"code":"x"}`, nil}},
		`{"error":[]}`:                                 {0, false, &RPCError{0, `[]`, nil}},
		`{"error":true}`:                               {0, false, &RPCError{0, `true`, nil}},
	} {
		m, err := ParseMessage([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if id, ok := m.NumericID(); ok != want.ok || ok && id != want.id {
			t.Errorf("%s: id %d, %v", in, id, ok)
		}
		e := m.Failure()
		if (e == nil) != (want.e == nil) || e != nil && (e.Error() != want.e.Error() || string(e.Data) != string(want.e.Data)) {
			t.Errorf("%s: failure %v, want %v", in, e, want.e)
		}
	}
}
