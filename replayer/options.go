package replayer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/replayer/tape"
)

// AfterLast says what an equal request gets when each recorded answer was given.
type AfterLast string

// The values of AfterLast.
const (
	AfterError  AfterLast = "error"  // a miss
	AfterRepeat AfterLast = "repeat" // the last answer again
	AfterLoop   AfterLast = "loop"   // the first answer again, and so on
)

// Order says which order of requests a replay insists on.
type Order string

// The values of Order.
const (
	OrderCausal Order = "causal" // an answer comes before the requests that carry its values
	OrderStrict Order = "strict" // as recorded
	OrderFree   Order = "free"   // any; equal requests are answered in recorded order
)

// Options change how requests are matched; the zero value is strict.
type Options struct {
	// Match lists what is compared beyond the default, Ignore what is left out;
	// Ignore wins. A rule is FIELD or OPERATION:FIELD. FIELD is one of
	//
	//	path  path.NAME  query  query.NAME  body  body/POINTER
	//	header.NAME  cookie.NAME  host  key  cursor  size  principal  tenant
	//
	// where POINTER is a JSON Pointer with * for any one token, and covers what
	// stands below it. OPERATION is the operation's id, or METHOD /PATH of a
	// recording without a contract, with * for any text.
	Match, Ignore []string
	AfterLast     AfterLast // "" is error
	Order         Order     // "" is causal
	// Missed is told of each miss, beside the error that the caller gets. It may be
	// called by several goroutines at once. Nil tells nobody.
	Missed func(*Miss)
}

// Check reports an option that means nothing, with what is accepted.
func (o *Options) Check() error {
	_, err := o.compile()
	return err
}

func (o *Options) compile() (*rules, error) {
	r := &rules{}
	if o == nil {
		return r, nil
	}
	switch o.AfterLast {
	case "", AfterError, AfterRepeat, AfterLoop:
	default:
		return nil, fmt.Errorf("after-last is %q, want error, repeat or loop", o.AfterLast)
	}
	switch o.Order {
	case "", OrderCausal, OrderStrict, OrderFree:
	default:
		return nil, fmt.Errorf("order is %q, want causal, strict or free", o.Order)
	}
	for _, text := range o.Match {
		rule, err := parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("match rule: %w", err)
		}
		r.match = append(r.match, rule)
	}
	for _, text := range o.Ignore {
		rule, err := parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("ignore rule: %w", err)
		}
		r.ignore = append(r.ignore, rule)
	}
	return r, nil
}

// rules say which fields of a request take part in a match.
type rules struct {
	match, ignore []rule
	hidden        map[hiddenField]bool
}

// A hiddenField is a field of an operation that stands as a placeholder in some
// recorded request: a client sends the secret itself, so it cannot be compared.
type hiddenField struct{ op, class, name string }

// placeholders are what stands in a recording for a secret.
var placeholders = []string{"ANVIL-SECRET-", "[redacted]"}

// hide notes the placeholders of a recorded request.
func (r *rules) hide(a *asked) {
	for _, f := range a.fields {
		for _, p := range placeholders {
			if strings.Contains(f.value, p) {
				if r.hidden == nil {
					r.hidden = map[hiddenField]bool{}
				}
				r.hidden[hiddenField{a.op, f.class, f.name}] = true
			}
		}
	}
}

// hides reports whether any text of a recorded request may be a placeholder.
func hides(it *tape.Interaction) bool {
	for _, p := range placeholders {
		if strings.Contains(it.Request.URL, p) || bytes.Contains(it.Request.Body, []byte(p)) ||
			it.Call != nil && bytes.Contains(it.Call.Request, []byte(p)) {
			return true
		}
		for _, h := range it.Request.Header {
			if strings.Contains(h.Value, p) {
				return true
			}
		}
	}
	return false
}

