//go:build !unix

package stdio

import (
	"os"
	"os/exec"
	"syscall"
)

// Without process groups a signal is for the provider alone, and what it started lives on.

func ownGroup(*exec.Cmd) {}

// signalGroup ends the process. There is no SIGTERM: its end of stdin asks it to end.
func signalGroup(leader *os.Process, sig syscall.Signal) {
	if sig == syscall.SIGKILL {
		_ = leader.Kill() // one that is gone is fine
	}
}

func groupLives(*os.Process) bool { return false }

// signalNames is empty: no process is ended by a signal that has a name here.
var signalNames = map[syscall.Signal]string{}

func signalOf(*os.ProcessState) string { return "" }
