package compile

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
)

// An effect is what an operation does to the API's state.
type effect struct {
	kind, action, resource, risk string
	reversible                   bool
	method                       string // how it was found out: http_method, name, name_and_text
	confidence                   string // a JSON number
}

var (
	readVerbs = wordSet(`get list find search query fetch read show view retrieve lookup describe count check verify validate
		download export head browse poll inspect test exists is has info history preview estimate parse calculate`)
	searchVerbs   = wordSet("search find query lookup")
	createVerbs   = wordSet("create add new insert register post provision upload import open start_new make generate fork clone copy duplicate")
	updateVerbs   = wordSet("update edit set modify patch change rename move assign unassign configure mark upsert replace put remove reorder restore lock unlock pin unpin star unstar enable disable archive unarchive merge transfer convert reset link unlink attach detach")
	deleteVerbs   = wordSet("delete destroy purge wipe erase drop")
	sendVerbs     = wordSet("send notify email publish broadcast reply forward invite share me_message schedule_message answer")
	executeVerbs  = wordSet("execute run trigger invoke start stop restart rerun retry dispatch launch submit process sync refresh ping pause resume kill exec call")
	approveVerbs  = wordSet("approve accept confirm authorize grant")
	cancelVerbs   = wordSet("cancel abort revoke reject deny decline dismiss void close end logout")
	reserveVerbs  = wordSet("reserve book hold lease")
	validateVerbs = wordSet("validate verify check lint")
	simulateVerbs = wordSet("simulate preview estimate calculate dry")
	exportVerbs   = wordSet("export download")

	// mutatingVerbs begin the name of a GET that is no read all the same.
	mutatingVerbs = wordSet("delete destroy remove purge revoke create update send reset cancel archive unarchive kick logout disable approve reject activate deactivate set add")

	// rpcMutating are verbs that make a GET a mutation where the path is a call
	// (/views.open) and so says what it does.
	rpcMutating = wordSet("open publish push uninstall install share request exchange invite join leave post rename kick mark pin unpin add start end")

	// postReads are the verbs of a POST that reads. Checking and testing are not
	// among them: they tend to reach out.
	postReads = wordSet("get list find search query fetch lookup retrieve describe count parse estimate preview")

	destructiveWords = wordSet("delete deletes destroy purge wipe erase remove removes revoke kick ban drop prune terminate deactivate")
	financialWords   = wordSet("payment payments pay charge charges refund refunds payout payouts invoice invoices purchase purchases subscription billing withdrawal withdraw transfer_money capture checkout")
)

// verbActions tells what a verb does, in the order in which they are tried.
var verbActions = []struct {
	verbs  map[string]bool
	action string
}{
	{deleteVerbs, "delete"}, {cancelVerbs, "cancel"}, {approveVerbs, "approve"}, {reserveVerbs, "reserve"}, {sendVerbs, "send"},
	{executeVerbs, "execute"}, {validateVerbs, "validate"}, {simulateVerbs, "simulate"}, {updateVerbs, "update"}, {createVerbs, "create"},
}

// named is what the names of an operation say.
type named struct {
	verb     string // the verb that the operation's name begins with, "" when it begins with none
	pathVerb string // the verb that the path ends in: /runs/{id}/cancel
	resource string
	first    bool // the name begins with the verb
	call     bool // the path names a method: /views.open
}

var anyVerb = func() map[string]bool {
	all := map[string]bool{}
	for _, v := range verbActions {
		for w := range v.verbs {
			all[w] = true
		}
	}
	for w := range readVerbs {
		all[w] = true
	}
	return all
}()

// readNames takes an operation's names apart.
func readNames(o *api.Operation) named {
	var n named
	if parts := strings.Split(idOf(o.ID), "."); parts[0] != "" {
		if w := strings.Split(parts[len(parts)-1], "_"); len(w) > 0 {
			n.verb = firstVerb(w)
			n.first = n.verb == w[0]
		}
	}
	n.resource, n.pathVerb = pathNoun(o.Path)
	n.call = strings.Contains(lastOf(literals(o.Path)), ".") && !isParam(lastOf(segments(o.Path)))
	if n.verb == "" {
		n.verb = n.pathVerb
	}
	return n
}

// firstVerb is the verb of a name, which stands first, or behind what it is
// about: me_ListMessages, files_list.
func firstVerb(w []string) string {
	if anyVerb[w[0]] {
		return w[0]
	}
	for _, at := range []int{1, len(w) - 1, 2} {
		if at > 0 && at < len(w) && anyVerb[w[at]] && !isPlural(w[at]) {
			return w[at]
		}
	}
	return ""
}

