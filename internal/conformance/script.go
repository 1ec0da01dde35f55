package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/anvil-sim/anvil/internal/canon"
)

// ServeScript is a scripted state provider: it answers the n-th invoke with the
// n-th of the session's answers, and returns the exit status of the process.
// What it is told goes to initialize.json, invokes.jsonl and shutdown in logs.
// Directive objects are described in testdata/conformance/provider.py.
func ServeScript(sessionFile, logs string, in io.Reader, out, stderr io.Writer) int {
	text, err := os.ReadFile(sessionFile)
	if err == nil {
		var spec *canon.Value
		if spec, err = canon.Parse(text, canon.Lenient); err == nil {
			p := &script{session: spec.Get("provider"), logs: logs, out: out, stderr: stderr}
			var code int
			code, err = p.serve(bufio.NewReader(in))
			p.late.Wait()
			if err == nil {
				return code
			}
		}
	}
	fmt.Fprintf(stderr, "scripted provider: %v\n", err)
	return 70
}

type script struct {
	session *canon.Value
	logs    string
	stderr  io.Writer
	asked   int
	late    sync.WaitGroup

	mu  sync.Mutex // of out
	out io.Writer
}

func (p *script) write(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A host that is gone shows as the end of the input.
	_, _ = io.WriteString(p.out, line+"\n")
}

func (p *script) send(id *canon.Value, key string, v *canon.Value) {
	if v == nil {
		v = canon.NewNull()
	}
	p.write(canon.NewObject(
		canon.Member{Key: "jsonrpc", Value: canon.NewString("2.0")},
		canon.Member{Key: "id", Value: id},
		canon.Member{Key: key, Value: v},
	).String())
}

func (p *script) serve(in *bufio.Reader) (code int, err error) {
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		request, err := canon.Parse(line, canon.Lenient)
		if err != nil {
			return 0, err
		}
		id := request.Get("id")
		switch request.Get("method").Text() {
		case "initialize":
			if err := p.initialize(id, line); err != nil {
				return 0, err
			}
		case "invoke":
			code, stop, err := p.invoke(id, line)
			if stop || err != nil {
				return code, err
			}
		default:
			err := os.WriteFile(filepath.Join(p.logs, "shutdown"), nil, 0o644)
			p.send(id, "result", nil)
			return 0, err
		}
	}
}

// params are the params of a request, byte for byte.
func params(line []byte) (json.RawMessage, error) {
	_, rest, ok := bytes.Cut(line, []byte(`"params":`))
	if !ok {
		return nil, fmt.Errorf("no params in %q", line)
	}
	var raw json.RawMessage
	err := json.NewDecoder(bytes.NewReader(rest)).Decode(&raw)
	return raw, err
}

func (p *script) initialize(id *canon.Value, line []byte) error {
	raw, err := params(line)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.logs, "initialize.json"), raw, 0o644); err != nil {
		return err
	}
	if refusal := p.session.Get("initializeError"); truthy(refusal) {
		p.send(id, "error", refusal)
		return nil
	}
	version := p.session.Get("protocolVersion")
	if version == nil {
		version = canon.NewInt(1)
	}
	p.send(id, "result", canon.NewObject(canon.Member{Key: "protocolVersion", Value: version}))
	return nil
}

func (p *script) invoke(id *canon.Value, line []byte) (code int, stop bool, err error) {
	raw, err := params(line)
	if err != nil {
		return 0, false, err
	}
	f, err := os.OpenFile(filepath.Join(p.logs, "invokes.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, false, err
	}
	_, err = f.Write(append(raw, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, false, err
	}
	var reply *canon.Value
	if answers := p.session.Get("answers").Elems(); p.asked < len(answers) {
		reply = answers[p.asked]
	} else if reply, err = canon.Parse([]byte(`{"ok":false,"error":{"code":"unknown_upstream_error","message":"script exhausted"}}`), canon.Strict); err != nil {
		return 0, false, err
	}
	p.asked++
	for _, m := range reply.Members() {
		if strings.HasPrefix(m.Key, "$") {
			code, stop = p.direct(id, reply)
			return code, stop, nil
		}
	}
	p.send(id, "result", reply)
	return 0, false, nil
}

// direct does what a directive object says.
func (p *script) direct(id, d *canon.Value) (code int, stop bool) {
	if say := d.Get("$stderr"); say != nil {
		fmt.Fprintln(p.stderr, say.Text())
	}
	for _, noise := range d.Get("$noise").Elems() {
		p.write(noise.Text())
	}
	<-time.After(millis(d.Get("$delayMs"), 0))
	exit, rpcError, rawLine, later, exitAfter := d.Get("$exit"), d.Get("$rpcError"), d.Get("$rawLine"), d.Get("$laterMs"), d.Get("$exitAfter")
	switch {
	case exit != nil:
		return int(exit.Float()), true
	case rpcError != nil:
		p.send(id, "error", rpcError)
	case rawLine != nil:
		p.write(strings.ReplaceAll(rawLine.Text(), "{{id}}", id.Text()))
	case later != nil:
		p.late.Go(func() {
			<-time.After(millis(later, 0))
			p.send(id, "result", d.Get("$answer"))
		})
	case exitAfter != nil:
		p.send(id, "result", d.Get("$answer"))
		return int(exitAfter.Float()), true
	default:
		p.send(id, "result", d.Get("$answer"))
	}
	return 0, false
}
