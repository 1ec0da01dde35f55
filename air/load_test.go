package air_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func asJSON(t *testing.T, text string) string {
	t.Helper()
	d, err := air.Parse("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d.Tree().String()
}

func TestLoad(t *testing.T) {
	yaml := contract(rest)
	json := strings.Replace(asJSON(t, yaml), `"id":"svc"`, `"id":"json"`, 1)
	for _, tt := range []struct {
		name  string
		files map[string]string // by name, below the directory
		path  string
		want  string // the service's id
	}{
		{"a YAML file", map[string]string{"x.yml": yaml}, "x.yml", "svc"},
		{"a JSON file", map[string]string{"x.json": json}, "x.json", "json"},
		{"a zipped YAML file", map[string]string{"x.yaml.gz": zipped(t, yaml)}, "x.yaml.gz", "svc"},
		{"told by content, not by name", map[string]string{"contract": zipped(t, json)}, "contract", "json"},
		{"JSON under a YAML name", map[string]string{"air.yaml": json}, "air.yaml", "json"},
		{"plain text under a zipped name", map[string]string{"air.yaml.gz": yaml}, "air.yaml.gz", "svc"},
		{"a bundle", map[string]string{"air.yaml": yaml}, "", "svc"},
		{"a zipped bundle", map[string]string{"air.yaml.gz": zipped(t, yaml)}, "", "svc"},
		{"a JSON bundle", map[string]string{"air.json": json}, "", "json"},
		{"a zipped JSON bundle", map[string]string{"air.json.gz": zipped(t, json)}, "", "json"},
		{"the YAML of a bundle wins", map[string]string{"air.yaml": yaml, "air.json": json}, "", "svc"},
		{"a byte order mark", map[string]string{"air.yaml": "\uFEFF" + yaml}, "", "svc"},
		{"CRLF", map[string]string{"air.yaml": strings.ReplaceAll(yaml, "\n", "\r\n")}, "", "svc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d, err := air.Load(filepath.Join(dir, tt.path))
			if err != nil {
				t.Fatal(err)
			}
			if d.Service.ID != tt.want || len(d.Operations) != 1 {
				t.Errorf("service %s with %d operations, want %s", d.Service.ID, len(d.Operations), tt.want)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.gz")
	if err := os.WriteFile(bad, []byte(zipped(t, contract(rest))[:60]), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, want string }{
		{filepath.Join(dir, "none.yaml"), "no such file or directory"},
		{dir, dir + ": a directory without a contract, want one of air.yaml, air.yaml.gz, air.json, air.json.gz in it"},
		{bad, bad + ": a damaged gzip file: unexpected EOF"},
	} {
		_, err := air.Load(tt.path)
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.path, err, tt.want)
		}
	}
	if _, err := air.Load(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory without a contract is %v, want fs.ErrNotExist in it", err)
	}
}

// A file beyond the limit is refused by its size, before it is read.
func TestLoadRefusesLargeFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "air.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, air.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := air.Load(file)
	runtime.ReadMemStats(&after)
	if err == nil || err.Error() != file+": more than 256 MiB of text" {
		t.Errorf("error %v", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes were allocated", got)
	}
}

// FuzzParse: no text makes Parse panic, every error is a LoadError with a
// fault, and what loads loads again from its own JSON with the same digests.
func FuzzParse(f *testing.F) {
	f.Add([]byte(contract(rest)))
	f.Add([]byte(queue("")))
	f.Add([]byte(served("")))
	f.Add([]byte(`{"service":{"id":"a","version":"1","source":{"kind":"mcp"}},"schemas":{"10":{"x":1e400},"9":"\ud800"}}`))
	f.Add([]byte("a: &x [*x]\n---\n"))
	names, err := filepath.Glob("testdata/digests/*.yaml")
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := air.Parse("fuzz", text)
		if err != nil {
			var load *air.LoadError
			if !errors.As(err, &load) || len(load.Faults) == 0 {
				t.Fatalf("error %v", err)
			}
			return
		}
		for _, o := range d.Operations {
			_, _, _, _ = d.ItemSchema(o), o.Kind(), o.Protocol(), o.InputSchema()
		}
		again, err := air.Parse("again.json", []byte(d.Tree().String()))
		if err != nil {
			t.Fatalf("its own JSON does not load: %v", err)
		}
		if d.ContractDigest() != again.ContractDigest() || d.SurfaceDigest("") != again.SurfaceDigest("") {
			t.Fatal("digests differ")
		}
	})
}
