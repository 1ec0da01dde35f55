package seed

import (
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// Nouns name the tables of a contract's operations.
type nouns struct {
	doc   *air.Document
	r     *resolver
	known map[string]bool   // the contract's own resources
	rows  map[string]string // what answers call rows, to the resource
	main  map[string]string // resource without a schema of its own, to what it answers with
}

func newNouns(doc *air.Document, r *resolver, ops []*air.Operation) *nouns {
	n := &nouns{doc: doc, r: r, known: map[string]bool{}, main: map[string]string{}}
	for _, o := range ops {
		n.known[naming.Thing(o.ResourceNoun())] = true
	}
	n.rows = n.aliases(ops)
	return n
}

// manner are resources that are no things, but ways to ask for some.
var manner = map[string]bool{
	"search": true, "list": true, "query": true, "find": true, "bulk": true, "batch": true, "all": true, "my": true, "picker": true,
	"favourite": true, "favorite": true, "recent": true, "multi": true, "typeahead": true,
}

// of is what a table of an operation's rows is called: the resource, in a
// singular that is a word; with its parent's name where the contract's schema
// has it too (/issues/{id}/comments of IssueComment is issue_comment); what the
// answer is of where the resource is none (/search of Issue), and what RPC paths
// answer with (/chat.postMessage).
func (n *nouns) of(o *air.Operation) string {
	noun := o.ResourceNoun()
	segs := strings.Split(o.Path, "/")
	at := len(segs) - 1
	for at > 0 && strings.Contains(segs[at], "{") {
		at--
	}
	if noun == "" {
		return noun
	}
	if isRPC(o.Path) {
		return n.answered(o, noun)
	}
	plain, seg := naming.Plain(noun), strings.ToLower(segs[at])
	word := naming.Singular(seg)
	if tail, ok := strings.CutPrefix(naming.Plain(seg), plain); ok && len(tail) <= 2 && naming.Plain(word) != plain {
		noun = word // releas, of releases
	}
	core := n.core(o)
	if manner[plain] && n.known[core] {
		return core
	}
	for p := at - 1; p > 0; p-- {
		if strings.Contains(segs[p], "{") || naming.Thing(segs[at]) != naming.Thing(noun) {
			continue
		}
		parent := naming.Singular(strings.ToLower(segs[p]))
		if strings.HasSuffix(core, naming.Plain(parent)+naming.Plain(noun)) {
			return parent + "_" + noun
		}
		break
	}
	return noun
}

// core is the thing that an operation answers with, by the name of its schema.
func (n *nouns) core(o *air.Operation) string {
	answer := inner(o.OutputSchema)
	if o.Paged() {
		if item := n.doc.ItemSchema(o); item != nil {
			answer = item
		}
	}
	if ref := coreName(refOf(answer)); ref != "" {
		return ref
	}
	return coreName(answer.Get("title").Text())
}

// answered is the one property of an RPC answer that is a row or a list of rows,
// where it is called as its schema is: {"ok": true, "message": {...}}.
func (n *nouns) answered(o *air.Operation, noun string) string {
	if i := strings.LastIndexByte(noun, '_'); i >= 0 && n.known[naming.Thing(noun[i+1:])] {
		return noun[i+1:] // admin_conversation
	}
	found := n.shown(o)
	if other := n.rows[naming.Thing(found)]; other != "" {
		return other // what the rows of another resource are called
	}
	if found == "" && n.main[noun] != "" && !n.known[naming.Thing(n.main[noun])] {
		return n.main[noun] // chat.delete, beside chat.postMessage
	}
	if n.known[naming.Thing(found)] || !n.has(found) {
		return noun
	}
	return found
}

// shown is the one property of an answer that is a row or a list of rows, in the
// singular; "" where there is none or more than one.
func (n *nouns) shown(o *air.Operation) (found string) {
	for _, m := range n.r.properties(n.doc.Response(o), 0) {
		shown := inner(n.r.target(m.Value))
		if len(n.r.properties(inner(shown), 0)) < 2 && refOf(shown) == "" {
			continue
		}
		if found != "" {
			return ""
		}
		found = naming.Singular(strings.ToLower(m.Key))
	}
	return found
}

// aliases finds what the answers of a resource's RPC operations mostly call its
// rows: channel, for conversation.
func (n *nouns) aliases(ops []*air.Operation) map[string]string {
	out := map[string]string{}
	counts := map[string]map[string]int{}
	most := map[string]string{}
	for _, o := range ops {
		noun, found := o.ResourceNoun(), n.shown(o)
		if found == "" || !isRPC(o.Path) {
			continue
		}
		if !n.has(noun) {
			if n.main[noun] == "" && n.has(found) {
				n.main[noun] = found
			}
			continue
		}
		if counts[noun] == nil {
			counts[noun] = map[string]int{}
		}
		counts[noun][found]++
		if best := most[noun]; best == "" || counts[noun][found] > counts[noun][best] {
			most[noun] = found
		}
	}
	for _, noun := range slices.Sorted(maps.Keys(most)) {
		found := most[noun]
		if thing := naming.Thing(found); !n.known[thing] && out[thing] == "" && counts[noun][found] > 1 {
			out[thing] = noun
		}
	}
	return out
}

// isRPC tells whether a path is /users.info and the like.
func isRPC(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return strings.Contains(last, ".") && !strings.ContainsAny(last, "{}()")
}

// has tells whether a named schema is of a thing.
func (n *nouns) has(thing string) bool {
	for _, m := range n.doc.Schemas.Members() {
		if coreName(m.Key) == naming.Thing(thing) {
			return len(n.r.properties(m.Value, 0)) > 1
		}
	}
	return false
}