// pathNoun is the resource that a path is about, singular, and the verb that it
// ends in: a last part that is a verb phrase is no resource.
func pathNoun(path string) (noun, verb string) {
	list := nouns(path)
	if len(list) == 0 {
		return "", ""
	}
	last := list[len(list)-1]
	if _, custom, ok := strings.Cut(last, ":"); ok && custom != "" { // /items:search
		verb = words(custom)[0:1][0]
	}
	if dots := strings.Split(last, "."); len(dots) > 1 { // /admin.users.list
		if w := words(dots[len(dots)-1]); len(w) > 0 {
			noun := strings.Join(words(strings.Join(dots[:len(dots)-1], "_")), "_")
			return singularLast(noun), w[0]
		}
	}
	endsInParam := isParam(lastOf(segments(path)))
	for i := len(list) - 1; i >= 0; i-- {
		name, _, _ := strings.Cut(list[i], ":")
		w := words(name)
		if len(w) == 0 {
			continue
		}
		if i == 0 && len(list) == 1 && len(w) == 1 && searchVerbs[w[0]] {
			return "", w[0] // /rest/api/3/search
		}
		isVerb := anyVerb[w[0]] && !isPlural(w[len(w)-1]) && (i > 0 || len(w) > 1) || anyVerb[w[0]] && len(w) > 1
		if isVerb && i == len(list)-1 && !endsInParam && verb == "" {
			verb = w[0]
		}
		if isVerb && len(w) > 1 && len(list) == 1 {
			return singularLast(strings.Join(w[1:], "_")), verb // /sendMessage
		}
		if isVerb && i > 0 {
			continue
		}
		return singularLast(strings.Join(w, "_")), verb
	}
	return singularLast(strings.Join(words(list[0]), "_")), verb
}

// nouns are the literal parts of a path without a prefix such as /rest/api/3.
func nouns(path string) []string {
	list := literals(path)
	for len(list) > 1 && formats[strings.ToLower(list[len(list)-1])] {
		list = list[:len(list)-1] // /containers/json
	}
	for len(list) > 1 && (noise[strings.ToLower(list[0])] || strings.Trim(list[0], "0123456789.-") == "" || isVersionWord(strings.ToLower(list[0]))) {
		list = list[1:]
	}
	return list
}

var formats = wordSet("json xml raw csv html")

func lastOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func singularLast(noun string) string {
	i := strings.LastIndexByte(noun, '_') + 1
	return noun[:i] + singular(noun[i:])
}

// classify finds out what an operation does. A mutation stays one unless two
// things speak for a read; a read becomes a mutation when its name says so.
func (c *compiler) classify(o *operation) {
	n := readNames(o.src)
	e := effect{resource: n.resource, risk: "none", reversible: true, method: "http_method", confidence: "0.9"}
	safe := o.src.Method == "get" || o.src.Method == "head" || o.src.Method == "options" || o.src.Method == "trace"
	switch {
	case safe && (n.first && mutatingVerbs[n.verb] && (n.verb == n.pathVerb || n.verb == n.resource || saysVerb(o.src, n.verb)) ||
		n.call && (mutatingVerbs[n.pathVerb] || rpcMutating[n.pathVerb])):
		e.kind, e.method, e.confidence = "mutation", "name", "0.6"
		c.note(o, api.Warning, "effect/get_mutates", "a %s that is named %q is taken for a mutation", strings.ToUpper(o.src.Method), n.verb)
	case safe:
		e.kind = "read"
	case o.src.Method == "post" && c.readsByPost(o, n):
		e.kind, e.method, e.confidence = "read", "name_and_text", "0.7"
		c.note(o, api.Warning, "effect/post_reads", "a POST whose name and text speak of reading is taken for a read")
	default:
		e.kind = "mutation"
	}
	if e.kind == "read" {
		e.action = c.readAction(o, n)
	} else {
		e.action = c.mutationAction(o, n)
		c.risk(o, &e, n)
	}
	if e.resource == "" && o.paging != nil {
		e.resource = singularLast(air.SnakeCase(o.paging.items[strings.LastIndexByte(o.paging.items, '.')+1:]))
	}
	if e.resource == "" {
		e.resource = lastOf(words(o.canonical))
	}
	o.effect = e
}

// readsByPost reports whether name and text both speak of reading.
func (c *compiler) readsByPost(o *operation, n named) bool {
	if !postReads[n.verb] && !postReads[n.pathVerb] || mutatingVerbs[n.verb] {
		return false
	}
	if n.pathVerb != "" && !readVerbs[n.pathVerb] {
		return false
	}
	if c.oneMethod && postReads[n.verb] && n.first {
		return true // the method says nothing where there is no other
	}
	text := words(o.src.Summary + " " + firstSentence(o.src.Description))
	speaks := false
	for i, w := range text {
		if i > 14 {
			break
		}
		w = singular(w)
		if mutatingVerbs[w] {
			return false
		}
		speaks = speaks || readVerbs[w] || w == "return" || w == "search" || w == "retrieve"
	}
	return speaks
}

