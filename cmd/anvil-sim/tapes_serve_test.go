package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/surface"
)

// contractOf describes what a recording calls, one operation a method and path, so
// that recordings whose own contract is not at hand go through a contract too.
func contractOf(t *testing.T, rec *tape.Tape) *air.Document {
	t.Helper()
	type m = map[string]any
	type seen struct {
		params   []any
		names    map[string]bool
		body     m
		statuses []int
		op       m
	}
	ops, byRoute := []any{}, map[string]*seen{}
	for _, it := range rec.Interactions {
		path, query, _ := strings.Cut(targetOf(it.Request.URL), "?")
		route := strings.ToLower(it.Request.Method) + " " + path
		s := byRoute[route]
		if s == nil {
			id := fmt.Sprintf("t.op%d", len(ops))
			kind := m{"kind": "mutation", "action": "other"}
			if it.Request.Method == http.MethodGet || it.Request.Method == http.MethodHead {
				kind = m{"kind": "read", "action": "get"}
			}
			s = &seen{names: map[string]bool{}, op: m{
				"id": id, "canonicalName": id, "displayName": id, "effect": kind, "state": "approved",
				"sourceRef":   m{"kind": "openapi", "path": path, "method": strings.ToLower(it.Request.Method)},
				"idempotency": m{"mode": "none"}, "retries": m{"mode": "none"}, "confirmation": m{}, "auth": m{"type": "none"},
				"cli": m{"command": id}, "mcp": m{"toolName": strings.ReplaceAll(id, ".", "_")}, "skill": m{},
			}}
			byRoute[route] = s
			ops = append(ops, s.op)
		}
		for pair := range strings.SplitSeq(query, "&") {
			name, _, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(name); err == nil {
				name = plain
			}
			if name != "" && !s.names[name] {
				s.params = append(s.params, m{"name": name, "in": "query"})
			}
			s.names[name] = true
		}
		if len(it.Request.Body) > 0 && s.body == nil {
			media, _, err := mime.ParseMediaType(it.Request.Header.Get("Content-Type"))
			if err != nil {
				media = "application/octet-stream"
			}
			s.body = m{"projection": "whole", "contentType": media}
		}
		if st := it.Response.Status; st >= 200 && st < 300 && !slices.Contains(s.statuses, st) {
			s.statuses = append(s.statuses, st)
		}
	}
	for _, s := range byRoute {
		input := m{"params": append([]any{}, s.params...)}
		if s.body != nil {
			input["body"] = s.body
		}
		s.op["input"] = input
		if s.statuses != nil {
			s.op["output"] = m{"successStatuses": s.statuses}
		}
	}
	text, err := json.Marshal(m{"service": m{"id": "t", "version": "1", "source": m{"kind": "openapi"}}, "operations": ops})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := air.Parse(rec.Name, text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Each recording that loads replays its requests through the simulator, on the
// terms of a contract. What the recording itself has lost is a miss, or refused.
func TestEveryTapeThroughAContract(t *testing.T) {
	n := through{}
	for _, file := range tapeFiles(t) {
		rec, err := tape.LoadFile(file)
		if err != nil || len(rec.Interactions) == 0 {
			continue // told by the test above
		}
		n.replay(t, rec, contractOf(t, rec), rec.Interactions)
	}
	t.Logf("%d of %d requests are answered as recorded through a contract of their own, %d are misses since the recording lost them", n.equal, n.asked, n.lost)
	if n.asked < 50 {
		t.Errorf("only %d requests", n.asked)
	}
}

// The contracts in ANVIL_CONTRACTS, a folder, serve what was recorded of their
// servers. Without it the one of testdata does.
func TestTapesThroughTheirContracts(t *testing.T) {
	dir := os.Getenv("ANVIL_CONTRACTS")
	if dir == "" {
		dir = "testdata/contracts"
	}
	contracts, err := filepath.Glob(filepath.Join(dir, "*.air.yaml*"))
	if err != nil || len(contracts) == 0 {
		t.Fatalf("no contracts in %s: %v", dir, err)
	}
	n := through{declared: true}
	for _, contract := range contracts {
		doc, err := air.Load(contract)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range tapeFiles(t) {
			if rec, err := tape.LoadFile(file); err == nil {
				n.replay(t, rec, doc, ofServers(t, rec, doc))
			}
		}
	}
	t.Logf("%d of %d requests are answered as recorded through the API's own contract", n.equal, n.asked)
	if n.asked == 0 {
		t.Error("no recording is of a contract's servers")
	}
}

// ofServers are the interactions with the servers of a contract that it describes.
func ofServers(t *testing.T, rec *tape.Tape, doc *air.Document) (list []*tape.Interaction) {
	t.Helper()
	player, err := replayer.NewProvider([]*tape.Tape{rec}, doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range rec.Interactions {
		u, err := url.Parse(it.Request.URL)
		if err != nil || u.Host == "" || slices.Contains(player.Apart(), it) {
			continue
		}
		if slices.ContainsFunc(doc.Service.Servers, func(s string) bool { return strings.Contains(s, "://"+u.Host) }) {
			list = append(list, it)
		}
	}
	return list
}

// through counts what was asked through a contract.
type through struct {
	asked, equal, lost int
	declared           bool // a success has the contract's own status
}

func (n *through) replay(t *testing.T, rec *tape.Tape, doc *air.Document, list []*tape.Interaction) {
	t.Helper()
	if len(list) == 0 {
		return
	}
	player, err := replayer.NewProvider([]*tape.Tape{rec}, doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(doc, &sim.Options{Provider: player})
	if err != nil {
		t.Fatal(rec.Name, err)
	}
	handler, err := surface.New(s, nil)
	if err != nil {
		t.Fatal(rec.Name, err)
	}
	srv := httptest.NewServer(handler)
	defer srv.Close()
	for _, it := range list {
		n.asked++
		_, unreadable := it.Response.Content()
		lossy := unreadable != nil || slices.ContainsFunc(rec.Notes, func(s tape.Skip) bool { return s.Position == it.Position })
		switch bad := askThrough(srv.URL, it, n.declared); {
		case bad == "":
			n.equal++
		case lossy && (strings.Contains(bad, "no recorded answer") || strings.Contains(bad, "status 400")):
			n.lost++
		default:
			t.Errorf("%s: %s %.80s: %s", it.Place(), it.Request.Method, it.Request.URL, bad)
		}
	}
}

// askThrough says how an answer differs from the recorded one; declared is that a
// success has the contract's own status.
func askThrough(base string, it *tape.Interaction, declared bool) string {
	got, body, err := exchangeRaw(base, it)
	if err != nil {
		return err.Error()
	}
	want, err := it.Response.Content()
	if err != nil {
		want = it.Response.Body
	}
	switch r := &it.Response; {
	case got.StatusCode != r.Status && !(declared && got.StatusCode/100 == 2 && r.Status/100 == 2):
		return fmt.Sprintf("status %d, recorded %d: %.300s", got.StatusCode, r.Status, body)
	case it.Request.Method == http.MethodHead || r.Status == http.StatusNoContent || r.Status == http.StatusResetContent:
		return ""
	case sameJSON(body, want):
		return ""
	case len(want) == 0 && (r.Status >= 300 || string(body) == "null"):
		return "" // an answer without a body is the contract's error, or null
	case !utf8.Valid(want) && sameJSON(body, []byte(base64.StdEncoding.EncodeToString(want))):
		return "" // as JSON carries bytes
	}
	return fmt.Sprintf("body %.200q, recorded %.200q", body, want)
}

// sameJSON compares JSON by value; what is no JSON is a string in an answer of the
// simulator.
func sameJSON(got, want []byte) bool {
	w, err := canon.Parse(want, canon.Lenient)
	if err != nil {
		w = canon.NewString(string(want))
	}
	g, err := canon.Parse(got, canon.Lenient)
	return err == nil && bytes.Equal(canon.AppendIdentity(nil, g), canon.AppendIdentity(nil, w))
}