// credential reports whether the field carries a secret by its name. Recordings
// hold a placeholder in its place, and messages must not show it.
func (f *field) credential() bool {
	name := f.name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	var buf [24]byte
	plain := buf[:0]
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == '.':
		case len(plain) == len(buf):
			return false
		case c >= 'A' && c <= 'Z':
			plain = append(plain, c-'A'+'a')
		default:
			plain = append(plain, c)
		}
	}
	switch string(plain) {
	case "accesskey", "accesstoken", "apikey", "apptoken", "assertion", "authtoken", "authorization", "clientsecret",
		"idtoken", "passwd", "password", "privatekey", "refreshtoken", "secret", "secretkey", "sessiontoken", "sig",
		"signature", "token", "xamzcredential", "xamzsecuritytoken", "xamzsignature", "xapikey":
		return true
	}
	return false
}

// A rule covers fields by name, of operations by pattern.
type rule struct {
	op    string   // pattern, "" for every operation
	class string   // path, query, body, header, ...
	name  string   // of a parameter, "" for all
	path  []string // of a body, pointer tokens
}

var classes = []string{"path", "query", "body", "header", "cookie", "host", "key", "cursor", "size", "principal", "tenant"}

func parseRule(text string) (rule, error) {
	r, ok := parseField(text)
	for i := 0; !ok && i < len(text); i++ {
		// A path may hold colons: the operation ends before the first one that a
		// field's name follows.
		if text[i] == ':' {
			r, ok = parseField(text[i+1:])
			r.op = text[:i]
		}
	}
	if !ok {
		return rule{}, fmt.Errorf("found %q, want FIELD or OPERATION:FIELD, where FIELD is path, path.NAME, query, query.NAME, body, body/POINTER, header.NAME, cookie.NAME, host, key, cursor, size, principal or tenant", text)
	}
	return r, nil
}

func parseField(text string) (rule, bool) {
	end := strings.IndexAny(text, "./")
	if end < 0 {
		end = len(text)
	}
	r := rule{class: text[:end]}
	rest := text[end:]
	switch {
	case !slices.Contains(classes, r.class):
		return r, false
	case rest == "":
		return r, true
	case r.class == "body":
		r.path = pointer(rest)
		return r, rest[0] == '/'
	case slices.Contains([]string{"path", "query", "header", "cookie"}, r.class):
		if r.name = rest[1:]; r.class == "header" {
			r.name = strings.ToLower(r.name)
		}
		return r, rest[0] == '.' && r.name != ""
	}
	return r, false
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

func pointer(text string) []string {
	tokens := strings.Split(strings.TrimPrefix(text, "/"), "/")
	for i, t := range tokens {
		tokens[i] = unescapePointer.Replace(t)
	}
	return tokens
}

// keeps reports whether a field takes part in a match.
func (r *rules) keeps(op string, f *field) bool {
	kept := f.class == "path" || (f.class == "query" || f.class == "body") && !f.credential() || f.class == "host" && f.always
	kept = kept && (r.hidden == nil || !r.hidden[hiddenField{op, f.class, f.name}])
	for i := range r.match {
		kept = kept || r.match[i].covers(op, f)
	}
	for i := range r.ignore {
		if r.ignore[i].covers(op, f) {
			return false
		}
	}
	return kept
}

// readsHeaders reports whether a header or cookie can take part in a match.
func (r *rules) readsHeaders() bool {
	return slices.ContainsFunc(r.match, func(m rule) bool { return m.class == "header" || m.class == "cookie" })
}

func (r *rule) covers(op string, f *field) bool {
	if r.class != f.class || r.op != "" && !glob(r.op, op) {
		return false
	}
	if r.class != "body" {
		return r.name == "" || r.name == f.name
	}
	tokens := f.tokens()
	if len(r.path) > len(tokens) {
		return false
	}
	for i, want := range r.path {
		if want != "*" && want != tokens[i] {
			return false
		}
	}
	return true
}

// glob matches a pattern in which * stands for any text.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
