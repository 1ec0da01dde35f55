package compile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/canon"
)

func TestFindOperations(t *testing.T) {
	list, err := canon.Parse([]byte(`[{"id": "s.a", "sourceRef": {"operationId": "one"}}, {"id": "s.b", "sourceRef": {"operationId": "two"}},
		{"id": "s.c", "sourceRef": {"operationId": "two"}}, {"id": "one2", "sourceRef": {"operationId": "s.a"}}, {"id": "s.d", "sourceRef": {}}]`), canon.Strict)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, want, fault string }{
		{"s.b", "s.b", ""},
		{"one", "s.a", ""},
		{"s.a", "s.a", ""}, // the id, not the operationId of another
		{"two", "", `the operationId "two" is that of 2 operations; name one by its id: s.b, s.c`},
		{"on", "", `unknown operation "on" (did you mean one?)`},
		{"", "", `unknown operation ""`},
	} {
		got, err := compile.FindOperations(list.Elems(), []string{tt.name})
		if tt.fault != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.fault) {
				t.Errorf("%q: %v, want %s", tt.name, err, tt.fault)
			}
			continue
		}
		if err != nil || !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%q: %v %v, want %s", tt.name, got, err, tt.want)
		}
	}
	var unknown *compile.UnknownError
	if _, err := compile.FindOperations(list.Elems(), []string{"nope"}); !errors.As(err, &unknown) || unknown.Name != "nope" {
		t.Errorf("got %v, want an UnknownError", err)
	}
}
