package coding

import (
	"bytes"
	"compress/flate"
	"slices"
	"strings"
	"testing"
)

func TestBackAndForth(t *testing.T) {
	text := []byte(strings.Repeat("some text ", 1000))
	for _, names := range [][]string{nil, {"gzip"}, {"deflate"}, {"br"}, {"zstd"}, {"gzip", "br"}} {
		coded, err := Encode(text, names)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Encode(text, names)
		if !bytes.Equal(coded, again) {
			t.Errorf("%v: two encodings differ", names)
		}
		if got, err := Decode(coded, names, 1<<20); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%v: %v, %d bytes", names, err, len(got))
		}
		if len(names) > 0 {
			if _, err := Decode(coded, names, 100); err == nil || !strings.Contains(err.Error(), "more than 100 bytes") {
				t.Errorf("%v: a bomb: %v", names, err)
			}
			if _, err := Decode(coded[:len(coded)/2], names, 1<<20); err == nil {
				t.Errorf("%v: half a body is whole", names)
			}
		}
	}
}

func TestRawDeflate(t *testing.T) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 5)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("raw"))
	_ = w.Close()
	if got, err := Decode(b.Bytes(), []string{"deflate"}, 10); err != nil || string(got) != "raw" {
		t.Errorf("%v %q", err, got)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   []string
		known  bool
	}{
		{nil, nil, true},
		{[]string{"GZIP , br", "identity"}, []string{"gzip", "br"}, true},
		{[]string{"x-gzip", "lzma"}, []string{"x-gzip"}, false},
	} {
		if got, known := Names(c.values); !slices.Equal(got, c.want) || known != c.known {
			t.Errorf("%q: %v %v", c.values, got, known)
		}
	}
	if _, err := Encode(nil, []string{"lzma"}); err == nil {
		t.Error("an unknown coding was made")
	}
	if _, err := Decode(nil, []string{"lzma"}, 1); err == nil {
		t.Error("an unknown coding was read")
	}
	for text, want := range map[string]string{"\x1f\x8b\b": "gzip", "\x28\xb5\x2f\xfd": "zstd", "x": ""} {
		if got := Marked([]byte(text)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
