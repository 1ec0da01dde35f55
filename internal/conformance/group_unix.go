//go:build unix

package conformance

import (
	"os/exec"
	"syscall"
)

// ownGroup lets the process lead a group of its own, so that endGroup reaches
// its children too.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func endGroup(c *exec.Cmd) {
	// The group may be gone already.
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
}
