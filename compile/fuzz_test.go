package compile_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/canon"
)

// soon fails when f hangs, and says which it was. It is no measure of speed: a machine
// that does other things too must not fail it.
func soon(t *testing.T, name string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		t.Fatalf("%s: not done after five minutes", name)
	}
}

// Descriptions that are large, deep or go in circles compile or are refused; they
// do not hang and do not fill the memory.
func TestHostile(t *testing.T) {
	const head = "openapi: 3.1.0\ninfo: {title: X, version: '1'}\n"
	tests := []struct {
		name, text string
		refused    string // part of the error, "" when it compiles
		operations int
	}{
		{"10,000 operations", head + "paths:\n" + repeat(10000, func(i int) string {
			return fmt.Sprintf("  /r%d: {get: {operationId: get%d, responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/S'}}}}}}}\n", i, i)
		}) + "components: {schemas: {S: {type: object, properties: {s: {$ref: '#/components/schemas/S'}}}}}\n", "", 10000},
		{"one name for all", head + "paths:\n" + repeat(3000, func(i int) string {
			return fmt.Sprintf("  /r/{p%d}: {get: {responses: {'200': {description: ok}}}}\n", i)
		}), "", 3000},
		{"a schema in itself", head + "paths: {/a: {get: {responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}}}}\n" +
			"components: {schemas: {A: {allOf: [{$ref: '#/components/schemas/A'}, {$ref: '#/components/schemas/B'}]}, B: {allOf: [{$ref: '#/components/schemas/A'}, {$ref: '#/components/schemas/A'}], items: {$ref: '#/components/schemas/B'}}}}\n", "", 1},
		{"parts of parts", head + "paths: {/a: {post: {operationId: findA, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/P0'}}}}, responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/P0'}}}}}}}}\ncomponents:\n  schemas:\n" +
			repeat(40, func(i int) string {
				ref := fmt.Sprintf("{$ref: '#/components/schemas/P%d'}", (i+1)%40)
				return fmt.Sprintf("    P%d: {allOf: [%s, %s, %s]}\n", i, ref, ref, ref)
			}), "", 1},
		{"nine parts of nine parts", head + "paths: {/a: {post: {operationId: findA, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/P0'}}}}, responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/P0'}}}}}}}}\ncomponents:\n  schemas:\n" +
			repeat(30, func(i int) string {
				return fmt.Sprintf("    P%d: {allOf: [%s]}\n", i, repeat(9, func(int) string { return fmt.Sprintf("{$ref: '#/components/schemas/P%d'}, ", i+1) }))
			}) + "    P30: {type: object}\n", "", 1},
		{"wide schemas", head + "paths: {/a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/W0'}}}}, responses: {'200': {description: ok}}}}}\ncomponents:\n  schemas:\n" +
			repeat(8, func(i int) string {
				return fmt.Sprintf("    W%d: {type: object, properties: {%s}}\n", i, repeat(300, func(j int) string {
					return fmt.Sprintf("p%d: {$ref: '#/components/schemas/W%d'}, ", j, (i+1)%8)
				}))
			}), "", 1},
		{"references in a circle", head + "paths: {/a: {get: {parameters: [{$ref: '#/components/parameters/A'}], responses: {'200': {$ref: '#/components/responses/A'}}}}, /b: {$ref: '#/paths/~1b'}}\n" +
			"components: {parameters: {A: {$ref: '#/components/parameters/B'}, B: {$ref: '#/components/parameters/A'}}, responses: {A: {$ref: '#/components/responses/A'}}}\n", "", 1},
		{"aliases of aliases", head + "paths: {}\nx-a0: &a0 {k: 0}\n" + repeat(40, func(i int) string {
			return fmt.Sprintf("x-a%d: &a%d {k: [*a%d, *a%d]}\n", i+1, i+1, i, i)
		}), "aliases", 0},
		{"merges of merges", head + "paths: {}\nx-m0: &m0 {" + repeat(2000, func(i int) string { return fmt.Sprintf("k%d: 0, ", i) }) + "}\n" + repeat(2000, func(i int) string {
			return fmt.Sprintf("x-m%d: {<<: *m0}\n", i+1)
		}), "merge keys", 0},
		{"deep", head + "paths: {/a: {get: {responses: {'200': {description: ok, content: {application/json: {schema: " +
			strings.Repeat("{items: ", 5000) + "{}" + strings.Repeat("}", 5000) + "}}}}}}}\n", "nested deeper", 0},
		{"deep JSON", `{"openapi":"3.0.0","paths":` + strings.Repeat(`{"a":`, 100000), "depth", 0},
		{"deep enough", head + "paths: {/a: {get: {responses: {'200': {description: ok, content: {application/json: {schema: " +
			strings.Repeat("{items: ", 300) + "{}" + strings.Repeat("}", 300) + "}}}}}}}\n", "", 1},
		{"shared by all", head + "x-s: &s {" + repeat(200, func(i int) string {
			return fmt.Sprintf("k%d: {type: string, description: '%s'}, ", i, strings.Repeat("d", 1300))
		}) + "}\npaths:\n" +
			repeat(1100, func(i int) string {
				return fmt.Sprintf("  /s%d: {get: {operationId: s%d, responses: {'200': {description: ok, content: {application/json: {schema: {type: object, properties: *s}}}}}}}\n", i, i)
			}), "MiB", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			soon(t, tt.name, func() {
				r, err := compile.CompileText("spec.yaml", []byte(tt.text), &compile.Options{Approve: "all"})
				if tt.refused != "" {
					if err == nil || !strings.Contains(err.Error(), tt.refused) {
						t.Errorf("got %v, want an error with %q", err, tt.refused)
					}
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				doc, err := r.Document()
				if err != nil || r.Compiled != tt.operations {
					t.Errorf("%d operations, want %d (%v)", r.Compiled, tt.operations, err)
					return
				}
				for _, o := range doc.Operations {
					doc.Response(o)
				}
			})
		})
	}
}

func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// FuzzCompile: any text is refused or gives a contract without faults, whose
// YAML reads back as the same document.
func FuzzCompile(f *testing.F) {
	seeds, err := filepath.Glob(filepath.Join(specDir, "*/*.gz"))
	if err != nil || len(seeds) < 20 {
		f.Fatalf("%d seeds (%v)", len(seeds), err)
	}
	for _, path := range seeds {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			f.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 40000 {
			f.Add(text)
		}
	}
	f.Add([]byte(shop))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := compile.CompileText("spec.yaml", text, &compile.Options{Approve: "all"})
		if err != nil {
			return
		}
		if _, err := r.Document(); err != nil {
			t.Fatalf("the contract has faults: %v", err)
		}
		yaml := compile.AppendYAML(nil, r.Tree)
		back, err := air.ReadTree("air.yaml", yaml)
		if err != nil {
			t.Fatalf("its YAML cannot be read: %v\n%s", err, yaml)
		}
		if got, want := canon.AppendIdentity(nil, back), canon.AppendIdentity(nil, r.Tree); !bytes.Equal(got, want) {
			t.Fatalf("its YAML is another document:\n got %s\nwant %s", got, want)
		}
	})
}
