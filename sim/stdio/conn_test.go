package stdio

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anvil-sim/anvil/internal/ndjson"
	"github.com/anvil-sim/anvil/provider"
)

// talk runs a conn whose requests f reads and whose answers it writes, with a
// clock that stands still unless everybody waits.
func talk(t *testing.T, f func(t *testing.T, c *conn, requests *ndjson.Reader, answers io.Writer)) {
	synctest.Test(t, func(t *testing.T) {
		requests, out := io.Pipe()
		in, answers := io.Pipe()
		c := newConn(out, 30*time.Second, func(s string) { t.Error(s) })
		go c.write()
		go c.read(ndjson.NewReader(in, 1<<20))
		f(t, c, ndjson.NewReader(requests, 1<<20), answers)
		answers.Close()
		requests.Close()
		c.fail(unavailable("the end"))
		synctest.Wait()
	})
}

func next(t *testing.T, r *ndjson.Reader) string {
	t.Helper()
	line, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return string(line.Bytes)
}

func TestDeadlineIsExact(t *testing.T) {
	talk(t, func(t *testing.T, c *conn, requests *ndjson.Reader, answers io.Writer) {
		began := time.Now()
		got := make(chan answer, 1)
		go func() { got <- c.ask(context.Background(), "invoke", []byte("{}")) }()
		if line, want := next(t, requests), `{"jsonrpc":"2.0","id":1,"method":"invoke","params":{}}`; line != want {
			t.Errorf("got %s, want %s", line, want)
		}
		a := <-got
		transport(t, a.err, provider.UpstreamTimeout, "'invoke' (id 1) within 30000 ms")
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("took %v", took)
		}
		// The late answer goes nowhere; the next call gets its own.
		go func() { got <- c.ask(context.Background(), "invoke", []byte("{}")) }()
		next(t, requests)
		io.WriteString(answers, `{"id":1,"result":"late"}`+"\n"+`{"id":2,"result":"own"}`+"\n")
		if a := <-got; string(a.result) != `"own"` {
			t.Errorf("got %s, %v", a.result, a.err)
		}
	})
}

func TestContextEndsACall(t *testing.T) {
	talk(t, func(t *testing.T, c *conn, requests *ndjson.Reader, _ io.Writer) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		a := c.ask(ctx, "invoke", []byte("{}"))
		transport(t, a.err, provider.UpstreamTimeout, "'invoke' (id 1)")
		if n := len(c.st.pending); n != 0 {
			t.Errorf("%d calls are pending", n)
		}
	})
}

// A request that was given up before it could be written is never written.
func TestGivenUpRequestsLeaveTheQueue(t *testing.T) {
	talk(t, func(t *testing.T, c *conn, requests *ndjson.Reader, answers io.Writer) {
		short, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		go c.ask(context.Background(), "first", []byte("{}"))
		synctest.Wait() // the writer hangs in the pipe with the first request
		c.ask(short, "second", []byte("{}"))
		go c.ask(context.Background(), "third", []byte("{}"))
		synctest.Wait()
		if line := next(t, requests); !strings.Contains(line, "first") {
			t.Errorf("got %s", line)
		}
		if line := next(t, requests); !strings.Contains(line, `"id":3,"method":"third"`) {
			t.Errorf("got %s", line)
		}
	})
}

func TestFailRetiresEveryCallOnce(t *testing.T) {
	talk(t, func(t *testing.T, c *conn, requests *ndjson.Reader, answers io.Writer) {
		got := make(chan answer, 8)
		for range 8 {
			go func() { got <- c.ask(context.Background(), "invoke", []byte("{}")) }()
		}
		synctest.Wait()
		c.fail(unavailable("dead"))
		c.fail(unavailable("dead again"))
		for range 8 {
			transport(t, (<-got).err, provider.UpstreamUnavailable, "dead")
		}
		a := c.ask(context.Background(), "invoke", nil)
		if a.err == nil || a.err.Error() != "dead" {
			t.Errorf("got %v, want the first reason", a.err)
		}
	})
}

func FuzzTake(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`, `{"id":1e0,"error":{"code":1e99,"message":"\ud800"}}`,
		`{"id":1,"id":2,"result":1,"result":2}`, `[{"id":1}]`, `{"id":1,"error":[1]}`, `{"id":"1"}`, "{", "\xff", `{"id":1}`,
		`{"id":-1}`, `{"id":1e999999999}`, `{"\u0069d":1,"result":[]}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		warned := 0
		c := newConn(io.Discard, time.Hour, func(string) { warned++ })
		w := &call{done: make(chan answer, 1)}
		id, err := c.enqueue(w, "invoke", nil)
		if err != nil {
			t.Fatal(err)
		}
		c.take(line)
		if len(w.done) == 1 {
			a := <-w.done
			if c.retire(id) != nil || warned > 0 {
				t.Fatal("answered and still there, or warned")
			}
			if a.result != nil {
				provider.ParseCanonical(a.result)
			}
		} else if c.retire(id) == nil {
			t.Fatal("retired without an answer")
		}
	})
}

func TestTail(t *testing.T) {
	long := strings.Repeat("é", 3000)
	for in, want := range map[string]string{
		"":                       "",
		"  a\n":                  "a",
		"x" + long:               long[:2*tailChars],
		long + "\n":              long[:2*(tailChars-1)],
		strings.Repeat("z", 1e6): strings.Repeat("z", tailChars),
		"bad \xff byte":          "bad \uFFFD byte",
	} {
		whole, pieces := new(tail), new(tail)
		io.WriteString(whole, in)
		for i := range len(in) {
			pieces.Write([]byte(in[i : i+1]))
		}
		if whole.String() != want || pieces.String() != want {
			t.Errorf("%.20q: got %.20q and %.20q, want %.20q", in, whole, pieces, want)
		}
	}
}