// saysVerb reports whether the text of an operation begins with a verb.
func saysVerb(o *api.Operation, verb string) bool {
	for _, text := range []string{o.Summary, o.Description} {
		if w := words(firstSentence(text)); len(w) > 0 && singular(w[0]) == singular(verb) {
			return true
		}
	}
	return false
}

func firstSentence(s string) string {
	if i := strings.IndexAny(s, ".\n"); i >= 0 {
		s = s[:i]
	}
	if len(s) > 300 {
		s = s[:300]
	}
	return s
}

// readAction says how an operation reads. It is a list when the response is an
// array, or pages; a search when it pages and is named so.
func (c *compiler) readAction(o *operation, n named) string {
	searches := searchVerbs[n.verb] || searchVerbs[n.pathVerb]
	if list := nouns(o.src.Path); len(list) > 1 {
		searches = searches || list[0] == "search" // /search/repositories
	}
	switch {
	case o.paging != nil && searches:
		return "search"
	case o.paging != nil || c.schemas.typ(o.output) == "array":
		return "list"
	case exportVerbs[n.verb] || exportVerbs[n.pathVerb]:
		return "export"
	case validateVerbs[n.verb] || validateVerbs[n.pathVerb]:
		return "validate"
	case simulateVerbs[n.verb] || simulateVerbs[n.pathVerb]:
		return "simulate"
	case c.listsByShape(o, n, searches):
		return "list"
	case searches:
		return "search"
	}
	return "get"
}

// listsByShape reports whether the response is an envelope around one array, and
// the names speak of several.
func (c *compiler) listsByShape(o *operation, n named, searches bool) bool {
	items := c.itemsOf(o.output, n.resource)
	last := lastOf(segments(o.src.Path))
	if items == "" || isParam(last) {
		return false
	}
	lists := n.verb == "list" || n.pathVerb == "list"
	several := lists || searches || isPlural(lastOf(words(trimExt(last))))
	return lists || several && (usualItems[air.SnakeCase(items)] || sameNoun(items, n.resource))
}

// mutationAction says what a mutation does.
func (c *compiler) mutationAction(o *operation, n named) string {
	byVerb := func(verb string) string {
		for _, v := range verbActions {
			if v.verbs[verb] {
				return v.action
			}
		}
		return ""
	}
	endsInParam := isParam(lastOf(segments(o.src.Path)))
	switch o.src.Method {
	case "delete":
		if cancelVerbs[n.verb] && n.verb == "cancel" {
			return "cancel"
		}
		return "delete"
	case "patch":
		return "update"
	case "put":
		if a := byVerb(n.pathVerb); a != "" && a != "create" {
			return a
		}
		return "replace"
	}
	if name := lastOf(nouns(o.src.Path)); (n.verb == "post" || n.pathVerb == "post") && strings.Contains(strings.ToLower(name), "message") {
		return "send" // /chat.postMessage
	}
	for _, verb := range []string{n.pathVerb, n.verb} {
		switch a := byVerb(verb); {
		case a == "":
		case a == "create" && verb == n.pathVerb && verb != "create" && commandsItem(o.src.Path):
			return "update" // /tasks/{id}/addTag changes the task
		default:
			return a
		}
	}
	switch {
	case o.src.Method != "post" || endsInParam:
	case searchVerbs[n.pathVerb]:
		return "search"
	case !readVerbs[n.pathVerb]:
		return "create"
	}
	c.note(o, api.Warning, "effect/unknown_action", "nothing tells what this mutation does")
	return "other"
}

// commandsItem reports whether a path ends in a word right under an item.
func commandsItem(path string) bool {
	list := segments(path)
	return len(list) > 1 && isParam(list[len(list)-2]) && !isParam(list[len(list)-1])
}

// risk weighs a mutation by the words of its names.
func (c *compiler) risk(o *operation, e *effect, n named) {
	e.risk = "medium"
	has := func(set map[string]bool) bool {
		for _, w := range append(words(o.src.ID), words(lastOf(literals(o.src.Path)))...) {
			if set[w] {
				return true
			}
		}
		return false
	}
	switch {
	case e.action == "delete" || has(destructiveWords):
		e.risk, e.reversible = "destructive", false
	case has(financialWords):
		e.risk, e.reversible = "financial", false
	case e.action == "send":
		e.risk, e.reversible = "high", false
	case e.action == "execute" || e.action == "approve":
		e.risk = "high"
	}
}
