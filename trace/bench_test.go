package trace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkDiff prints MB/s of one file for the ways in which traces differ.
func BenchmarkDiff(b *testing.B) {
	const calls = 20000
	pad := strings.Repeat("lorem ipsum ", 30)
	write := func(name string, skip func(i int) bool, ms func(i int) int, swap bool) string {
		var out strings.Builder
		seq := 0
		for i := range calls {
			if skip(i) {
				continue
			}
			seq++
			body := fmt.Sprintf(`{"id":%d,"text":"%s"}`, i, pad)
			if swap {
				body = fmt.Sprintf(`{"text":"%s","id":%d.0}`, pad, i)
			}
			out.WriteString(strings.Replace(call(seq, "GET", fmt.Sprint("/", i%500), body), `"ms":1`, fmt.Sprintf(`"ms":%d`, ms(i)), 1))
		}
		file := filepath.Join(b.TempDir(), name)
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			b.Fatal(err)
		}
		return file
	}
	none := func(int) bool { return false }
	one := func(int) int { return 1 }
	base := write("base", none, one, false)
	for _, bm := range []struct {
		name, file string
		o          DiffOptions
	}{
		{"identical", write("same", none, one, false), DiffOptions{}},
		{"one line in 1000", write("few", none, func(i int) int { return 1 + i%1000/999 }, false), DiffOptions{}},
		{"ignored paths only", write("ms", none, func(i int) int { return i + 2 }, false), DiffOptions{Ignore: []string{"/provider/meta"}}},
		{"key order and number spelling", write("swap", none, one, true), DiffOptions{}},
		{"one call in 400 missing", write("gone", func(i int) bool { return i%400 == 7 }, one, false), DiffOptions{}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			info, err := os.Stat(base)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			for b.Loop() {
				if _, err := Diff(context.Background(), Input{Name: base}, Input{Name: bm.file}, &bm.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
