package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
)

// noise are words of a title that do not name the service.
var noise = wordSet("api apis rest restful openapi swagger the a an http web v specification spec description definition public odata service for of and namespace subset documentation docs reference sample")

// serviceID makes the id of a service from its title: the words that name it.
func serviceID(title, file string) string {
	if id := slugOf(title); id != "" {
		return id
	}
	base := strings.TrimSuffix(path.Base(file), ".gz")
	if id := slugOf(strings.TrimSuffix(base, path.Ext(base))); id != "" {
		return id
	}
	return "api"
}

func slugOf(title string) string {
	var kept []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		if noise[w] || strings.Trim(w, "0123456789") == "" || isVersionWord(w) || len(kept) == 4 {
			continue
		}
		kept = append(kept, w)
	}
	id := strings.TrimLeft(strings.Join(kept, "-"), "0123456789-")
	if len(id) > 40 {
		id = strings.TrimRight(id[:40], "-")
	}
	return id
}

func isVersionWord(w string) bool {
	return len(w) > 1 && w[0] == 'v' && strings.Trim(w[1:], "0123456789") == ""
}

// namer gives operations their ids, tool names and canonical names.
type namer struct {
	service  string
	ids      map[string]bool
	tools    map[string]bool
	declared map[string]int // how many operations have an operationId
	diags    *api.Diagnostics
}

// name names one operation: after its operationId, which is the description's
// own and outlives changes around it, else after its method and path.
func (n *namer) name(o *api.Operation) (id, canonical, tool string) {
	dotted := idOf(o.ID)
	switch {
	case dotted == "":
		dotted = fromPath(o)
	case n.declared[o.ID] > 1:
		n.diags.Addf(api.Warning, "name/duplicate", o.Pointer, "the operationId %q is not unique; the operation is named after its method and path", o.ID)
		dotted = fromPath(o)
	}
	id = n.unique(n.ids, n.service+"."+dotted, ".", o)
	canonical = strings.ReplaceAll(strings.TrimPrefix(id, n.service+"."), ".", "_")
	tool = n.unique(n.tools, shorten(air.SnakeCase(n.service)+"_"+canonical), "_", o)
	return id, canonical, tool
}

// idOf spells an operationId as a dotted id: repos/list-for-org is
// repos.list_for_org.
func idOf(operationID string) string {
	var parts []string
	for p := range strings.FieldsFuncSeq(operationID, func(r rune) bool { return r == '/' || r == '.' || r == ':' || r == '#' }) {
		s := air.SnakeCase(p)
		switch {
		case s == "":
		case len(parts) > 0 && strings.Trim(s, "0123456789") == "": // a version: v2025.0
			parts[len(parts)-1] += "_" + s
		default:
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ".")
}

// fromPath is the name of an operation that has none: get_users_by_id.
func fromPath(o *api.Operation) string {
	parts := []string{o.Method}
	for _, s := range segments(o.Path) {
		w := air.SnakeCase(s)
		if w == "" {
			continue
		}
		if isParam(s) {
			w = "by_" + w
		}
		parts = append(parts, w)
	}
	return strings.Join(parts, "_")
}

func (n *namer) unique(taken map[string]bool, name, sep string, o *api.Operation) string {
	out := name
	for i := 2; taken[out]; i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	if out != name {
		n.diags.Addf(api.Info, "name/collision", o.Pointer, "the name %s is taken; the operation is %s", name, out)
	}
	taken[out] = true
	return out
}

// maxToolName is how long a tool name may be for common clients.
const maxToolName = 128

// shorten cuts a long name and ends it in a part of its hash.
func shorten(name string) string {
	if len(name) <= maxToolName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%s_%s", strings.TrimRight(name[:maxToolName-9], "_"), hex.EncodeToString(sum[:4]))
}

// displayName is a short title.
func displayName(o *api.Operation, canonical string) string {
	if s := strings.TrimRight(strings.Join(strings.Fields(o.Summary), " "), "."); s != "" {
		return s
	}
	w := strings.Join(strings.Split(canonical, "_"), " ")
	if w == "" {
		return strings.ToUpper(o.Method) + " " + o.Path
	}
	return strings.ToUpper(w[:1]) + w[1:]
}
