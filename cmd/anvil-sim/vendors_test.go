package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The vendors' databases are made with fixtures init from their contracts, and
// hand-written rows are put into them. A script of calls is then played over
// HTTP, and what comes back is compared with SQL that the script says, over the
// state as the server hands it out.
func TestVendors(t *testing.T) {
	seeds := "../../store/seed/testdata/"
	for _, v := range []struct {
		name, contract string
		unmapped       int
	}{
		{"github", "testdata/vendors/github.air.yaml.gz", 2}, {"jira", "testdata/vendors/jira.air.yaml.gz", 1},
		{"slack", seeds + "slack.air.yaml.gz", 132}, {"asana", seeds + "asana.air.yaml.gz", 44},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			s := startVendor(t, v.name, v.contract)
			if n := strings.Count(s.gate, "no table: "); n != v.unmapped {
				t.Errorf("%d operations have no table, want %d:\n%s", n, v.unmapped, s.gate)
			}
			text, err := os.ReadFile("testdata/vendors/" + v.name + ".calls")
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range readSteps(t, string(text)) {
				s.play(step)
			}
			if s.calls < 50 {
				t.Errorf("%d calls were played, want 50", s.calls)
			}
		})
	}
}

// A session is a served vendor and the state that its script asks.
type session struct {
	t     *testing.T
	url   string
	trace string
	state string
	gate  string  // what fixtures check prints; some operation has no table
	db    *sql.DB // nil after a write, until it is asked for
	calls int
}

func startVendor(t *testing.T, name, contract string) *session {
	t.Helper()
	dir := t.TempDir()
	fixture, trace := filepath.Join(dir, name+".db"), filepath.Join(dir, "calls.jsonl")
	contract = abs(t, contract)
	run := func(args ...string) {
		if out, err := exec.Command("anvil-sim", args...).CombinedOutput(); err != nil {
			t.Fatalf("anvil-sim %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("fixtures", "init", "--contract", contract, "-o", fixture, "--rows", "0")
	rows, err := os.ReadFile("testdata/vendors/" + name + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", fixture+"?_foreign_keys=on")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(rows)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	args := []string{"--contract", contract, "--map", abs(t, "testdata/vendors/"+name+".map.yaml")}
	gate, err := exec.Command("anvil-sim", append([]string{"fixtures", "check", fixture}, args...)...).Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("fixtures check: %v, want exit code 1", err)
	}
	args = append(args, "--fixtures", fixture, "--admin", "--trace", trace, "--page-size", "50")
	return &session{t: t, url: serve(t, args...).url, trace: trace, state: filepath.Join(dir, "state"), gate: string(gate)}
}

// A step is one call of a script, or all pages of one.
type step struct {
	line    int
	method  string
	path    string
	next    string // where a page tells the next one: "link", or a path in the body
	param   string // the parameter that takes it
	headers [][2]string
	body    string
	kind    string // of the body
	status  int
	checks  [][2]string
}

// readSteps reads a script: blocks of a call, its headers and body, the status,
// and checks "WHAT = SQL".
func readSteps(t *testing.T, text string) (steps []*step) {
	t.Helper()
	var s *step
	for i, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || line[0] == '#':
			s = nil
		case s == nil:
			s = &step{line: i + 1, method: strings.TrimSuffix(word, "*"), path: rest}
			if method, paged := strings.CutSuffix(word, "*"); paged {
				f := strings.Fields(rest)
				s.method, s.next, s.param, s.path = method, f[0], f[1], f[2]
			}
			steps = append(steps, s)
		case s.status == 0 && line[0] == '{':
			s.body, s.kind = line, "application/json"
		case s.status == 0 && word == "form":
			s.body, s.kind = rest, "application/x-www-form-urlencoded"
		case s.status == 0 && strings.HasSuffix(word, ":"):
			s.headers = append(s.headers, [2]string{strings.TrimSuffix(word, ":"), rest})
		case s.status == 0:
			n, err := strconv.Atoi(line)
			if err != nil {
				t.Fatalf("line %d: want a status, found %q", i+1, line)
			}
			s.status = n
		default:
			sep := " = "
			if line[0] == '(' {
				sep = ") = "
			}
			what, want, ok := strings.Cut(line, sep)
			if !ok {
				t.Fatalf("line %d: want WHAT = SQL, found %q", i+1, line)
			}
			s.checks = append(s.checks, [2]string{what, want})
		}
	}
	return steps
}

// play sends a call, follows its pages, and checks what came.
func (s *session) play(st *step) {
	s.t.Helper()
	path := s.filled(st.path)
	var pages []any
	for {
		status, body, link := s.send(st, path)
		if status != st.status {
			s.t.Errorf("line %d: %s %s: status %d, want %d: %s", st.line, st.method, path, status, st.status, body)
			return
		}
		v := decode(body)
		pages = append(pages, v)
		next := ""
		if st.next == "link" {
			next = link
		} else if st.next != "" {
			if tok := pick(v, st.next); len(tok) == 1 && tok[0] != "null" && tok[0] != `""` {
				next = withParam(path, st.param, strings.Trim(tok[0], `"`))
			}
		}
		if next == "" || len(pages) > 50 {
			break
		}
		path = next
	}
	for _, c := range st.checks {
		s.check(st, pages, c[0], c[1])
	}
}

func (s *session) check(st *step, pages []any, what, want string) {
	s.t.Helper()
	var got []string
	switch {
	case what == "pages":
		got = []string{strconv.Itoa(len(pages))}
	case what[0] == '(':
		got = s.query(what[1:])
	case strings.HasPrefix(what, "meta."):
		got = pick(s.meta(), strings.TrimPrefix(what, "meta"))
	default:
		for _, p := range pages {
			got = append(got, pick(p, what)...)
		}
	}
	if !strings.HasPrefix(want, "SELECT ") && !strings.HasPrefix(want, "WITH ") {
		want = "SELECT " + want
	}
	if expected := s.query(want); !slices.Equal(got, expected) {
		s.t.Errorf("line %d: %s %s\n%s\n got %s\nwant %s", st.line, st.method, st.path, what, strings.Join(got, " "), strings.Join(expected, " "))
	}
}

var hole = regexp.MustCompile(`\{\{(.*?)\}\}`)

// filled puts the values of {{SQL}} in.
func (s *session) filled(text string) string {
	return hole.ReplaceAllStringFunc(text, func(m string) string {
		return strings.Trim(strings.Join(s.query(m[2:len(m)-2]), ","), `"`)
	})
}

// send sends one request; link is the path of the next page in the Link header.
func (s *session) send(st *step, path string) (status int, body []byte, link string) {
	s.t.Helper()
	req, err := http.NewRequest(st.method, s.url+path, strings.NewReader(s.filled(st.body)))
	if err != nil {
		s.t.Fatal(err)
	}
	if st.kind != "" {
		req.Header.Set("Content-Type", st.kind)
	}
	for _, h := range st.headers {
		req.Header.Set(h[0], h[1])
	}
	status, body, header := s.do(req)
	s.calls++
	if st.method != http.MethodGet && s.db != nil {
		s.db.Close()
		s.db = nil
	}
	if target, rest, ok := strings.Cut(strings.TrimPrefix(header.Get("Link"), "<"), ">"); ok && strings.Contains(rest, `"next"`) {
		if u, err := url.Parse(target); err == nil {
			link = u.RequestURI()
		}
	}
	return status, body, link
}

func (s *session) do(req *http.Request) (int, []byte, http.Header) {
	s.t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, body, res.Header
}

// query asks the state: the values of all rows, one after the other.
func (s *session) query(text string) (out []string) {
	s.t.Helper()
	if s.db == nil {
		req, err := http.NewRequest(http.MethodGet, s.url+"/__anvil/state", nil)
		if err != nil {
			s.t.Fatal(err)
		}
		_, file, _ := s.do(req)
		name := fmt.Sprintf("%s-%d", s.state, s.calls)
		if err := os.WriteFile(name, file, 0o600); err != nil {
			s.t.Fatal(err)
		}
		if s.db, err = sql.Open("sqlite3", name); err != nil {
			s.t.Fatal(err)
		}
		db := s.db
		s.t.Cleanup(func() { db.Close() })
	}
	rows, err := s.db.Query(text)
	if err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		s.t.Fatal(err)
	}
	vals := make([]any, len(cols))
	for rows.Next() {
		ptrs := make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			s.t.Fatal(err)
		}
		for _, v := range vals {
			out = append(out, plain(v))
		}
	}
	if err := rows.Err(); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	return out
}

