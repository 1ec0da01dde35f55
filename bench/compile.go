package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/compile"
)

// largest is the description that is compiled when none is named: GitHub's.
const largest = "compile/testdata/specs/openapi3/github-rest.json.gz"

// compileRun compares compiling a description with a bare parse of its text, each
// in a process of its own, and compiles descriptions of growing size.
func compileRun(ctx context.Context, args []string, out io.Writer, stderr *os.File) error {
	flags := newFlags("bench compile", stderr)
	spec := flags.String("spec", largest, "the description to compile")
	peer := flags.String("libopenapi", "", "the binary of bench/peers, which reads descriptions by libopenapi (go -C bench/peers build -o FILE .)")
	rounds := flags.Int("rounds", 5, "rounds; medians are taken over them")
	sizes := flags.Int("operations", 500, "operations of the smallest made description; the others have 10 and 100 times as many, 0 for none")
	asJSON := flags.Bool("json", false, "print JSON instead of a table")
	if _, err := parseShort(flags, args, map[string]string{"rounds": "1", "operations": "10"}); err != nil {
		return err
	}
	if *rounds < 1 {
		return fmt.Errorf("--rounds wants more than 0, got %d", *rounds)
	}
	dir, err := os.MkdirTemp("", "anvil-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rep := newFigures("compile", *rounds)
	for range *rounds {
		if err := comparedCompile(ctx, *spec, *peer, dir, rep); err != nil {
			return err
		}
		if err := growingCompile(ctx, *sizes, dir, rep); err != nil {
			return err
		}
	}
	return rep.print(out, *asJSON)
}

// comparedCompile measures one description beside the libraries.
func comparedCompile(ctx context.Context, spec, peer, dir string, rep *figures) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	plain := filepath.Join(dir, "description")
	if err := unzipped(spec, plain); err != nil {
		return err
	}
	mine, err := used(ctx, self, "part-compile", "compile", plain)
	if err != nil {
		return err
	}
	bare, err := used(ctx, self, "part-compile", "parse", plain)
	if err != nil {
		return err
	}
	base := filepath.Base(spec)
	rep.addRatio("compile "+base, "ms", mine.ms, "bare parse", bare.ms)
	rep.addRatio("peak memory, compile "+base, "MB", mine.mb, "bare parse", bare.mb)
	if peer == "" {
		return nil
	}
	lib, err := used(ctx, peer, plain)
	if err != nil {
		return err
	}
	rep.addRatio("compile, beside libopenapi", "ms", mine.ms, "libopenapi", lib.ms)
	rep.addRatio("peak memory, beside libopenapi", "MB", mine.mb, "libopenapi", lib.mb)
	return nil
}

// growingCompile compiles made descriptions of n, 10n and 100n operations; the
// limit is the time that a tenth of the operations would make it ten times over.
func growingCompile(ctx context.Context, n int, dir string, rep *figures) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	last := 0.0
	for range 3 {
		if n == 0 {
			return nil
		}
		file := filepath.Join(dir, fmt.Sprintf("made-%d.json", n))
		if err := os.WriteFile(file, madeDescription(n), 0o644); err != nil {
			return err
		}
		u, err := used(ctx, self, "part-compile", "compile", file)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("compile %d operations", n)
		rep.grew(name, "ms", u.ms, last)
		rep.add("peak memory, "+name, "MB", u.mb)
		n, last = n*10, u.ms
	}
	return nil
}

// madeDescription has n operations on n/4 resources, each with a schema of its own
// that names the next one's.
func madeDescription(n int) []byte {
	var paths, schemas strings.Builder
	for i := range (n + 3) / 4 {
		if i > 0 {
			paths.WriteString(",")
			schemas.WriteString(",")
		}
		ref := fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, i)
		ok := func(schema string) string {
			return `"responses":{"200":{"description":"ok","content":{"application/json":{"schema":` + schema + `}}},"404":{"description":"none"}}`
		}
		fmt.Fprintf(&paths, `"/r%d":{"get":{"operationId":"list%d","parameters":[{"name":"page","in":"query","schema":{"type":"integer"}},{"name":"limit","in":"query","schema":{"type":"integer","maximum":100}}],%s},
"post":{"operationId":"create%d","requestBody":{"content":{"application/json":{"schema":%s}}},%s}},
"/r%d/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"get":{"operationId":"get%d",%s},"delete":{"operationId":"delete%d",%s}}`,
			i, i, ok(`{"type":"array","items":`+ref+`}`), i, ref, ok(ref), i, i, ok(ref), i, ok(ref))
		fmt.Fprintf(&schemas, `"S%d":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string","default":"x"},"next":{"$ref":"#/components/schemas/S%d"}}}`, i, (i+1)%((n+3)/4))
	}
	return []byte(`{"openapi":"3.0.3","info":{"title":"Made","version":"1"},"paths":{` + paths.String() + `},"components":{"schemas":{` + schemas.String() + `}}}`)
}

func unzipped(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		if data, err = io.ReadAll(z); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	}
	return os.WriteFile(to, data, 0o644)
}

// A cost is what a process says that it used: processor time and peak memory. Time on the
// wall would measure the neighbours too.
type cost struct{ ms, mb float64 }

func used(ctx context.Context, name string, args ...string) (u cost, err error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return u, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	if _, err := fmt.Sscan(string(out), &u.ms, &u.mb); err != nil {
		return u, fmt.Errorf("%s: it printed %q, want milliseconds and megabytes", name, out)
	}
	return u, nil
}

// compilePart does one thing with a description and prints what it took.
func compilePart(args []string, out io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("part-compile: got %q, want compile or parse and a file", args)
	}
	var err error
	switch args[0] {
	case "compile":
		_, err = compile.Compile(args[1], nil)
	case "parse":
		err = bareParse(args[1])
	default:
		err = fmt.Errorf("part-compile %s: want compile or parse", args[0])
	}
	if err != nil {
		return err
	}
	took, err := cpuTime()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%.1f %.1f\n", took.Seconds()*1000, peakMemory(os.Getpid()))
	return err
}

// bareParse reads a text with the library that is usual for it.
func bareParse(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		var v any
		return json.Unmarshal(data, &v)
	}
	var n yaml.Node
	return yaml.Unmarshal(data, &n)
}
