package providertest

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/anvil-sim/anvil/internal/ndjson"
	"github.com/anvil-sim/anvil/provider"
)

// maxLine is the longest answer that the kit reads, as a simulator does.
const maxLine = 64 << 20

// A session is one talk with a provider.
type session struct {
	Options
	stdin  io.WriteCloser
	lines  chan provider.Message // closed at the end of stdout
	fault  error                 // of reading, once lines is closed
	stop   chan struct{}
	lastID uint64
}

func newSession(o Options, stdin io.WriteCloser, stdout io.Reader) *session {
	s := &session{Options: o, stdin: stdin, lines: make(chan provider.Message), stop: make(chan struct{})}
	go s.read(stdout)
	return s
}

func (s *session) end() {
	close(s.stop)
	s.stdin.Close()
}

// read passes on the lines that are JSON; a simulator ignores others.
func (s *session) read(stdout io.Reader) {
	defer close(s.lines)
	r := ndjson.NewReader(stdout, maxLine)
	for {
		line, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.fault = err
			}
			return
		}
		m, err := provider.ParseMessage(line.Bytes)
		if err != nil {
			continue
		}
		select {
		case s.lines <- m:
		case <-s.stop:
			return
		}
	}
}

// write sends text as it is; a provider that does not read it in time is at
// fault.
func (s *session) write(text []byte) error {
	done := make(chan error, 1)
	go func() {
		_, err := s.stdin.Write(text)
		done <- err
	}()
	timeout := time.NewTimer(s.Timeout)
	defer timeout.Stop()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("the provider does not read its stdin any more (%w)", err)
		}
		return nil
	case <-timeout.C:
		return fmt.Errorf("the provider did not read its stdin for %v", s.Timeout)
	}
}

// send sends a request under the next id.
func (s *session) send(method string, params []byte) (id uint64, err error) {
	s.lastID++
	return s.lastID, s.write(provider.AppendRequest(nil, s.lastID, method, params))
}

// errEnded says that the provider's stdout ended.
var errEnded = errors.New("the provider ended")

// receive returns the next answer under a numeric id.
func (s *session) receive(what string) (provider.Message, uint64, error) {
	timeout := time.NewTimer(s.Timeout)
	defer timeout.Stop()
	for {
		select {
		case m, ok := <-s.lines:
			if !ok {
				return m, 0, fmt.Errorf("%s was not answered: %w", what, errors.Join(errEnded, s.fault))
			}
			if id, ok := m.NumericID(); ok {
				return m, id, nil
			}
		case <-timeout.C:
			return provider.Message{}, 0, fmt.Errorf("%s was not answered within %v", what, s.Timeout)
		}
	}
}

// ask sends a request and returns its result.
func (s *session) ask(method string, params []byte) ([]byte, error) {
	id, err := s.send(method, params)
	if err != nil {
		return nil, err
	}
	return s.answerOf(id, method)
}

// answerOf waits for the answer under an id; any other one is a fault.
func (s *session) answerOf(id uint64, what string) ([]byte, error) {
	m, got, err := s.receive(what)
	switch {
	case err != nil:
		return nil, err
	case got != id:
		return nil, fmt.Errorf("%s was sent with the id %d and answered with the id %d", what, id, got)
	}
	if e := m.Failure(); e != nil {
		return nil, fmt.Errorf("%s was answered with a JSON-RPC error, %w", what, e)
	}
	if m.Result == nil {
		return nil, fmt.Errorf("%s was answered with neither a result nor an error", what)
	}
	return m.Result, nil
}

func (s *session) initialize() error {
	result, err := s.ask(provider.MethodInitialize, s.Initialize.AppendJSON(nil))
	if err != nil {
		return err
	}
	r, err := provider.DecodeInitializeResult(result)
	if err != nil {
		return err
	}
	if r.ProtocolVersion != provider.ProtocolVersion {
		return fmt.Errorf("the provider speaks protocol version %d, want %d", r.ProtocolVersion, provider.ProtocolVersion)
	}
	return nil
}

// invoke asks the n-th request and checks its answer.
func (s *session) invoke(n int) error {
	req := s.request(n)
	result, err := s.ask(provider.MethodInvoke, req.AppendJSON(nil))
	if err != nil {
		return err
	}
	return checkAnswer(req, result)
}

// request is the n-th call of a session: the requests in turn, each with a
// request id of its own.
func (s *session) request(n int) *provider.Request {
	req := *s.Requests[n%len(s.Requests)]
	req.RequestID = fmt.Sprintf("r%d", n+1)
	return &req
}

func checkAnswer(req *provider.Request, result []byte) error {
	r, err := provider.ParseResponse(result)
	if err == nil {
		err = r.CheckFor(req)
	}
	if err != nil {
		return fmt.Errorf("%s was answered with %.300s: %w", req.OperationID, result, err)
	}
	return nil
}

// untilEnd waits for the end of stdout; answers before it are fine.
func (s *session) untilEnd() error {
	timeout := time.NewTimer(s.Timeout)
	defer timeout.Stop()
	for {
		select {
		case _, ok := <-s.lines:
			if !ok {
				return s.fault
			}
		case <-timeout.C:
			return fmt.Errorf("the provider is still running after %v", s.Timeout)
		}
	}
}
