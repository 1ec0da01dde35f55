package providertest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

func initializes(s *session) error { return s.initialize() }

func answers(s *session) error {
	if err := s.initialize(); err != nil {
		return err
	}
	for n := range s.Requests {
		if err := s.invoke(n); err != nil {
			return err
		}
	}
	return nil
}

// flight is how many requests are sent at once.
const flight = 64

func ids(s *session) error {
	if err := s.initialize(); err != nil {
		return err
	}
	asked := map[uint64]*provider.Request{}
	var text []byte
	for n := range flight {
		req := s.request(n)
		s.lastID++
		asked[s.lastID] = req
		text = provider.AppendRequest(text, s.lastID, provider.MethodInvoke, req.AppendJSON(nil))
	}
	sent := make(chan error, 1)
	go func() { sent <- s.write(text) }() // answers are read at the same time
	for len(asked) > 0 {
		m, id, err := s.receive(fmt.Sprintf("%d of %d requests", len(asked), flight))
		if err != nil {
			return err
		}
		req := asked[id]
		if req == nil {
			return fmt.Errorf("an answer came under the id %d, which does not wait for one", id)
		}
		delete(asked, id)
		if e := m.Failure(); e != nil {
			return fmt.Errorf("%s was answered with a JSON-RPC error, %w", req.OperationID, e)
		}
		if err := checkAnswer(req, m.Result); err != nil {
			return err
		}
	}
	if err := <-sent; err != nil {
		return err
	}
	return s.invoke(flight) // nothing came twice
}

// A greaser spells messages as a later simulator, or another encoder, might.
type greaser struct{ rand *rand.Rand }

func (s *session) greaser() *greaser { return &greaser{rand.New(rand.NewPCG(s.Seed, 0))} }

// object shuffles the members and adds one that nobody knows.
func (g *greaser) object(v *canon.Value, inside ...string) *canon.Value {
	members := []canon.Member{{
		Key:   fmt.Sprintf("xUnknown%04x", g.rand.IntN(1<<16)),
		Value: canon.NewObject(canon.Member{Key: "ok", Value: canon.NewArray(canon.NewInt(g.rand.Int64N(1 << 40)))}),
	}}
	for _, m := range v.Members() {
		for _, name := range inside {
			if m.Key == name && m.Value.Is(canon.Object) {
				m.Value = g.object(m.Value)
			}
		}
		members = append(members, m)
	}
	g.rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return canon.NewObject(members...)
}

// line is a greased request line. The parameters themselves stay as they are: an
// unknown parameter is no unknown key.
func (g *greaser) line(id uint64, method string, params []byte) ([]byte, error) {
	tree, err := canon.Parse(params, canon.Lenient)
	if err != nil {
		return nil, err
	}
	message := canon.NewObject(
		canon.Member{Key: "jsonrpc", Value: canon.NewString("2.0")},
		canon.Member{Key: "id", Value: canon.NewInt(int64(id))},
		canon.Member{Key: "method", Value: canon.NewString(method)},
		canon.Member{Key: "params", Value: g.object(tree, "params", "page", "principal", "simulator")},
	)
	return append(g.object(message).AppendJSON(nil), '\n'), nil
}

// exchange sends a line under the next id and returns the result.
func (s *session) exchange(what string, line func(id uint64) ([]byte, error)) ([]byte, error) {
	s.lastID++
	text, err := line(s.lastID)
	if err != nil {
		return nil, err
	}
	if err := s.write(text); err != nil {
		return nil, err
	}
	result, err := s.answerOf(s.lastID, what)
	if err != nil {
		return nil, fmt.Errorf("%w\nsent: %.600s", err, text)
	}
	return result, nil
}

func unknownKeys(s *session) error {
	g := s.greaser()
	_, err := s.exchange("initialize", func(id uint64) ([]byte, error) {
		return g.line(id, provider.MethodInitialize, s.Initialize.AppendJSON(nil))
	})
	if err != nil {
		return err
	}
	for n := range 4 * len(s.Requests) {
		req := s.request(n)
		result, err := s.exchange(req.OperationID, func(id uint64) ([]byte, error) {
			return g.line(id, provider.MethodInvoke, req.AppendJSON(nil))
		})
		if err != nil {
			return err
		}
		if err := checkAnswer(req, result); err != nil {
			return err
		}
	}
	return nil
}

