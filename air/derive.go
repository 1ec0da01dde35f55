package air

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Protocol is how an operation's API is spoken to.
type Protocol string

// The protocols of the operations of a contract.
const (
	HTTPJSON    Protocol = "HTTP+JSON"
	SOAP        Protocol = "SOAP"
	GraphQL     Protocol = "GraphQL"
	EventStream Protocol = "event stream" // a GraphQL subscription
	GRPC        Protocol = "gRPC"         // behind a JSON transcoder
	QueueBridge Protocol = "queue bridge"
	MCPTool     Protocol = "MCP tool"
)

// SnakeCase spells a name as agents see it. Words are split where a lower-case
// letter or digit meets a capital, before the last capital of a run that a
// lower-case letter follows, and at every run of other characters than ASCII
// letters and digits: HTMLBody is html_body, user-id is user_id, v2 is v2.
func SnakeCase(s string) string {
	out := make([]byte, 0, len(s)+4)
	for i := range len(s) {
		c := s[i]
		switch {
		case isUpper(c):
			starts := i > 0 && (isLower(s[i-1]) || isDigit(s[i-1]) ||
				isUpper(s[i-1]) && i+1 < len(s) && isLower(s[i+1]))
			if starts {
				out = breakWord(out)
			}
			out = append(out, c-'A'+'a')
		case isLower(c) || isDigit(c):
			out = append(out, c)
		default:
			out = breakWord(out)
		}
	}
	if n := len(out); n > 0 && out[n-1] == '_' {
		out = out[:n-1]
	}
	return string(out)
}

