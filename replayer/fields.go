package replayer

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A field is one comparable part of a request.
type field struct {
	class  string // path, query, body, header, cookie, host, key, cursor, size, principal, tenant
	name   string // of a parameter; the JSON Pointer of a body's leaf; "" for a whole
	value  string // equal for equal values: the identity form of JSON
	always bool   // a class that is off by default is on here
}

// label is how a rule names the field.
func (f *field) label() string {
	switch {
	case f.name == "":
		return f.class
	case f.class == "body":
		return "body" + f.name
	}
	return f.class + "." + f.name
}

// tokens are the tokens of a body leaf's pointer.
func (f *field) tokens() []string {
	if f.name == "" {
		return nil
	}
	return pointer(f.name)
}

// An asked is a request in the form in which requests are compared.
type asked struct {
	op     string  // for rules and messages: an operation id, or METHOD /path
	group  string  // requests of different groups are never equal: an operation id, or a method
	key    string  // idempotency key, "" for none
	fields []field // sorted by class and name
}

func (a *asked) add(class, name, value string) {
	a.fields = append(a.fields, field{class: class, name: name, value: value})
}

// text adds a field whose value is a text.
func (a *asked) text(class, name, text string) {
	a.add(class, name, string(canon.AppendString(nil, text)))
}

func (a *asked) sort() {
	slices.SortStableFunc(a.fields, func(x, y field) int {
		return cmp.Or(cmp.Compare(x.class, y.class), cmp.Compare(x.name, y.name))
	})
}

// A matchKey is equal for requests that match.
type matchKey [sha256.Size]byte

func (a *asked) matchKey(r *rules) matchKey {
	buf := append(make([]byte, 0, 512), a.group...)
	for i := range a.fields {
		f := &a.fields[i]
		if !r.keeps(a.op, f) {
			continue
		}
		buf = append(append(append(buf, 0), f.class...), 0)
		buf = append(append(append(buf, f.name...), 0), f.value...)
	}
	return sha256.Sum256(buf)
}

// longText is where a text that is no JSON is compared by its digest.
const longText = 512

// opaque adds a body that is no JSON, or a part of one.
func (a *asked) opaque(name string, body []byte) {
	if len(body) <= longText {
		a.text("body", name, string(body))
		return
	}
	sum := sha256.Sum256(body)
	a.add("body", name, "sha256:"+hex.EncodeToString(sum[:])+" ("+strconv.Itoa(len(body))+" bytes)")
}

// leaves adds the leaves of a JSON value under a pointer; empty arrays and
// objects are leaves.
func (a *asked) leaves(at string, v *canon.Value) {
	switch {
	case v.Is(canon.Object) && len(v.Members()) > 0:
		for _, m := range v.Members() {
			a.leaves(at+"/"+escapePointer.Replace(m.Key), m.Value)
		}
	case v.Is(canon.Array) && len(v.Elems()) > 0:
		for i, e := range v.Elems() {
			a.leaves(at+"/"+strconv.Itoa(i), e)
		}
	default:
		a.add("body", at, string(canon.AppendIdentity(nil, v)))
	}
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// list is the value of a parameter that was sent with these texts.
func list(texts []string) string {
	if len(texts) == 1 {
		return string(canon.AppendString(nil, texts[0]))
	}
	dst := []byte{'['}
	for i, t := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(dst, t)
	}
	return string(append(dst, ']'))
}
