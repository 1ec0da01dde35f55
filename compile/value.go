package compile

import (
	"fmt"

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
