//go:build unix

package stdio

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the child the leader of a process group of its own: Ctrl-C in a
// terminal does not reach it, and one signal reaches all that it started.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup signals the group that leader leads. A group that is gone is fine.
func signalGroup(leader *os.Process, sig syscall.Signal) { syscall.Kill(-leader.Pid, sig) }

// groupLives reports whether a process is left in the group that leader leads.
func groupLives(leader *os.Process) bool { return syscall.Kill(-leader.Pid, 0) == nil }

// signalNames are the signals that end processes, by the names people look up.
var signalNames = map[syscall.Signal]string{
	syscall.SIGABRT: "SIGABRT", syscall.SIGALRM: "SIGALRM", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE",
	syscall.SIGHUP: "SIGHUP", syscall.SIGILL: "SIGILL", syscall.SIGINT: "SIGINT", syscall.SIGKILL: "SIGKILL",
	syscall.SIGPIPE: "SIGPIPE", syscall.SIGQUIT: "SIGQUIT", syscall.SIGSEGV: "SIGSEGV", syscall.SIGTERM: "SIGTERM",
	syscall.SIGTRAP: "SIGTRAP", syscall.SIGUSR1: "SIGUSR1", syscall.SIGUSR2: "SIGUSR2", syscall.SIGXCPU: "SIGXCPU",
	syscall.SIGXFSZ: "SIGXFSZ",
}

// signalOf names the signal that ended a process, "" when it exited.
func signalOf(s *os.ProcessState) string {
	w, ok := s.Sys().(syscall.WaitStatus)
	if !ok || !w.Signaled() {
		return ""
	}
	if name := signalNames[w.Signal()]; name != "" {
		return name
	}
	return fmt.Sprint(int(w.Signal()))
}
