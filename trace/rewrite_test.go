package trace

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readOne(t *testing.T, text string) Line {
	t.Helper()
	r, err := Open(Input{Name: "t.jsonl", Reader: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	l.Text = bytes.Clone(l.Text)
	return l
}

func TestFacts(t *testing.T) {
	const http = `{"schema":"anvil.simulator.trace/v1","seq":3,"requestId":"r3","transport":"http","tool":"t_get","operationId":"t.get",` +
		`"request":{"method":"GET","path":"/t/1","query":{"q":["a b","\u00e9&"],"n":[1]}},"normalized":{"kind":"read","principal":{"id":"ann"},"tenantId":"acme"},` +
		`"provider":{"ok":false},"result":{"ok":false,"error":{"code":"not_found"}},"status":404,"response":null}`
	tests := []struct {
		name, in, target string
		want             Facts
	}{
		{"over HTTP", http, "GET /t/1?q=a+b&q=é%26&n=1", Facts{Seq: 3, RequestID: "r3", Transport: "http", Tool: "t_get", Operation: "t.get", Method: "GET", Path: "/t/1",
			Query: "q=a+b&q=é%26&n=1", Kind: "read", Principal: "ann", Tenant: "acme", Status: 404, Code: "not_found", Asked: true}},
		{"in process, merged", `{"schema":"anvil.simulator.trace/v1","seq":1,"tool":"t","request":{"input":{}},"provider":null,"result":{"ok":true},"source":{"name":"shop","seq":9}}`, "",
			Facts{Seq: 1, Tool: "t", OK: true, Source: "shop", SourceSeq: 9}},
		{"nothing but a head, other shapes", `{"schema":"anvil.simulator.trace/v1","seq":1,"request":3,"result":[],"status":"x","tool":{},"source":1}`, "", Facts{Seq: 1}},
		{"status of another kind", `{"schema":"anvil.simulator.trace/v1","seq":1,"status":1e99}`, "", Facts{Seq: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readOne(t, tt.in+"\n").Facts()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if got.Target() != tt.target {
				t.Errorf("target %q, want %q", got.Target(), tt.target)
			}
		})
	}
}

func TestParts(t *testing.T) {
	l := readOne(t, " { \"schema\":\"anvil.simulator.trace/v1\" , \"seq\" : 7,\"a\":[1, 2] } \n")
	var got []string
	for key, p := range l.Parts() {
		got = append(got, key+" "+string(p.Value))
		if at := string(l.Text[p.At : p.At+len(p.Value)]); at != string(p.Value) {
			t.Errorf("%s begins with %q", key, at)
		}
		if c := l.Text[p.From]; c != ',' && key != "schema" {
			t.Errorf("%s: found %q before it, want its comma", key, c)
		}
	}
	want := []string{`schema "anvil.simulator.trace/v1"`, "seq 7", "a [1, 2]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestOpenRun(t *testing.T) {
	line := func(seq string) string { return headPrefix + seq + `,"requestId":"r"}` + "\n" }
	text := line("1") + line("2") + headPrefix + "nope\n" + line("1") + line("3")
	tests := []struct {
		which, want, describe string
	}{
		{"", "2:1 2:3 ", "run 2 of 2 (the last), 2 calls"},
		{"2", "2:1 2:3 ", "run 2 of 2 (the last), 2 calls"},
	}
	for _, tt := range tests {
		r, side, err := OpenRun(context.Background(), Input{Name: "t", Reader: strings.NewReader(text)}, tt.which)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for {
			l, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			again, err := r.ReadAt(nil, l.Offset, len(l.Text))
			if err != nil || !bytes.Equal(again, l.Text) {
				t.Errorf("line %d again: %q, %v", l.Number, again, err)
			}
			got += string('0'+rune(l.Run)) + ":" + string('0'+rune(l.Seq)) + " "
		}
		if got != tt.want || side.Describe() != tt.describe {
			t.Errorf("run %q: %s, %s", tt.which, got, side.Describe())
		}
		if _, err := r.ReadAt(nil, int64(len(text))-2, 9); err == nil {
			t.Error("read beyond the end")
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	for which, want := range map[string]string{"1": "line 3", "all": "line 3", "9": "--run: t has 2 run(s)", "x": `--run: found "x"`} {
		if _, _, err := OpenRun(context.Background(), Input{Name: "t", Reader: strings.NewReader(text)}, which); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("run %q: %v, want %q", which, err, want)
		}
	}
}

func TestRewriter(t *testing.T) {
	rw, err := NewRewriter("--path", []string{"/a/*", "/**/x"}, func(pattern int, name string, value []byte) ([]byte, bool) {
		return []byte(`"` + string('0'+rune(pattern)) + name + strings.ReplaceAll(string(value), `"`, "") + `"`), name != "keep"
	})
	if err != nil {
		t.Fatal(err)
	}
	const head = `{"schema":"anvil.simulator.trace/v1","seq":1`
	for in, want := range map[string]string{
		`,"a":[1, "b"] }`:                 `,"a":["01", "0b"] }`,
		`,"a":{"keep":{"x":1},"y":2}}`:    `,"a":{"keep":{"x":"1x1"},"y":"0y2"}}`,
		`,"b":[[{"x": {"x":1}}]],"x":[]}`: `,"b":[[{"x": "1x{x:1}"}]],"x":"1x[]"}`,
		`,"c":"nothing"}`:                 `,"c":"nothing"}`,
	} {
		got, err := rw.Append([]byte("> "), readOne(t, head+in+"\n"))
		if err != nil || string(got) != "> "+head+want {
			t.Errorf("%s: %v\n got %s\nwant %s", in, err, got, "> "+head+want)
		}
	}
	bad := readOne(t, head+`,"requestId":"r","a":[1 2]}`+"\n")
	if _, err := rw.Append(nil, bad); err == nil {
		t.Error("bad JSON passed")
	}
	if _, err := NewRewriter("--path", []string{"a"}, nil); err == nil || !strings.HasPrefix(err.Error(), "--path: ") {
		t.Errorf("got %v", err)
	}
}
