package importer

import (
	"errors"
	"fmt"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

// yamlTables reads a YAML file, in the shapes that JSON files have.
func yamlTables(path, name string) ([]*table, error) {
	raw, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	doc, err := yamlJSON(path, raw)
	if err != nil {
		return nil, err
	}
	tables, err := shape(doc, path, name, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tables, nil
}

// maxGrown bounds what the aliases of a YAML file may grow to.
const maxGrown = 1 << 30

// yamlJSON spells a YAML document as compact JSON, scalars by YAML 1.2's core
// schema: yes and dates are texts.
func yamlJSON(path string, raw []byte) ([]byte, error) {
	tree, err := air.ReadTree(path, raw)
	var load *air.LoadError
	if errors.As(err, &load) && len(load.Faults) > 0 {
		f := load.Faults[0]
		if f.Line == 0 {
			return nil, fmt.Errorf("%s: %s", path, f.Msg)
		}
		return nil, fmt.Errorf("%s: line %d: %s", path, f.Line, f.Msg)
	}
	if err != nil {
		return nil, err
	}
	if size(tree, maxGrown) > maxGrown {
		return nil, fmt.Errorf("%s: its aliases make it larger than %d bytes", path, maxGrown)
	}
	return tree.AppendJSON(nil), nil
}

// size is about how many bytes a tree is as JSON; it stops above limit, since
// shared parts may stand in it many times.
func size(v *canon.Value, limit int) int {
	n := len(v.Text()) + 2
	for _, e := range v.Elems() {
		if n += size(e, limit-n); n > limit {
			return n
		}
	}
	for _, m := range v.Members() {
		if n += len(m.Key) + 3 + size(m.Value, limit-n); n > limit {
			return n
		}
	}
	return n
}
