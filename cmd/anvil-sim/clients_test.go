package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/store"
)

// Sixty-four clients read while one writes, on a private copy and on the file
// itself: every call is answered, no page shows another moment than its total,
// nobody sees a row vanish, and every write is there at the end.
func TestManyReadersOneWriter(t *testing.T) {
	const readers, writes = 64, 40 // all rows fit on one page
	for _, flags := range [][]string{nil, {"--in-place"}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			file := t.TempDir() + "/notes.db"
			makeNotes(t, file)
			p := serve(t, append([]string{"--fixtures", file}, flags...)...)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: readers + 1}}
			defer client.CloseIdleConnections()
			written := make(chan struct{})
			var all sync.WaitGroup
			for range readers {
				all.Go(func() { readUntil(t, client, p.url+"/note", written) })
			}
			for i := range writes {
				res, err := client.Post(p.url+"/note", "application/json", bytes.NewReader(fmt.Appendf(nil, `{"text":"note %d"}`, i)))
				if err != nil {
					t.Error(err)
					break
				}
				body, err := io.ReadAll(res.Body)
				res.Body.Close()
				if want := fmt.Sprintf(`{"id":%d,"text":"note %d"}`, i+4, i); err != nil || res.StatusCode != http.StatusCreated || string(bytes.TrimSpace(body)) != want {
					t.Errorf("write %d: %d %s (%v)", i, res.StatusCode, body, err)
				}
			}
			close(written)
			all.Wait()
			if got := p.page("/note"); len(got.Items) != writes+3 {
				t.Errorf("%d rows at the end, want %d", len(got.Items), writes+3)
			}
		})
	}
}

// readUntil reads the list over and over, at least once.
func readUntil(t *testing.T, client *http.Client, url string, end <-chan struct{}) {
	last := 0
	for {
		res, err := client.Get(url)
		if err != nil {
			t.Error(err)
			return
		}
		var got struct {
			Items []json.RawMessage `json:"items"`
			Total int               `json:"total"`
		}
		err = json.NewDecoder(res.Body).Decode(&got)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || len(got.Items) != got.Total || got.Total < last {
			t.Errorf("status %d, %d items of %d after %d (%v)", res.StatusCode, len(got.Items), got.Total, last, err)
			return
		}
		last = got.Total
		select {
		case <-end:
			return
		default:
		}
	}
}

func makeNotes(t *testing.T, file string) {
	t.Helper()
	db, err := store.OpenSQL(context.Background(), "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL); INSERT INTO note (text) VALUES ('a'), ('b'), ('c')",
		&store.Options{SaveState: file})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
