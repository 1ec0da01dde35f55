package compile

import (
	"strings"
	"testing"
)

func TestDescribes(t *testing.T) {
	for text, want := range map[string]bool{
		"openapi: 3.1.0\n":                          true,
		"# c\ninfo:\n  service: x\n'swagger' : 2\n": true,
		"\"openapi\":\r\n  3\r\n":                   true,
		"service:\n  id: a\nopenapi: 3\n":           false,
		"anvilVersion: 1":                           false,
		"x:\n  openapi: 3\n":                        false,
		"openapi":                                   false,
		"":                                          false,
		`{"info": {"service": 1}, "swagger": "2"}`: true,
		`{"x": "openapi", "service": {}}`:          false,
	} {
		if got := IsDescription([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A large text of garbage is not copied about to be told from a contract.
func TestIsDescriptionIsCheap(t *testing.T) {
	garbage := []byte(strings.Repeat("x y: z [ {\n", 200_000))
	if n := testing.AllocsPerRun(1, func() { IsDescription(garbage) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}
