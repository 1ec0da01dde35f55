package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
)

// FindOperations gives the ids of operations that are named by their ids or by the
// operationIds of their description; operations are those of a contract's tree. An
// id is meant before an operationId of the same text. A name that nothing has is an
// [UnknownError]; an operationId that several have is an error that lists them.
func FindOperations(operations []*api.Value, names []string) ([]string, error) {
	var known, found []string
	for _, op := range operations {
		known = append(known, opID(op))
		if id := sourceID(op); id != "" {
			known = append(known, id)
		}
	}
	for _, name := range names {
		ids := idsOf(operations, name)
		switch {
		case len(ids) == 0:
			return nil, unknown("operation", name, known)
		case len(ids) > 1:
			return nil, fmt.Errorf("the operationId %q is that of %d operations; name one by its id: %s", name, len(ids), strings.Join(ids, ", "))
		}
		found = append(found, ids[0])
	}
	return found, nil
}

func sourceID(op *api.Value) string { return op.Get("sourceRef").Get("operationId").Text() }

// idsOf are the ids of the operations that a name may mean.
func idsOf(operations []*api.Value, name string) []string {
	if slices.ContainsFunc(operations, func(op *api.Value) bool { return opID(op) == name }) {
		return []string{name}
	}
	var ids []string
	for _, op := range operations {
		if name != "" && sourceID(op) == name {
			ids = append(ids, opID(op))
		}
	}
	return ids
}
