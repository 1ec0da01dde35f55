package tape_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/replayer/tape"
)

// What is written is read back: the same requests, the same answers.
func TestWrittenFormsReadBack(t *testing.T) {
	files, err := filepath.Glob(real + "*/*.*")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, f := range []tape.Format{tape.GoVCR1, tape.GoVCR2, tape.VCRpy, tape.RubyVCR, tape.HAR} {
		n := 0
		for _, file := range files {
			rec, err := tape.LoadFile(file)
			if err != nil || len(rec.Interactions) == 0 {
				continue
			}
			var one, two bytes.Buffer
			if _, err := tape.Write(&one, f, rec.Interactions); err != nil {
				t.Fatal(err)
			}
			_, _ = tape.Write(&two, f, rec.Interactions)
			if !bytes.Equal(one.Bytes(), two.Bytes()) {
				t.Errorf("%s as %s: two writings differ", file, f)
			}
			again, err := tape.Parse("again", one.Bytes())
			if err != nil {
				t.Errorf("%s as %s: %v", file, f, err)
				continue
			}
			if again.Format != f || len(again.Interactions) != len(rec.Interactions) {
				t.Errorf("%s as %s: read as %s with %d of %d", file, f, again.Format, len(again.Interactions), len(rec.Interactions))
				continue
			}
			for i, it := range rec.Interactions {
				n++
				if bad := differs(it, again.Interactions[i]); bad != "" {
					t.Errorf("%s as %s: %s", it.Place(), f, bad)
				}
			}
		}
		if n < 50 {
			t.Errorf("%s: only %d interactions were compared", f, n)
		}
	}
}

func differs(a, b *tape.Interaction) string {
	x, errX := a.Response.Wire()
	y, errY := b.Response.Wire()
	if broken := errX != nil || errY != nil; broken {
		x, y = a.Response.Body, b.Response.Body
	}
	switch {
	case a.Request.Method != b.Request.Method || a.Request.URL != b.Request.URL:
		return "another request"
	case !bytes.Equal(a.Request.Body, b.Request.Body):
		return "another request body"
	case a.Response.Status != b.Response.Status:
		return "another status"
	case !bytes.Equal(x, y):
		p, errP := a.Response.Content()
		q, errQ := b.Response.Content()
		if errP != nil || errQ != nil || !bytes.Equal(p, q) { // another encoder's bytes are fine
			return "another body"
		}
	}
	for _, f := range a.Response.Header {
		if strings.Join(a.Response.Header.Values(f.Name), "\x00") != strings.Join(b.Response.Header.Values(f.Name), "\x00") {
			return "another header " + f.Name
		}
	}
	return ""
}

func TestWriteSaysWhatIsLost(t *testing.T) {
	list := []*tape.Interaction{
		{Tape: "t", Request: tape.Request{Method: "GET", URL: "http://a/"}, Failure: &tape.Failure{Message: "reset"}},
		{Tape: "t", Position: 1, Request: tape.Request{Method: "GET", URL: "http://a/"}, Response: tape.Response{Status: 200, Trailer: tape.Header{{Name: "X", Value: "1"}}}},
		{Tape: "t", Position: 2, Call: &tape.Call{Request: []byte(`{}`), Answer: []byte(`{"ok":true}`)}},
	}
	var b bytes.Buffer
	lost, err := tape.Write(&b, tape.VCRpy, list)
	if err != nil || len(lost) != 3 || !strings.Contains(lost[0].Reason, "t #0: it ended without an answer (reset)") ||
		lost[1].String() != "entry 0: the trailers" || !strings.Contains(lost[2].Reason, "holds no HTTP") {
		t.Errorf("%v %v", lost, err)
	}
	b.Reset()
	if lost, err = tape.Write(&b, tape.Provider, list); err != nil || len(lost) != 2 ||
		b.String() != `{"schema":"anvil.provider.recording/v1","request":{},"answer":{"ok":true}}`+"\n" {
		t.Errorf("%v %v %s", lost, err, b.String())
	}
	if _, err := tape.Write(&b, tape.Trace, list); err == nil || !strings.Contains(err.Error(), "serve --trace") {
		t.Errorf("a trace was written: %v", err)
	}
	b.Reset()
	if lost, err = tape.Write(&b, tape.GoVCR1, list[:2]); err != nil || len(lost) != 0 {
		t.Errorf("%v %v", lost, err)
	}
	again, err := tape.Parse("again", b.Bytes())
	if err != nil || again.Interactions[0].Failure == nil || again.Interactions[1].Response.Trailer.Get("x") != "1" {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// With this project's keys both formats of go-vcr hold all that is known.
func TestGoVCRLosesNothing(t *testing.T) {
	h := tape.Header{{Name: "x-odd", Value: "1"}, {Name: "Content-Encoding", Value: "gzip"}}
	it := &tape.Interaction{Tape: "t", Request: tape.Request{Method: "POST", URL: "http://a.test/x", Header: h[:1], Body: []byte("q")},
		Response: tape.Response{Status: 200, Reason: "Fine", Header: h, Body: []byte("ab"), Plain: true, Trailer: tape.Header{{Name: "X-T", Value: "2"}},
			Duration: 5, Stream: true, Chunks: []int{1, 1}, Cut: "why", Early: []tape.Early{{Status: 103, Header: tape.Header{{Name: "Link", Value: "</a>"}}}}}}
	broken := *it
	broken.Failure = &tape.Failure{Message: "why"}
	for _, c := range []struct {
		f  tape.Format
		it *tape.Interaction
	}{{tape.GoVCR1, it}, {tape.GoVCR2, it}, {tape.GoVCR1, &broken}, {tape.GoVCR2, &broken}} {
		f, it := c.f, c.it
		var b bytes.Buffer
		lost, err := tape.Write(&b, f, []*tape.Interaction{it})
		if err != nil || len(lost) > 0 {
			t.Fatal(lost, err)
		}
		again, err := tape.Parse("t", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		want := *it
		got := again.Interactions[0]
		got.Line, want.ID = 0, got.ID
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s: %s\n%s", f, diff, b.String())
		}
	}
}