// plain spells a value so that 5 and "5" differ, and true is SQLite's 1.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		if v {
			return "1"
		}
		return "0"
	case string:
		return strconv.Quote(v)
	case []byte:
		return strconv.Quote(string(v))
	case map[string]any, []any:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err.Error()
		}
		return strconv.Quote(strings.TrimSpace(b.String()))
	}
	return fmt.Sprint(v)
}

func decode(body []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// pick reads a path such as .items[].{id,owner.login}: [] goes over an array,
// braces take several fields of each.
func pick(v any, path string) (out []string) {
	if path == "" || path == "." {
		return []string{plain(v)}
	}
	if rest, ok := strings.CutPrefix(path, "[]"); ok {
		list, _ := v.([]any)
		for _, e := range list {
			out = append(out, pick(e, rest)...)
		}
		return out
	}
	path = strings.TrimPrefix(path, ".")
	if strings.HasPrefix(path, "[") {
		return pick(v, path)
	}
	if fields, ok := strings.CutPrefix(path, "{"); ok {
		for f := range strings.SplitSeq(strings.TrimSuffix(fields, "}"), ",") {
			out = append(out, pick(v, "."+f)...)
		}
		return out
	}
	key, rest := path, ""
	if i := strings.IndexAny(path, ".["); i >= 0 {
		key, rest = path[:i], path[i:]
	}
	m, _ := v.(map[string]any)
	return pick(m[key], rest)
}

func withParam(path, param, value string) string {
	u, err := url.Parse(path)
	if err != nil {
		return path
	}
	q := u.Query()
	q.Set(param, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// meta is what the trace says about the last call.
func (s *session) meta() any {
	s.t.Helper()
	text, err := os.ReadFile(s.trace)
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	last, _ := decode(lines[len(lines)-1]).(map[string]any)
	answer, _ := last["provider"].(map[string]any)
	return answer["meta"]
}
