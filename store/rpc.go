package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/provider"
)

// rpcVerbs are the words that RPC paths (/users.info) end in, as far as they say
// what is done to one row or to all.
var rpcVerbs = map[string]verb{
	"list": listRows, "all": listRows, "search": listRows, "query": listRows,
	"info": getRow, "get": getRow, "show": getRow, "read": getRow, "retrieve": getRow, "lookup": getRow, "find": getRow,
	"create": createRow, "add": createRow, "new": createRow, "post": createRow, "insert": createRow,
	"update": patchRow, "set": patchRow, "edit": patchRow, "patch": patchRow, "rename": patchRow,
	"delete": deleteRow, "remove": deleteRow, "destroy": deleteRow,
}

// rpc maps /users.info and the like: what stands before the last dot is the noun,
// the last word the verb, and the row is named by a parameter of the query or
// the body. The word may have its own noun (/chat.postMessage,
// /conversations.members) or column (/conversations.setTopic). Nil for any other
// path.
func (s *schema) rpc(g *target, op *provider.Operation, k known) *target {
	noun, word, ok := rpcPath(op.PathTemplate)
	if !ok {
		return nil
	}
	t := s.rpcNoun(noun, k)
	v, rest, known := splitVerb(word)
	switch {
	case known && rest == "" && t != nil:
		return s.rpcRow(g, t, v, noun, k)
	case known && rest != "":
		if own := s.eitherNoun(noun, rest); own != nil && v != getRow {
			return s.rpcRow(g, own, v, noun, k)
		}
		if t == nil {
			return nil
		}
		if by, ok := strings.CutPrefix(normal(rest), "by"); ok && v == getRow && t.named(by) != nil {
			return s.rpcKey(g, t, v, t.named(by), k)
		}
		if v == patchRow && t.named(normal(rest)) != nil {
			return s.rpcRow(g, t, v, noun, k)
		}
	case !known:
		own := s.eitherNoun(noun, word)
		for _, name := range k.lists {
			if own == nil {
				own = s.noun(name)
			}
		}
		if own != nil && (op.Kind == provider.KindList || op.Kind == provider.KindSearch || op.Kind == provider.KindRead) && own != t {
			g.table, g.verb = own, listRows
			return g
		}
	}
	if t == nil {
		return nil
	}
	g.reason = fmt.Sprintf("the word %q of %q has no meaning for the rows of %s; a map can give the operation SQL", word, noun+"."+word, t.name)
	return g
}

// rpcNoun finds the table that the words before the verb mean: all of them, the
// last, or what the contract's answers call their rows.
func (s *schema) rpcNoun(noun string, k known) *table {
	if t := s.noun(noun); t != nil {
		return t
	}
	if i := strings.LastIndexByte(noun, '.'); i >= 0 {
		if t := s.noun(noun[i+1:]); t != nil {
			return t
		}
	}
	for _, name := range k.alias[normal(noun)] {
		if t := s.noun(name); t != nil {
			return t
		}
	}
	return nil
}

// eitherNoun finds the table of a word after a noun: conversation_members, else
// members.
func (s *schema) eitherNoun(noun, word string) *table {
	if i := strings.LastIndexByte(noun, '.'); i >= 0 {
		noun = noun[i+1:]
	}
	if t := s.noun(singular(normal(noun)) + normal(word)); t != nil {
		return t
	}
	return s.noun(word)
}

// splitVerb splits postMessage into what post does and Message.
func splitVerb(word string) (v verb, rest string, ok bool) {
	if v, ok = rpcVerbs[strings.ToLower(word)]; ok {
		return v, "", true
	}
	for i := 1; i < len(word); i++ {
		if word[i] >= 'A' && word[i] <= 'Z' {
			v, ok = rpcVerbs[word[:i]]
			return v, word[i:], ok
		}
	}
	return 0, "", false
}

// rpcRow finds the parameter that names a row: by a key's name, the table's, or
// what the contract's answers call a row.
func (s *schema) rpcRow(g *target, t *table, v verb, noun string, k known) *target {
	if v == listRows || v == createRow {
		g.table, g.verb = t, v
		return g
	}
	var key *column
	if len(t.key) == 1 {
		key = t.key[0]
	}
	return s.rpcKey(g, t, v, key, k, k.alias[normal(noun)]...)
}

func (s *schema) rpcKey(g *target, t *table, v verb, key *column, k known, also ...string) *target {
	g.table, g.verb = t, v
	if key != nil {
		for _, p := range k.inputs {
			n := normal(p)
			after := n == singular(normal(t.name)) || slices.Contains(also, n)
			if t.keyColumn(p) == key || after && t.named(n) == nil {
				g.key = append(g.key, binding{param: p, col: key, anywhere: true})
				return g
			}
		}
	}
	g.reason = fmt.Sprintf("no parameter names a row of %s; it wants one such as %q", t.name, singular(normal(t.name)))
	return g
}
