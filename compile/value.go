package compile

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// A builder makes an object key by key.
type builder struct{ members []canon.Member }

func (b *builder) set(key string, v any) {
	b.members = append(b.members, canon.Member{Key: key, Value: value(v)})
}

func (b *builder) object() *api.Value { return canon.NewObject(b.members...) }

// object makes an object of keys and values in turn.
func object(pairs ...any) *api.Value {
	b := builder{}
	for i := 0; i+1 < len(pairs); i += 2 {
		b.set(pairs[i].(string), pairs[i+1])
	}
	return b.object()
}

func value(v any) *api.Value {
	switch v := v.(type) {
	case *api.Value:
		return v
	case string:
		return canon.NewString(v)
	case bool:
		return canon.NewBool(v)
	case int:
		return canon.NewInt(int64(v))
	case []string:
		return strs(v)
	case []*api.Value:
		return canon.NewArray(v...)
	}
	panic(fmt.Sprintf("compile: no value for %T", v))
}

func strs(list []string) *api.Value {
	elems := make([]*api.Value, len(list))
	for i, s := range list {
		elems[i] = canon.NewString(s)
	}
	return canon.NewArray(elems...)
}

// valid is a value whose text is all UTF-8: a lone surrogate, which JSON can
// spell and YAML cannot, becomes U+FFFD.
func valid(v *api.Value, done map[*api.Value]*api.Value) *api.Value {
	switch v.Kind() {
	case canon.String:
		if s := v.Text(); !utf8.ValidString(s) {
			return canon.NewString(strings.ToValidUTF8(s, "\ufffd"))
		}
		return v
	case canon.Array, canon.Object:
	default:
		return v
	}
	if out, ok := done[v]; ok {
		return out
	}
	out := api.MapElems(v, func(e *api.Value) *api.Value { return valid(e, done) })
	if v.Is(canon.Object) {
		out = canon.MapMembers(v, func(_ string, m *api.Value) *api.Value { return valid(m, done) })
		for _, m := range out.Members() {
			if !utf8.ValidString(m.Key) {
				out = validKeys(out)
				break
			}
		}
	}
	done[v] = out
	return out
}

func validKeys(v *api.Value) *api.Value {
	members := slices.Clone(v.Members())
	for i := range members {
		members[i].Key = strings.ToValidUTF8(members[i].Key, "\ufffd")
	}
	return canon.NewObject(members...)
}