func spelling(s *session) error {
	if err := s.initialize(); err != nil {
		return err
	}
	for n := range s.Requests {
		req := s.request(n)
		req.Params.Header = append(provider.Object{
			{Name: "x-big", Value: []byte("9007199254740993")},
			{Name: "x-text", Value: []byte(`"\u00e9\/\ud83d\ude00\t"`)},
		}, req.Params.Header...)
		result, err := s.exchange(req.OperationID, func(id uint64) ([]byte, error) {
			params := strings.NewReplacer(`,"`, ` ,  "`, `"kind"`, `"k\u0069nd"`).Replace(string(req.AppendJSON(nil)))
			return fmt.Appendf(nil, " { \"jsonrpc\":\t\"2.0\" , \"id\": %d, \"method\":\"invoke\",\"params\": %s } \r\n", id, params), nil
		})
		if err != nil {
			return err
		}
		if err := checkAnswer(req, result); err != nil {
			return err
		}
	}
	return nil
}

func longLine(s *session) error {
	if err := s.initialize(); err != nil {
		return err
	}
	req := s.request(0)
	req.Params.Header = append(provider.Object{
		{Name: "x-long", Value: []byte(`"` + strings.Repeat("long ", 400_000) + `"`)},
	}, req.Params.Header...)
	result, err := s.ask(provider.MethodInvoke, req.AppendJSON(nil))
	if err != nil {
		return err
	}
	return checkAnswer(req, result)
}

func shutsDown(s *session) error {
	if err := s.initialize(); err != nil {
		return err
	}
	if _, err := s.ask(provider.MethodShutdown, []byte("{}")); err != nil {
		return err
	}
	s.stdin.Close()
	return s.untilEnd()
}

func endsWithInput(s *session) error {
	if err := s.initialize(); err != nil {
		return err
	}
	s.stdin.Close()
	return s.untilEnd()
}

// goesOn sends text that asks for nothing, then a request that must be answered
// as if it had not been there. A JSON-RPC error under ignored is fine.
func (s *session) goesOn(n int, text string, ignored uint64) error {
	if err := s.write([]byte(text)); err != nil {
		return fmt.Errorf("after %.100q: %w", text, err)
	}
	req := s.request(n)
	id, err := s.send(provider.MethodInvoke, req.AppendJSON(nil))
	if err != nil {
		return fmt.Errorf("after %.100q: %w", text, err)
	}
	for {
		m, got, err := s.receive(req.OperationID)
		switch {
		case err != nil:
			return fmt.Errorf("after %.100q: %w", text, err)
		case got == id:
			return checkAnswer(req, m.Result)
		case got != ignored || m.Failure() == nil:
			return fmt.Errorf("%.100q was answered with a result", text)
		}
	}
}

func unknownMethods(s *session) error {
	if err := s.initialize(); err != nil {
		return err
	}
	g := s.greaser()
	for n, method := range []string{"xUnknown/" + fmt.Sprint(g.rand.IntN(1e6)), "Invoke", ""} {
		s.lastID++
		text := provider.AppendRequest(nil, s.lastID, method, []byte(`{"a":[]}`))
		if err := s.goesOn(n, string(text), s.lastID); err != nil {
			return err
		}
	}
	return nil
}

func notifications(s *session) error {
	if err := s.initialize(); err != nil {
		return err
	}
	for n, text := range []string{`{"jsonrpc":"2.0","method":"xNote","params":{}}`, `{"jsonrpc":"2.0","method":"shutdown","params":{}}`} {
		if err := s.goesOn(n, text+"\n", 0); err != nil {
			return err
		}
	}
	return nil
}

func garbage(s *session) error {
	if err := s.initialize(); err != nil {
		return err
	}
	for n, text := range []string{"\n", "  \r\n", "hello\n", "{\"jsonrpc\":\n"} {
		if err := s.goesOn(n, text, 0); err != nil {
			return err
		}
	}
	return nil
}
