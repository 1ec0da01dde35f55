package importer

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// FuzzCSV: whatever is read has the cells that are written down again.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a\n\"x\"\"y\"\n", "a;b\r\n;\r\n", "a,b\n\"1\n2\",\n", "\"", "a\n\"", "\xEF\xBB\xBFa\n1", ",\n,", "a\n\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, names, err := newCSV(strings.NewReader(text), 0)
		if err != nil {
			return
		}
		var out strings.Builder
		put := func(s string, q bool) {
			if q {
				s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
			}
			out.WriteString(s)
		}
		for i, n := range names {
			if i > 0 {
				out.WriteByte(r.comma)
			}
			put(n, true)
		}
		out.WriteByte('\n')
		var all [][]cell
		for {
			cells, _, err := r.next(nil)
			if err == io.EOF {
				break
			}
			if err != nil {
				return
			}
			all = append(all, cells)
			for i, c := range cells {
				if i > 0 {
					out.WriteByte(r.comma)
				}
				put(c.text, c.kind != null)
			}
			out.WriteByte('\n')
		}
		again, _, err := newCSV(strings.NewReader(out.String()), r.comma)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, out.String(), err)
		}
		for _, want := range all {
			got, _, err := again.next(nil)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%q: got %v %v, want %v", out.String(), got, err, want)
			}
			for i := range got {
				if got[i].text != want[i].text || (got[i].kind == null) != (want[i].kind == null) {
					t.Fatalf("%q: cell %d: got %v, want %v", out.String(), i, got[i], want[i])
				}
			}
		}
	})
}

// FuzzImport: no file makes an import panic, and a failed one leaves nothing.
func FuzzImport(f *testing.F) {
	for name, text := range map[string]string{
		"csv": "id,a\n1,x\n", "json": `{"a":[{"id":1,"x":{}}]}`, "jsonl": "{\"a\":1}\n{\"A\":2}", "yaml": "a: &x\n- {id: 1}\nb: *x\n",
		"sql": "CREATE TABLE `t` (`a` int, KEY `k` (`a`)) ENGINE=x;INSERT INTO `t` VALUES (1),(-2);",
	} {
		f.Add(name, text)
	}
	f.Add("sql", "CREATE TABLE t(a); CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END; INSERT INTO t VALUES (1);")
	f.Add("sql", "SET client_encoding = 'UTF8'; CREATE TABLE t (a integer, b text[]); COPY t (a, b) FROM stdin;\n1\t{a,\"b\"}\n\\.\n")
	f.Fuzz(func(t *testing.T, format, text string) {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out.db")
		if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Import(context.Background(), out, []string{in}, &Options{Format: format})
		left, globErr := filepath.Glob(filepath.Join(dir, "*"))
		if globErr != nil {
			t.Fatal(globErr)
		}
		if err != nil && len(left) != 1 || err == nil && len(left) != 2 {
			t.Fatalf("error %v, left %q", err, left)
		}
		if err == nil {
			db, err := fixture.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Schema(context.Background()); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Close()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzYAML: what is read of a YAML file is JSON.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"a: 1", "- 0o17\n- 0x1F\n- -00.50e+3\n- .5\n- ~", "a: &x [1]\nb: *x", "? [a]\n: b", "a: !!binary AP8=", "+.5e3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := yamlJSON("x.yaml", []byte(text))
		if err == nil && !canon.Valid(out) {
			t.Fatalf("%q gave %s", text, out)
		}
	})
}
