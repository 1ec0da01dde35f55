package canon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

// record is one object of about a kilobyte, as an API answers it.
func record(i int) string {
	return fmt.Sprintf(`{"id":"ticket_%06x","subject":"Printer on floor %d does not answer","status":"active","priority":%d,`+
		`"score":%d.75,"urgent":false,"tags":["hardware","floor-%d","näher am Fenster"],"created_at":"2026-01-01T00:00:00Z",`+
		`"requester":{"id":%d,"name":"Ada Example","email":"user@example.com","locale":"en-GB","time_zone":"Europe/Berlin"},`+
		`"description":"The printer was fine on Monday. Since then it takes a page, blinks twice and says \"tray 2\".\nWe tried another cable.",`+
		`"custom_fields":[{"id":1,"value":null},{"id":2,"value":"north"},{"id":3,"value":[1,2,3]},{"id":4,"value":12.5e3}],`+
		`"via":{"channel":"web","source":{"from":{},"to":{},"rel":null}},"url":"https://example.com/api/v2/tickets/%d.json",`+
		`"satisfaction":{"score":"unoffered"},"sharing":[],"followers":[%d,%d,%d],"due_at":null,"is_public":true,`+
		`"metrics":{"replies":3,"reopens":0,"first_reply_minutes":1432,"full_resolution_minutes":9007199254740993}}`,
		i, i, i%5, i%100, i, i, i, i+1, i+2, i+3)
}

// page is one array of about size bytes.
func page(size int) []byte {
	out := []byte{'['}
	for i := 0; len(out) < size; i++ {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, record(i)...)
	}
	return append(out, ']')
}

func BenchmarkCompact(b *testing.B) {
	var wide bytes.Buffer
	wide.WriteString(`{"k":0`)
	for i := range 20_000 {
		fmt.Fprintf(&wide, `,"key_%d":"value %d"`, i, i)
	}
	wide.WriteString("}")
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, page(64<<10), "", "  "); err != nil {
		b.Fatal(err)
	}
	for _, in := range []struct {
		name string
		text []byte
	}{
		{"1KB", []byte(record(1))},
		{"1MB", page(1 << 20)},
		{"spaced", spaced.Bytes()},
		{"wide", wide.Bytes()},
	} {
		dst := make([]byte, 0, 2*len(in.text))
		run := func(name string, f func() bool) {
			b.Run(in.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(in.text)))
				b.ReportAllocs()
				for b.Loop() {
					if !f() {
						b.Fatal("the text was refused")
					}
				}
			})
		}
		run("canon", func() bool {
			_, err := canon.AppendCompact(dst[:0], in.text, canon.Lenient)
			return err == nil
		})
		run("json.Valid", func() bool { return json.Valid(in.text) })
		run("json.Compact", func() bool {
			buf := bytes.NewBuffer(dst[:0])
			return json.Compact(buf, in.text) == nil
		})
		run("Parse", func() bool {
			_, err := canon.Parse(in.text, canon.Lenient)
			return err == nil
		})
	}
}
