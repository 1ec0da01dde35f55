package conformance

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/anvil-sim/anvil/internal/canon"
)

// send sends a recorded request over a connection of its own. The request is
// written by hand: its target and its headers go out as they were recorded.
func send(origin string, request *canon.Value, sent func()) answer {
	a, err := exchange(origin, request, sent)
	if err != nil {
		return answer{err: err}
	}
	return a
}

func exchange(origin string, request *canon.Value, sent func()) (answer, error) {
	u, err := url.Parse(origin)
	if err != nil {
		return answer{}, err
	}
	const patience = 40 * time.Second
	conn, err := net.DialTimeout("tcp", u.Host, patience)
	if err != nil {
		return answer{}, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return answer{}, err
	}
	message, err := requestText(origin, u.Host, request)
	if err != nil {
		return answer{}, err
	}
	if _, err := io.WriteString(conn, message); err != nil {
		return answer{}, err
	}
	if sent != nil {
		sent()
	}
	return readAnswer(conn, origin, request.Get("method").Text())
}

func requestText(origin, host string, request *canon.Value) (string, error) {
	body, hasBody, err := requestBody(request)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", request.Get("method").Text(), strings.ReplaceAll(request.Get("path").Text(), "{{origin}}", origin))
	headers := request.Get("headers").Members()
	named := false
	for _, m := range headers {
		named = named || strings.EqualFold(m.Key, "host")
	}
	if !named {
		fmt.Fprintf(&b, "Host: %s\r\n", host)
	}
	for _, m := range headers {
		if !strings.EqualFold(m.Key, "content-length") {
			fmt.Fprintf(&b, "%s: %s\r\n", m.Key, latin1(strings.ReplaceAll(m.Value.Text(), "{{origin}}", origin)))
		}
	}
	if hasBody {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.WriteString(body)
	return b.String(), nil
}

func requestBody(request *canon.Value) (body string, ok bool, err error) {
	if v := request.Get("bodyBase64"); v.Is(canon.String) {
		raw, err := base64.StdEncoding.DecodeString(v.Text())
		return string(raw), true, err
	}
	if v := request.Get("bodyRepeat").Elems(); len(v) == 2 {
		return strings.Repeat(v[0].Text(), int(v[1].Float())), true, nil
	}
	v := request.Get("body")
	return v.Text(), v.Is(canon.String), nil
}

// latin1 encodes a header value as HTTP carries it, one byte a character.
func latin1(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func fromLatin1(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// readAnswer reads one answer. Header lines are read by hand, to keep the order
// and the first of several.
func readAnswer(conn io.Reader, origin, method string) (answer, error) {
	r := bufio.NewReader(conn)
	status, err := readLine(r)
	if err != nil {
		return answer{}, err
	}
	a := answer{headers: map[string]string{}}
	fields := strings.SplitN(status, " ", 3)
	if len(fields) < 2 || !strings.HasPrefix(status, "HTTP/1.") {
		return answer{}, fmt.Errorf("not an HTTP answer: %q", status)
	}
	if a.status, err = strconv.Atoi(fields[1]); err != nil {
		return answer{}, err
	}
	head := status + "\r\n"
	for {
		line, err := readLine(r)
		if err != nil {
			return answer{}, err
		}
		head += line + "\r\n"
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		name = strings.ToLower(name)
		if _, ok := a.headers[name]; !ok {
			a.order = append(a.order, name)
			a.headers[name] = strings.TrimSpace(strings.ReplaceAll(fromLatin1(value), origin, "{{origin}}"))
		}
	}
	// net/http knows how a body ends.
	response, err := http.ReadResponse(bufio.NewReader(io.MultiReader(strings.NewReader(head), r)), &http.Request{Method: method})
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	a.body = strings.ReplaceAll(strings.ToValidUTF8(string(body), "\uFFFD"), origin, "{{origin}}")
	return a, err
}

func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}
