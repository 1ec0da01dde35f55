package stdio

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/anvil-sim/anvil/internal/ndjson"
)

// supervise waits for the end of the session, ends what is left of the provider,
// retires the pending calls and says how it ended.
func (p *Process) supervise() {
	defer close(p.done)
	defer closeAll(p.stdin, p.stdout, p.stderr)
	broken := p.untilExit()
	planned := isClosed(p.closing)
	p.drain(planned)
	switch {
	case broken != "":
		p.death = unavailable("%s%s", broken, p.lastWords())
	case !planned:
		p.death = unavailable("State provider exited (%s)%s", describe(p.cmd.ProcessState), p.lastWords())
	default:
		p.conn.fail(unavailable("State provider was shut down"))
		return
	}
	p.conn.fail(p.death)
}

func (p *Process) lastWords() string {
	if text := p.tail.String(); text != "" {
		return ". Last stderr: " + text
	}
	return ""
}

// untilExit returns once the child has exited. A provider that can no longer be
// talked to is ended; broken says why it could not.
//
// A closed pipe is mostly the first sign of a death, so the exit is waited for: it
// says more than "broken pipe" does.
func (p *Process) untilExit() (broken string) {
	select {
	case <-p.exited:
		return ""
	case <-p.read:
		if p.readErr != nil {
			broken = p.readFault()
			break
		}
		broken = p.lingers("State provider closed its stdout but is still running")
	case <-p.conn.writeErr:
		broken = p.lingers("State provider closed its stdin but is still running")
	}
	if broken != "" {
		signalGroup(p.cmd.Process, syscall.SIGKILL)
		<-p.exited
	}
	return broken
}

// lingers waits for the exit of a provider that closed a pipe; it is what, when
// that does not come.
func (p *Process) lingers(what string) string {
	patience := time.NewTimer(p.bounds.linger)
	defer patience.Stop()
	select {
	case <-p.exited:
	case <-p.closing: // Close sees to the end
		<-p.exited
	case <-patience.C:
		return what
	}
	return ""
}

func (p *Process) readFault() string {
	var long *ndjson.TooLongError
	if errors.As(p.readErr, &long) {
		return fmt.Sprintf("State provider wrote a line of more than %d bytes to its stdout (line %d)", long.Max, long.Number)
	}
	return fmt.Sprintf("State provider's stdout could not be read (%v)", p.readErr)
}

// drain reads the pipes to their end after the child exited, so that its last
// answers and its last words count. What else runs in its process group, and may
// hold the pipes open, is ended: soon after a death, by the rungs of Close after a
// shutdown. Where nothing is left in the group, nobody is waited for who could have
// more to say: a process that left it holds the pipes.
func (p *Process) drain(planned bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-p.read
		<-p.logged
	}()
	var enough <-chan time.Time
	if !planned || !groupLives(p.cmd.Process) {
		patience := time.NewTimer(p.bounds.drain)
		defer patience.Stop()
		enough = patience.C
	}
	select {
	case <-ended:
	case <-enough:
	case <-p.forced:
	}
	signalGroup(p.cmd.Process, syscall.SIGKILL)
	// A process that left the group may still hold a pipe: stop reading then.
	last := time.NewTimer(p.bounds.drain)
	defer last.Stop()
	select {
	case <-ended:
	case <-last.C:
		p.stdout.SetReadDeadline(time.Now())
		p.stderr.SetReadDeadline(time.Now())
		<-p.read
	}
}

// describe names the exit code or the signal. A shell that waits for the provider
// tells a signal by an exit code over 128.
func describe(s *os.ProcessState) string {
	if s == nil {
		return "its exit status is not known"
	}
	if name := signalOf(s); name != "" {
		return "signal " + name
	}
	if name := signalNames[syscall.Signal(s.ExitCode()-128)]; name != "" {
		return fmt.Sprintf("exit code %d, as by signal %s", s.ExitCode(), name)
	}
	return fmt.Sprintf("exit code %d", s.ExitCode())
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
