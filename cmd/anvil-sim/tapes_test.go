package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// tapeFiles are the recordings of testdata, or those below the folders of the list
// ANVIL_TAPES, which scripts/replay-tapes.sh sets.
func tapeFiles(t *testing.T) (files []string) {
	t.Helper()
	dirs := filepath.SplitList(os.Getenv("ANVIL_TAPES"))
	if len(dirs) == 0 {
		dirs = []string{"../../replayer/testdata/real"}
	}
	for _, dir := range dirs {
		before := len(files)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) != ".md" {
				files = append(files, path)
			}
			return err
		})
		if err != nil || len(files) == before {
			t.Fatalf("no recordings in %s: %v", dir, err)
		}
	}
	return files
}

// loadTape loads a recording. One that is refused is told with its reason.
func loadTape(t *testing.T, file string) (rec *tape.Tape, refused bool) {
	t.Helper()
	rec, err := tape.LoadFile(file)
	if err != nil {
		if !strings.HasPrefix(err.Error(), file+": ") || len(err.Error()) < len(file)+20 {
			t.Errorf("refused without a reason: %v", err)
		}
		t.Logf("refused: %v", err)
		return nil, true
	}
	for _, s := range rec.Skipped {
		if s.Reason == "" {
			t.Errorf("%s: left out without a reason: %s", file, s)
		}
		t.Logf("%s: left out: %s", file, s)
	}
	return rec, false
}

// Every recording loads or is refused with a reason, and one that loads replays
// each of its own requests over HTTP to the recorded answer: N of N.
func TestEveryTapeReplaysItself(t *testing.T) {
	files := tapeFiles(t)
	loaded, asked, equal := 0, 0, 0
	for _, file := range files {
		rec, refused := loadTape(t, file)
		if refused {
			continue
		}
		loaded++
		player, err := replayer.NewPlayer([]*tape.Tape{rec}, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		ctx, stop := context.WithCancel(t.Context())
		server, err := replayer.Listen(ctx, "127.0.0.1:0", player, nil)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ctx) }()
		for _, it := range rec.Interactions {
			asked++
			if bad := askRaw(server.URL(), it); bad != "" {
				t.Errorf("%s: %s", it.Place(), bad)
				continue
			}
			equal++
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if s := player.Stats(); s.Used != len(rec.Interactions) || s.Misses != 0 {
			t.Errorf("%s: %d of %d used, %d missed", file, s.Used, len(rec.Interactions), s.Misses)
		}
	}
	t.Logf("%d recordings: %d load, %d are refused; %d of %d requests are answered as recorded", len(files), loaded, len(files)-loaded, equal, asked)
	if asked < 50 {
		t.Errorf("only %d requests", asked)
	}
}

// askRaw says how the answer to a recorded request differs from the recorded one.
func askRaw(base string, it *tape.Interaction) string {
	resp, body, err := exchangeRaw(base, it)
	switch {
	case it.Failure != nil && err == nil:
		return "a recorded failure is answered with " + resp.Status
	case it.Failure != nil:
		return ""
	case err != nil:
		return err.Error()
	}
	return differs(resp, body, it)
}

// exchangeRaw sends a recorded request as it stands, without a client that would
// change it.
func exchangeRaw(base string, it *tape.Interaction) (*http.Response, []byte, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: recorded.example\r\nConnection: close\r\n", it.Request.Method, targetOf(it.Request.URL))
	for _, f := range it.Request.Header {
		switch strings.ToLower(f.Name) {
		case "host", "connection", "content-length", "transfer-encoding", "expect":
			continue // the connection's own
		}
		if !strings.HasPrefix(f.Name, ":") {
			fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
		}
	}
	if len(it.Request.Body) > 0 {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(it.Request.Body))
	}
	b.WriteString("\r\n")
	b.Write(it.Request.Body)
	if _, err := conn.Write(b.Bytes()); err != nil {
		return nil, nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: it.Request.Method})
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// differs compares an answer with the recorded one.
func differs(resp *http.Response, body []byte, it *tape.Interaction) string {
	r := &it.Response
	if resp.StatusCode != r.Status {
		return fmt.Sprintf("status %d, recorded %d: %.200s", resp.StatusCode, r.Status, body)
	}
	want, err := r.Wire()
	if err != nil {
		want = r.Body
	}
	switch {
	case it.Request.Method == http.MethodHead, r.Status == http.StatusNoContent, r.Status == http.StatusNotModified:
		want = nil
	}
	if !bytes.Equal(body, want) {
		return fmt.Sprintf("a body of %d bytes, recorded %d: %.200q", len(body), len(want), body)
	}
	recorded := http.Header{}
	for _, f := range r.Header {
		switch name := http.CanonicalHeaderKey(f.Name); name {
		case "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "Trailer", "Upgrade", "Content-Length":
		default:
			if !strings.HasPrefix(name, ":") {
				recorded[name] = append(recorded[name], strings.TrimSpace(f.Value))
			}
		}
	}
	resp.Header.Del("Content-Length")
	resp.Header.Del("Connection")
	return cmp.Diff(recorded, resp.Header)
}

// targetOf is what a client of the recorded URL asks for: path and query, with
// what may not stand in a request line escaped.
func targetOf(url string) string {
	url, _, _ = strings.Cut(url, "#")
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	at := strings.IndexAny(url, "/?")
	switch {
	case at < 0:
		return "/"
	case url[at] == '?':
		url = "/" + url[at:]
	default:
		url = url[at:]
	}
	var b strings.Builder
	for _, c := range []byte(url) {
		if c <= ' ' || c >= 0x7F || c == '<' || c == '>' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
