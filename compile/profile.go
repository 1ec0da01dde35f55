package compile

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// A Profile selects the operations that are exposed; the others stay in the
// contract and are not served.
//
//	id: support
//	all: true                      # or a selection:
//	operations: [helpdesk.list_tickets]
//	tags: [tickets]
//	paths: [/tickets, "/users/*"]  # the path and, with /*, all below it
type Profile struct {
	Path                    string
	ID                      string
	All                     bool
	Operations, Tags, Paths []string
	digest                  string
}

var profileShape = keys("id", textShape, "all", boolShape, "operations", textList, "tags", textList, "paths", textList)

// ReadProfile reads an exposure profile.
func ReadProfile(path string) (*Profile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseProfile(path, data)
}

// ParseProfile reads the text of an exposure profile.
func ParseProfile(name string, data []byte) (*Profile, error) {
	tree, err := air.ReadTree(name, data)
	if err != nil {
		return nil, err
	}
	c := shapeChecker{file: name}
	c.check(tree, profileShape, "")
	if len(c.errs) == 0 && tree.Get("id").Text() == "" {
		c.fault("id", "missing, want a name for the profile")
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	p := &Profile{
		Path: name, ID: tree.Get("id").Text(), All: tree.Get("all").True(), Operations: texts(tree.Get("operations")),
		Tags: texts(tree.Get("tags")), Paths: texts(tree.Get("paths")), digest: canon.Digest(tree),
	}
	if !p.All && len(p.Operations)+len(p.Tags)+len(p.Paths) == 0 {
		return nil, fmt.Errorf("%s: it selects nothing, and nothing would be served; want all: true, or a list under operations, tags or paths", name)
	}
	return p, nil
}

// apply marks what the profile exposes. A selector that selects nothing is an
// error: it is misspelled, or the description changed.
func (p *Profile) apply(c *compiler) error {
	if p == nil {
		return nil
	}
	used := map[string]bool{}
	var ids, tags, paths []string
	for _, o := range c.ops {
		ids, tags, paths = append(ids, o.id, o.src.ID), appendNew(tags, o.src.Tags...), append(paths, o.src.Path)
		o.exposed = p.All
		mark := func(kind, sel string) {
			o.exposed = true
			used[kind+sel] = true
		}
		for _, s := range p.Operations {
			if s == o.id || s == o.src.ID {
				mark("operation", s)
			}
		}
		for _, s := range p.Tags {
			for _, t := range o.src.Tags {
				if s == t {
					mark("tag", s)
				}
			}
		}
		for _, s := range p.Paths {
			if below, all := strings.CutSuffix(s, "/*"); s == o.src.Path || all && (o.src.Path == below || strings.HasPrefix(o.src.Path, below+"/")) {
				mark("path", s)
			}
		}
	}
	var errs []error
	for _, sel := range []struct {
		kind        string
		list, known []string
	}{{"operation", p.Operations, ids}, {"tag", p.Tags, tags}, {"path", p.Paths, paths}} {
		for _, s := range sel.list {
			if !used[sel.kind+s] {
				errs = append(errs, fmt.Errorf("%s: %w", p.Path, unknown(sel.kind, s, sel.known)))
			}
		}
	}
	return errors.Join(errs...)
}

// value is the profile as the contract records it.
func (p *Profile) value(c *compiler) *api.Value {
	if p == nil {
		return nil
	}
	var exposed []string
	for _, o := range c.ops {
		if o.exposed {
			exposed = append(exposed, o.id)
		}
	}
	return object("id", p.ID, "digest", p.digest, "unexposed", "compile", "sourceOperations", len(c.ops), "exposedOperations", exposed,
		"schemaBounds", object("maxRefDepth", inputHops, "maxSchemaNodes", maxNodes, "inheritAllOf", true, "fitToBudget", true))
}
