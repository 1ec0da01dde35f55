package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestReader(t *testing.T) {
	first := gets("/1", "/2")
	data := "\xEF\xBB\xBF" + strings.ReplaceAll(first, "\n", "\r\n") + "\n" + call(2, "GET", "/2", "1") + strings.TrimSuffix(call(1, "GET", "/1", "1"), "\n")
	r, err := Open(text("calls", data))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		ln, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if string(ln.Text) != data[ln.Offset:int(ln.Offset)+len(ln.Text)] {
			t.Errorf("line %d is not what stands at byte %d: %s", ln.Number, ln.Offset, ln.Text)
		}
		got = append(got, fmt.Sprintf("%d/%d@%d", ln.Run, ln.Seq, ln.Number))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "1/1@1 1/2@2 2/2@4 2/1@5"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReaderErrors(t *testing.T) {
	good := gets("/1")
	for name, data := range map[string]string{"empty": "", "cut": good + good[:len(good)-30], "no trace": good + "x\n", "torn inside": good[:50] + "\n" + good} {
		r, err := Open(text("calls", data))
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = r.Read()
		}
		if !errors.As(err, new(*InputError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(Input{Name: "testdata/none"}); err == nil {
		t.Error("a missing file opened")
	}
}

// FuzzReader: nothing panics, and the lines are parts of the input in order.
func FuzzReader(f *testing.F) {
	for _, data := range seedTraces(f) {
		f.Add(data)
	}
	f.Add([]byte("\xEF\xBB\xBF{}\n"))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Add([]byte(`{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"\`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Open(text("fuzz", string(data)))
		if err != nil {
			return
		}
		end := int64(0)
		for {
			ln, err := r.Read()
			if err != nil {
				break
			}
			if ln.Offset < end || compression(data) == "" && string(data[ln.Offset:ln.Offset+int64(len(ln.Text))]) != string(ln.Text) {
				t.Fatalf("line %d at %d is not in the input", ln.Number, ln.Offset)
			}
			end = ln.Offset + int64(len(ln.Text))
		}
	})
}
