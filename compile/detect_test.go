package compile

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
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
		if got := describes([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Neither a large text of garbage nor a file beyond the limit is copied about
// to be told from a contract.
func TestIsDescriptionIsCheap(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.yaml")
	garbage := []byte(strings.Repeat("x y: z [ {\n", 200_000))
	if n := testing.AllocsPerRun(1, func() { describes(garbage) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
	if err := os.WriteFile(file, []byte("openapi: 3.1.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, air.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	is, err := IsDescription(file)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; is || err != nil || got > 1<<20 {
		t.Errorf("%v, %v, %d bytes allocated", is, err, got)
	}
}
