package recorder

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain plays the recorder that is killed.
func TestMain(m *testing.M) {
	if target := os.Getenv("ANVIL_TEST_TARGET"); target != "" {
		if err := victim(target, os.Getenv("ANVIL_TEST_TAPE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func victim(target, tape string) error {
	rec, err := Open(tape, &Options{Random: rand.Reader, Append: true})
	if err != nil {
		return err
	}
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	p, err := NewProxy(rec, ProxyOptions{Target: u})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return p.Serve(context.Background(), l, time.Second)
}

// A recorder that is killed at any moment leaves a tape that loads, with every
// exchange that its client saw finished. ANVIL_KILLS sets how many moments.
func TestKill(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv("ANVIL_KILLS"))
	if err != nil {
		kills = 5
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		text := strings.Repeat("zwölf Boxkämpfer 日本 "+r.URL.RawQuery+"\n", 1+n*n%4000)
		if n%3 == 0 {
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		}
		_, _ = io.WriteString(w, text)
	}))
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "tape.yaml")
	var finished sync.Map
	var n atomic.Int64
	for k := range kills {
		base, child := startVictim(t, srv.URL, path)
		client := rawClient(t)
		moment := make(chan struct{}, 1<<16)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					id := fmt.Sprintf("n=%d", n.Add(1))
					resp, err := client.Get(base + "/?" + id)
					if err != nil {
						return
					}
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					if err != nil {
						return
					}
					finished.Store(id, true)
					moment <- struct{}{}
				}
			})
		}
		for range 1 + k*7%11 {
			<-moment
		}
		for range k * 1009 % 5000 { // somewhere inside of the next exchanges
			_ = n.Load()
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		_ = child.Wait()
		onTape := map[string]bool{}
		for _, it := range load(t, path) {
			_, id, _ := strings.Cut(it.URL, "?")
			onTape[id] = true
		}
		finished.Range(func(id, _ any) bool {
			if !onTape[id.(string)] {
				t.Errorf("kill %d: %s was finished and is not on the tape", k, id)
			}
			return true
		})
	}
	rec := open(t, path, &Options{Append: true})
	closed(t, rec)
	load(t, path)
}

func startVictim(t *testing.T, target, tape string) (string, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ANVIL_TEST_TARGET="+target, "ANVIL_TEST_TAPE="+tape)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), cmd
}
