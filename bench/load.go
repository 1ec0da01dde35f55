package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A result is what one measurement found.
type result struct {
	Requests int     `json:"requests"`
	Failed   int     `json:"failed"` // answers that are no success
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	CPU      float64 `json:"cpu_us"` // of the server, for one request; 0 where the system does not tell
}

func (r result) rate() float64 { return float64(r.Requests) / r.Seconds }

// loadPart is the load generator as a process.
func loadPart(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	target := flags.String("url", "", "")
	conns := flags.Int("conns", 1, "")
	length := flags.Duration("for", time.Second, "")
	post := flags.String("post", "", "file")
	slow := flags.String("slow", "", "path that one more client asks for; its answers are not counted")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var body []byte
	if *post != "" {
		var err error
		if body, err = os.ReadFile(*post); err != nil {
			return err
		}
	}
	r, err := load(ctx, *target, body, *conns, *length, *slow)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}

// load asks one URL over keep-alive connections, each with one request at a
// time, and counts the answers of a while. A body is posted; nil asks with GET.
func load(ctx context.Context, target string, body []byte, conns int, length time.Duration, slow string) (result, error) {
	u, err := url.Parse(target)
	if err != nil {
		return result{}, err
	}
	request := []byte("GET " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\n\r\n")
	if body != nil {
		request = fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			u.RequestURI(), u.Host, len(body), body)
	}
	clients := make([]*client, conns)
	for i := range clients {
		if clients[i], err = dial(ctx, u.Host, request); err != nil {
			return result{}, err
		}
		defer clients[i].conn.Close()
		clients[i].times = make([]time.Duration, 0, 1<<16)
	}
	if slow != "" {
		hold, err := hold(ctx, u.Host, slow)
		if err != nil {
			return result{}, err
		}
		defer hold()
	}
	began := time.Now()
	err = askAll(ctx, clients, began.Add(length))
	r := result{Seconds: time.Since(began).Seconds()}
	var times []time.Duration
	for _, c := range clients {
		times = append(times, c.times...)
		r.Failed += c.failed
	}
	r.Requests = len(times)
	slices.Sort(times)
	r.P50, r.P99 = percentile(times, 0.50), percentile(times, 0.99)
	return r, err
}

// hold asks for a path on a connection of its own, over and over, so that one of
// its requests is always under way.
func hold(ctx context.Context, host, path string) (stop func(), err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	c := newClient(conn, []byte("GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n"))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for err := error(nil); err == nil; { // until the connection is closed
			_, err = c.once()
		}
	}()
	return func() {
		conn.Close()
		<-ended
	}, nil
}

// percentile is in milliseconds, of sorted times.
func percentile(times []time.Duration, p float64) float64 {
	if len(times) == 0 {
		return 0
	}
	return float64(times[int(p*float64(len(times)-1))]) / float64(time.Millisecond)
}

type client struct {
	conn    net.Conn
	in      *bufio.Reader
	out     io.Writer
	request []byte
	last    time.Time // the last answer
	times   []time.Duration
	failed  int
}

func newClient(conn net.Conn, request []byte) *client {
	return &client{conn: conn, in: bufio.NewReaderSize(conn, 16<<10), out: conn, request: request}
}

func dial(ctx context.Context, host string, request []byte) (*client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	c := newClient(conn, request)
	if _, err := c.once(); err != nil { // the connection stands before the clock runs
		conn.Close()
		return nil, err
	}
	return c, nil
}

// count reads an answer and counts it.
func (c *client) count() error {
	status, err := c.receive()
	if err != nil {
		return err
	}
	now := time.Now()
	c.times = append(c.times, now.Sub(c.last))
	c.last = now
	if status/100 != 2 {
		c.failed++
	}
	return nil
}

// once sends the request and reads its answer to the end.
func (c *client) once() (status int, err error) {
	if err := c.send(); err != nil {
		return 0, err
	}
	return c.receive()
}

func (c *client) send() error {
	_, err := c.out.Write(c.request)
	return err
}

// receive reads an answer to its end.
func (c *client) receive() (status int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, fmt.Errorf("not an HTTP answer: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length, chunked, err := c.head()
	if err != nil {
		return 0, err
	}
	if chunked {
		return status, c.chunks()
	}
	_, err = c.in.Discard(length)
	return status, err
}

func (c *client) head() (length int, chunked bool, err error) {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, false, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return length, chunked, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, false, err
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			chunked = true
		}
	}
}

func (c *client) chunks() error {
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(strings.TrimSpace(line), 16, 31)
		if err != nil {
			return err
		}
		if _, err := c.in.Discard(int(n) + 2); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}
