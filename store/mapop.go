package store

import (
	"github.com/anvil-sim/anvil/provider"
)

// override maps an operation as the map says, where it names a table for it.
func (s *schema) override(g *target, op *provider.Operation, r *operationRules, all *rules) *target {
	if r.custom != nil {
		g.custom = r.custom
		g.table = &table{name: op.OperationID}
		g.verb = listRows
		return g
	}
	g.table, g.rules, g.set, g.queries = r.table, all.of(r.table), r.set, r.queries
	if r.do != "" {
		g.verb = verbs[r.do]
	} else if g.pickVerb(op); g.reason != "" {
		return g
	}
	segs := splitTemplate(op.PathTemplate)
	last := len(segs) - 1
	for last >= 0 && segs[last].literal == "" {
		last--
	}
	for i, seg := range segs {
		for _, param := range seg.params {
			s.overrideParam(g, r, segs, i, last, param)
		}
	}
	s.bindKey(g)
	g.check()
	return g
}

// overrideParam binds a path parameter: as the map says, else by rule.
func (s *schema) overrideParam(g *target, r *operationRules, segs []segment, i, last int, param string) {
	if col, ok := r.keys[param]; ok {
		if g.verb == createRow {
			g.parents = append(g.parents, binding{param: param, col: col})
		} else {
			g.key = append(g.key, binding{param: param, col: col})
		}
		return
	}
	if col, ok := r.queries[param]; ok {
		if col != nil {
			g.parents = append(g.parents, binding{param: param, col: col})
		} else {
			g.ignored = append(g.ignored, param)
		}
		return
	}
	// Without a word about the key, the last parameter is it for an action that
	// the path spells after the row: /tickets/{id}/close.
	isKey := i > last || g.verb != listRows && g.verb != createRow && len(r.keys) == 0 && i == last-1
	if isKey && g.verb != createRow {
		g.key = append(g.key, binding{param: param})
		return
	}
	s.bindParents(g, lonely(segs, i, param))
}

// lonely is a path in which one parameter stands alone after its noun.
func lonely(segs []segment, i int, param string) []segment {
	for p := i; p >= 0; p-- {
		if segs[p].literal != "" {
			return []segment{{literal: segs[p].literal}, {params: []string{param}}}
		}
	}
	return []segment{{params: []string{param}}}
}