func breakWord(out []byte) []byte {
	if n := len(out); n > 0 && out[n-1] != '_' {
		return append(out, '_')
	}
	return out
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// Served lists the operations that a simulator serves, in document order: the
// approved ones, of those the ones that service.source.profile exposes when
// there is a profile, and of those the ones in the capability when one is
// chosen. The capability "" or the service's id is the whole service; one that
// the contract does not list is an error.
func (d *Document) Served(capability string) ([]*Operation, error) {
	return d.operations(capability, true)
}

func (d *Document) operations(capability string, exposedOnly bool) ([]*Operation, error) {
	in, err := d.capabilityOperations(capability)
	if err != nil {
		return nil, err
	}
	exposed := wordSet(d.Service.Exposed)
	var served []*Operation
	for _, o := range d.Operations {
		switch {
		case o.State != "approved":
		case exposedOnly && d.Service.HasProfile && !exposed[o.ID]:
		case in != nil && !in[o.ID]:
		default:
			served = append(served, o)
		}
	}
	return served, nil
}

// capabilityOperations is the set of a capability's operations, nil for the
// whole service.
func (d *Document) capabilityOperations(id string) (map[string]bool, error) {
	if id == "" || id == d.Service.ID {
		return nil, nil
	}
	ids := []string{d.Service.ID}
	for _, c := range d.Capabilities {
		if c.ID == id {
			return wordSet(c.OperationIDs), nil
		}
		ids = append(ids, c.ID)
	}
	const most = 20
	listed := ids
	if len(ids) > most {
		listed = append(slices.Clone(ids[:most]), fmt.Sprintf("%d more", len(ids)-most))
	}
	return nil, fmt.Errorf("unknown capability %q, want %s (the whole service)%s%s", id, ids[0],
		afterOr(listed[1:]), didYouMean(id, ids))
}

func afterOr(words []string) string {
	if len(words) == 0 {
		return ": the contract lists no capability"
	}
	return " or a capability: " + strings.Join(words, ", ")
}

func wordSet(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// Paged reports whether the operation serves items in pages: its action is list,
// or it declares a pagination.
func (o *Operation) Paged() bool { return o.Action == "list" || o.Pagination != nil }

// Kind is the coarse verb of the operation, from its effect and not from its
// method: read, list, search, create, update, delete or action. A POST to a
// literal segment under an item whose only declared success is 204 creates
// nothing, so it is an action.
func (o *Operation) Kind() string {
	if o.EffectKind == "read" {
		switch {
		case o.Action == "search":
			return "search"
		case o.Paged():
			return "list"
		}
		return "read"
	}
	switch o.Action {
	case "create":
		if o.commandsItem() {
			return "action"
		}
		return "create"
	case "update", "replace":
		return "update"
	case "delete":
		return "delete"
	}
	return "action"
}

func (o *Operation) commandsItem() bool {
	if o.Method != "post" || len(o.SuccessStatuses) != 1 || o.SuccessStatuses[0] != 204 {
		return false
	}
	segments := strings.Split(strings.Trim(o.Path, "/"), "/")
	last := len(segments) - 1
	return last > 0 && !strings.Contains(segments[last], "{") && strings.Contains(segments[last-1], "{")
}

// Protocol is how the operation's API is spoken to, by its source's kind and its
// binding.
func (o *Operation) Protocol() Protocol {
	binding := str(o.Binding, "protocol")
	switch {
	case binding == "queue_request_reply":
		return QueueBridge
	case binding == "graphql_sse":
		return EventStream
	}
	switch o.SourceKind {
	case "wsdl":
		return SOAP
	case "graphql":
		return GraphQL
	case "protobuf":
		if str(o.Binding, "transport") == "http_rule" {
			return HTTPJSON
		}
		return GRPC
	case "mcp":
		return MCPTool
	}
	return HTTPJSON
}

// reservedHeaders cannot carry an idempotency key: the client's own HTTP stack
// writes them.
var reservedHeaders = []string{
	"accept", "authorization", "connection", "content-length", "content-type", "cookie", "expect", "host",
	"proxy-authorization", "transfer-encoding",
}

// Carrier is where the operation's idempotency key travels, nil when it has
// none: only the modes required and key_supported have one. A header may have
// any legal name that is not reserved; a query or path carrier must be a
// declared parameter; a body carrier, a field name or a JSON Pointer that begins
// with a slash, must be declared in the body's schema.
func (o *Operation) Carrier() *Carrier { return o.carrier }

func (o *Operation) newCarrier() *Carrier {
	i := o.Idempotency
	if i.Key == "" || !i.keyed() {
		return nil
	}
	c := &Carrier{In: i.Mechanism, Name: i.Key}
	switch i.Mechanism {
	case "header":
		if !isToken(i.Key) || slices.Contains(reservedHeaders, strings.ToLower(i.Key)) {
			return nil
		}
	case "query", "path":
		if o.param(i.Mechanism, i.Key) == nil {
			return nil
		}
	case "body":
		if strings.HasPrefix(i.Key, "/") {
			c.Pointer = pointerTokens(i.Key)
		}
		if o.Body == nil || o.Body.declared(c.path()) == nil {
			return nil
		}
	default:
		return nil
	}
	return c
}

// Carries reports whether a parameter (by its in) or a top-level body field (in
// is body) of that wire name is the carrier itself: such an input is not counted
// as missing. False for nil.
func (c *Carrier) Carries(in, name string) bool {
	switch {
	case c == nil || c.In != in:
		return false
	case in == "header":
		return strings.EqualFold(c.Name, name)
	}
	path := c.path()
	return len(path) == 1 && path[0] == name
}

func (i Idempotency) keyed() bool { return i.Mode == "required" || i.Mode == "key_supported" }

func (o *Operation) param(in, name string) *Param {
	for _, p := range o.Params {
		if p.In == in && (p.Name == name || in == "header" && strings.EqualFold(p.Name, name)) {
			return p
		}
	}
	return nil
}

// path is the way to a body carrier's value.
func (c *Carrier) path() []string {
	if c.Pointer != nil {
		return c.Pointer
	}
	return []string{c.Name}
}

// declared is the schema of a value inside the body, nil when the body declares
// none.
func (b *Body) declared(path []string) *Value {
	if s := schemaAt(b.Schema, path); s != nil {
		return s
	}
	for _, f := range b.Fields {
		if f.Name == path[0] {
			return schemaAt(f.Schema, path[1:])
		}
	}
	return nil
}

func schemaAt(schema *Value, path []string) *Value {
	for _, key := range path {
		schema = Property(schema, key)
	}
	return schema
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

func pointerTokens(pointer string) []string {
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		tokens[i] = unescapePointer.Replace(t)
	}
	return tokens
}

// isToken reports whether s is a legal header name.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r > 0x7E || r <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// responseBudget is how many tokens a page is sized to.
const responseBudget = 8000

// DerivedPageSize is how many items a page holds when the caller does not say,
// as far as the contract tells: ok is false when it tells nothing. Without a
// page size parameter it is maxPageSize, else defaultPageSize. With one it is as
// many items of disclosureCost.responseItemTokens as fit into 8000 tokens, at
// least 1, else defaultPageSize; at most maxPageSize.
func (o *Operation) DerivedPageSize() (size int, ok bool) {
	p := o.Pagination
	switch {
	case p == nil:
		return 0, false
	case p.PageSizeParam == "" && p.MaxPageSize > 0:
		return p.MaxPageSize, true
	case p.PageSizeParam == "" || o.ResponseItemTokens == 0:
		size = p.DefaultPageSize
	default:
		size = int(max(1, responseBudget/o.ResponseItemTokens))
	}
	if p.MaxPageSize > 0 {
		size = min(size, p.MaxPageSize)
	}
	return size, size > 0
}

// ResourceNoun is what the operation is about: effect.resource, else the last
// word of the snake_case canonical name.
func (o *Operation) ResourceNoun() string {
	if o.Resource != "" {
		return o.Resource
	}
	name := SnakeCase(o.CanonicalName)
	return name[strings.LastIndexByte(name, '_')+1:]
}

// clampInt turns a number of a contract into an int.
func clampInt(f float64) int {
	return int(max(math.MinInt32, min(f, math.MaxInt32)))
}
