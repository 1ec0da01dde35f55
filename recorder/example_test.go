package recorder_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/recorder"
)

// A client of an API records what it does; the tape has no secret.
func ExampleTransport() {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"id":7,"access_token":"a-secret-of-the-api"}`)
	}))
	defer api.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	rec, err := recorder.Open(filepath.Join(dir, "tape.yaml"), nil)
	if err != nil {
		panic(err)
	}
	client := &http.Client{Transport: &recorder.Transport{Recorder: rec}}
	resp, err := client.Get(api.URL + "/things/7")
	if err != nil {
		panic(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		panic(err)
	}
	if err := rec.Close(); err != nil {
		panic(err)
	}

	tape, _ := os.ReadFile(filepath.Join(dir, "tape.yaml"))
	fmt.Println("the client sees", string(body))
	for line := range strings.SplitSeq(string(tape), "\n") {
		if strings.Contains(line, "access_token") {
			fmt.Println("the tape holds", strings.TrimSpace(line))
		}
	}
	// Output:
	// the client sees {"id":7,"access_token":"a-secret-of-the-api"}
	// the tape holds body: '{"id":7,"access_token":"ANVIL-SECRET-0001"}'
}

type shop struct{}

func (shop) Invoke(context.Context, *provider.Request) (*provider.Response, error) {
	return provider.Result(map[string]any{"stock": 3})
}

// Any provider can be recorded where it meets the simulator.
func ExampleNewProvider() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "calls.jsonl")

	rec, err := recorder.NewProvider(shop{}, file, nil)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := rec.Invoke(ctx, &provider.Request{RequestID: "r1", OperationID: "stock.get", Kind: provider.KindRead, Action: "get"}); err != nil {
		panic(err)
	}
	if err := rec.Close(ctx); err != nil {
		panic(err)
	}
	line, _ := os.ReadFile(file)
	_, answer, _ := strings.Cut(strings.TrimSpace(string(line)), `"answer":`)
	fmt.Println(rec.Summary().Written, "line, with the answer", strings.TrimSuffix(answer, "}"))
	// Output:
	// 1 line, with the answer {"ok":true,"result":{"stock":3}}
}
