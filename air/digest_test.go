package air_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
)

// TestRecordedDigests holds the digests to those of recorded sessions.
func TestRecordedDigests(t *testing.T) {
	text, err := os.ReadFile("testdata/digests/expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 4 || words[0] == "#" {
			continue
		}
		name, capability, contract, surface := words[0], strings.Trim(words[1], "-"), words[2], words[3]
		t.Run(name, func(t *testing.T) {
			d, err := air.Load(filepath.Join("testdata/digests", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.ContractDigest(); got != contract {
				t.Errorf("contract digest %s, want %s", got, contract)
			}
			if got := d.SurfaceDigest(capability); surface != "-" && got != surface {
				t.Errorf("surface digest %s, want %s", got, surface)
			}
		})
		checked++
	}
	if checked < 8 {
		t.Errorf("%d contracts checked, want at least 8", checked)
	}
}
