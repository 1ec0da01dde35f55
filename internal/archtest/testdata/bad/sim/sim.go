// Package sim breaks the rules of the core.
package sim

import (
	"net/http"
	"time"

	"example.org/bad/sim/surface"
)

// Call looks at the clock.
func Call() (int64, string) { return time.Now().Unix(), http.MethodGet + surface.Name }

type clock struct{}

func (clock) Now() int { return 0 }

// Fine uses a local name that only looks like a package.
func Fine() int {
	time := clock{}
	return time.Now()
}
