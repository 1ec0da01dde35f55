package replayer_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// bigCassette is a go-vcr cassette of n interactions, some 2 KB each.
func bigCassette(n int) []byte {
	var b bytes.Buffer
	b.WriteString("---\nversion: 1\ninteractions:\n")
	for i := range n {
		fmt.Fprintf(&b, "- request:\n    body: '{\"n\":%d,\"title\":\"ticket\"}'\n    form: {}\n    headers:\n      Content-Type:\n      - application/json\n", i)
		fmt.Fprintf(&b, "    url: https://api.example.com/v1/tickets/%d?expand=all\n    method: PUT\n  response:\n", i)
		fmt.Fprintf(&b, "    body: '{\"id\":%d,\"text\":\"%s\"}'\n", i, strings.Repeat("the lazy dog, ", 110))
		b.WriteString("    headers:\n      Content-Type:\n      - application/json\n    status: 200 OK\n    code: 200\n    duration: 12ms\n")
	}
	return b.Bytes()
}

// What a big tape costs: loaded and indexed, beside the YAML library's bare
// decode of the same bytes, and one look-up.
func BenchmarkBigTape(b *testing.B) {
	data := bigCassette(10000)
	load := func() (*tape.Tape, *replayer.Player) {
		rec, err := tape.Parse("big", data)
		if err != nil {
			b.Fatal(err)
		}
		p, err := replayer.NewPlayer([]*tape.Tape{rec}, &replayer.Options{AfterLast: replayer.AfterLoop})
		if err != nil {
			b.Fatal(err)
		}
		return rec, p
	}
	b.Run("load and index", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			load()
		}
	})
	b.Run("yaml.v3 alone", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var n yaml.Node
			if err := yaml.Unmarshal(data, &n); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("answer", func(b *testing.B) {
		rec, p := load()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := p.Answer(&rec.Interactions[i%len(rec.Interactions)].Request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("miss", func(b *testing.B) {
		_, p := load()
		for b.Loop() {
			if _, err := p.Answer(&tape.Request{Method: "PUT", URL: "/v1/tickets/none"}); err == nil {
				b.Fatal("answered")
			}
		}
	})
}
