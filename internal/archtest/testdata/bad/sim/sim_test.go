package sim

import (
	"testing"
	"time"
)

func TestSleep(t *testing.T) { time.Sleep(time.Second) }
