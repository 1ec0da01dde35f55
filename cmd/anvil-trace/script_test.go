package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"anvil-trace": main})
}

// TestScripts runs each script in testdata/script in a fresh folder. Beside
// testscript's commands they have: pack gzip|zstd FILE..., which writes FILE.gz
// or FILE.zst; cut third|break FILE, which takes its last third or its last byte
// away; doc generic|github FILE, a script of the guide to CI.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"pack": pack, "cut": cut, "doc": docScript},
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../..")
			env.Setenv("REPO", root)
			return err
		},
	})
}

func pack(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args[1:] {
		var out bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&out)
		suffix := ".gz"
		if args[0] == "zstd" {
			var err error
			w, err = zstd.NewWriter(&out)
			ts.Check(err)
			suffix = ".zst"
		}
		_, err := io.WriteString(w, ts.ReadFile(file))
		ts.Check(err)
		ts.Check(w.Close())
		ts.Check(os.WriteFile(ts.MkAbs(file+suffix), out.Bytes(), 0o644))
	}
}

func cut(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.ReadFile(args[1])
	n := map[string]int{"third": len(data) * 2 / 3, "break": len(data) - 1}[args[0]]
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data[:n]), 0o644))
}
