// Package conformance runs recorded sessions against a built simulator and
// tells what differs. The sessions are data (testdata/conformance describes
// them); this package is their runner in Go, so that `go test` is enough.
//
// It shares nothing with the simulator but the reading of JSON, which has its
// own tests against other implementations.
package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A Session is one recorded run of a simulator.
type Session struct {
	Name string
	Dir  string // absolute

	spec     *canon.Value
	contract string
	given    map[string]bool // every text of the scripted provider
	double   bool            // numbers are compared in double precision
	strict   bool            // JSON is compared byte for byte too, wording apart
}

// Load reads the session in a folder.
func Load(dir string) (*Session, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "session.json"))
	if err != nil {
		return nil, err
	}
	spec, err := canon.Parse(text, canon.Lenient)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "session.json"), err)
	}
	contract, err := os.ReadFile(filepath.Join(dir, "air.yaml"))
	if err != nil {
		return nil, err
	}
	s := &Session{Name: filepath.Base(dir), Dir: dir, spec: spec, contract: string(contract), given: map[string]bool{}}
	s.double = spec.Get("numbers").Text() == "double"
	s.strict = !s.double && spec.Get("keyOrder") == nil
	addTexts(s.given, spec.Get("provider"))
	return s, nil
}

// Names lists the sessions in a folder, sorted. It is an error when there are
// none.
func Names(root string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(root, "*", "session.json"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no sessions", root)
	}
	for i, f := range found {
		found[i] = filepath.Base(filepath.Dir(f))
	}
	slices.Sort(found)
	return found, nil
}

func addTexts(to map[string]bool, v *canon.Value) {
	if v.Is(canon.String) {
		to[v.Text()] = true
	}
	for _, e := range v.Elems() {
		addTexts(to, e)
	}
	for _, m := range v.Members() {
		to[m.Key] = true
		addTexts(to, m.Value)
	}
}

// truthy reports whether a value is there and says something: not null, false,
// 0, "" or empty.
func truthy(v *canon.Value) bool {
	switch v.Kind() {
	case canon.Bool:
		return v.True()
	case canon.Number:
		return v.Float() != 0
	case canon.String:
		return v.Text() != ""
	case canon.Array:
		return len(v.Elems()) > 0
	case canon.Object:
		return len(v.Members()) > 0
	}
	return false
}

func millis(v *canon.Value, def float64) time.Duration {
	if v.Is(canon.Number) {
		def = v.Float()
	}
	return time.Duration(def * float64(time.Millisecond))
}

// path is a file of the session.
func (s *Session) path(name string) string { return filepath.Join(s.Dir, name) }

// readIfAny reads a file; ok is false when there is none.
func readIfAny(name string) (text string, ok bool, err error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(b), err == nil, err
}
