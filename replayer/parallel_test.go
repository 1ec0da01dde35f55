package replayer_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// A session is what one client does: it makes a thing, follows the id that the
// answer gives, and polls what all clients poll with one and the same request.
func session(client int) []string {
	id := fmt.Sprintf("T-%d", 1000+client)
	return []string{
		fmt.Sprintf(`POST /things {"name":"thing %d"} -> {"id":"%s","links":{"self":"/things/%s"}}`, client, id, id),
		`GET /config -> {"version":3}`,
		fmt.Sprintf(`GET /things/%s -> {"id":"%s","state":"new"}`, id, id),
		fmt.Sprintf(`POST /things/%s/parts {"of":"%s"} -> {"part":"P-%d"}`, id, id, 5000+client),
		`GET /config -> {"version":3}`,
		fmt.Sprintf(`GET /parts/P-%d -> {"of":"%s"}`, 5000+client, id),
		fmt.Sprintf(`GET /things/%s -> {"id":"%s","state":"built"}`, id, id),
	}
}

// interleaved is a recording of many clients at once, step by step.
func interleaved(clients int) (lines []string) {
	for step := range session(0) {
		for c := range clients {
			lines = append(lines, session(c)[step])
		}
	}
	return lines
}

// 64 clients over HTTP at once get each recorded answer, in any interleaving, and a
// client that uses what no answer gave yet is told so.
func TestParallelClientsReplayWithoutFalseMisses(t *testing.T) {
	const clients = 64
	for _, recorded := range []string{"side by side", "one after the other"} {
		lines := interleaved(clients)
		if recorded == "one after the other" {
			lines = nil
			for c := range clients {
				lines = append(lines, session(c)...)
			}
		}
		p := player(t, nil, lines...)
		if got := ask(t, p, "GET /parts/P-5003"); got != "[out_of_order]" {
			t.Errorf("%s: a part of nothing: %s", recorded, got)
		}
		ctx, stop := context.WithCancel(t.Context())
		server, err := replayer.Listen(ctx, "127.0.0.1:0", p, nil)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ctx) }()
		var wg sync.WaitGroup
		start := make(chan struct{})
		for c := range clients {
			wg.Go(func() {
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				<-start
				for i, line := range session((c * 29) % clients) { // not in recorded order
					call, want, _ := strings.Cut(line, " -> ")
					if got := overHTTP(client, server.URL(), call); got != want {
						t.Errorf("%s: client %d, step %d: %s: %s, want %s", recorded, c, i, call, got, want)
					}
				}
			})
		}
		close(start)
		wg.Wait()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if s := p.Stats(); s.Misses != 1 || s.Used < len(lines)-2*clients {
			t.Errorf("%s: %d of %d used, %d missed", recorded, s.Used, s.Interactions, s.Misses)
		}
	}
}

func overHTTP(client *http.Client, base, call string) string {
	words := strings.SplitN(call, " ", 3)
	var body io.Reader
	if len(words) == 3 {
		body = strings.NewReader(words[2])
	}
	req, err := http.NewRequest(words[0], base+words[1], body)
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// The same at the seam, where a contract reads the calls, and through the
// Transport: 64 goroutines, each answer once, nothing missed.
func TestParallelAtTheSeam(t *testing.T) {
	const clients = 64
	var lines []string
	for step := range 2 {
		for c := range clients {
			lines = append(lines, []string{
				fmt.Sprintf(`POST /tickets {"title":"t%d"} -> {"id":%d}`, c, 7000+c),
				fmt.Sprintf(`GET /tickets/%d -> {"id":%d,"title":"t%d"}`, 7000+c, 7000+c, c),
			}[step])
		}
	}
	p := newProvider(t, nil, lines...)
	transport, err := replayer.NewTransport([]*tape.Tape{tapeOf(t, lines...)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: transport}
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			made := invoke(t, p, fmt.Sprintf(`tickets.create body {"title":"t%d"}`, c))
			got := invoke(t, p, fmt.Sprintf("tickets.get path.id=%d", 7000+c))
			if made != fmt.Sprintf(`{"ok":true,"result":{"id":%d}}`, 7000+c) || got != fmt.Sprintf(`{"ok":true,"result":{"id":%d,"title":"t%d"}}`, 7000+c, c) {
				t.Errorf("client %d: %s, %s", c, made, got)
			}
			for _, line := range []string{lines[c], lines[clients+c]} {
				call, want, _ := strings.Cut(line, " -> ")
				if got := overHTTP(client, "", call); got != want {
					t.Errorf("client %d: %s: %s", c, call, got)
				}
			}
		})
	}
	wg.Wait()
	for _, s := range []replayer.Stats{p.Stats(), transport.Stats()} {
		if s.Misses != 0 || s.Used != len(lines) {
			t.Errorf("%d of %d used, %d missed", s.Used, len(lines), s.Misses)
		}
	}
}
