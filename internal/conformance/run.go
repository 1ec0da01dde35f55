package conformance

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/anvil-sim/anvil/internal/canon"
)

// sentinel is what a trace file holds before a run: it must be appended to.
const sentinel = `{"schema":"anvil.simulator.trace/v1","seq":0,"note":"an earlier run"}` + "\n"

// A Runner runs sessions against one simulator binary.
type Runner struct {
	Binary string // absolute path of the simulator
	// Provider is the shell command of a process that calls [ServeScript] with
	// the session file and the folder.
	Provider func(sessionFile, logs string) string
}

// Run runs one session with dir, an empty folder, for its files. The faults are
// what differs from the recording, none when all is as recorded.
func (r Runner) Run(s *Session, dir string) (differences []string, err error) {
	f := &faults{Session: s}
	run := &running{faults: f, dir: dir, trace: filepath.Join(dir, "trace.jsonl")}
	if err := os.WriteFile(run.trace, []byte(sentinel), 0o644); err != nil {
		return nil, err
	}
	if err := run.start(r); err != nil {
		return nil, err
	}
	defer run.end()
	err = run.drive()
	return f.list, err
}

// running is one simulator process at work on a session.
type running struct {
	*faults
	dir, trace string
	child      *exec.Cmd
	stdout     *os.File
	stderr     *os.File
	exited     chan struct{} // closed when the process was waited for
	watchdog   *time.Timer
	origin     string
}

func (r *running) start(runner Runner) error {
	args := []string{"serve", "--contract", r.path("air.yaml"), "--port", "0"}
	traced := false
	for _, a := range r.spec.Get("serve").Get("args").Elems() {
		args = append(args, a.Text())
		traced = traced || a.Text() == "--trace"
	}
	if !traced {
		args = append(args, "--trace", r.trace)
	}
	if p := r.spec.Get("provider"); truthy(p) {
		command := p.Get("command").Text()
		if command == "" {
			command = runner.Provider(r.path("session.json"), r.dir)
		}
		args = append(args, "--provider-cmd", command)
	}
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	r.stdout = out
	if r.stderr, err = os.Create(filepath.Join(r.dir, "stderr")); err != nil {
		return err
	}
	r.child = exec.Command(runner.Binary, args...)
	r.child.Stdout, r.child.Stderr = in, r.stderr
	ownGroup(r.child)
	if err := r.child.Start(); err != nil {
		return err
	}
	r.exited = make(chan struct{})
	go func() {
		_ = r.child.Wait() // the status is read from ProcessState
		close(r.exited)
	}()
	r.watchdog = time.AfterFunc(60*time.Second, func() { endGroup(r.child) })
	return nil
}

// end stops whatever is left of the process and its children.
func (r *running) end() {
	r.watchdog.Stop()
	endGroup(r.child)
	<-r.exited
	r.stdout.Close()
	r.stderr.Close()
}

func (r *running) drive() error {
	line, _ := bufio.NewReader(r.stdout).ReadString('\n') // an early end shows as an empty line
	r.origin = strings.TrimSpace(line)
	if startup := r.spec.Get("startup"); startup != nil {
		if r.origin != "" {
			r.add("start", "a refusal with an empty stdout", r.origin)
			return nil
		}
		if err := r.checkExit(startup); err != nil {
			return err
		}
		return r.checkProvider()
	}
	if !strings.HasPrefix(r.origin, "http") {
		said, err := os.ReadFile(r.stderr.Name())
		r.add("start", "a URL line", r.origin+tail(string(said), 400))
		return err
	}
	for i, e := range r.spec.Get("exchanges").Elems() {
		r.exchange(i, e)
		<-time.After(millis(e.Get("pauseMs"), 0))
	}
	if err := r.stop(); err != nil {
		return err
	}
	if err := r.checkProvider(); err != nil {
		return err
	}
	return r.checkTrace()
}

func (r *running) exchange(i int, e *canon.Value) {
	members := e.Get("parallel").Elems()
	if members == nil {
		r.check(fmt.Sprintf("exchange %d", i+1), e, send(r.origin, e.Get("request"), nil))
		return
	}
	got := make([]answer, len(members))
	done := make([]chan struct{}, len(members))
	began := time.Now()
	for k, m := range members {
		done[k] = make(chan struct{})
		sent := make(chan struct{})
		go func() {
			got[k] = send(r.origin, m.Get("request"), func() { close(sent) })
			close(done[k])
		}()
		// The stagger counts from when the request is out, however long a busy
		// machine takes to dial.
		select {
		case <-done[k]:
		case <-sent:
		}
		select {
		case <-done[k]:
		case <-time.After(millis(e.Get("staggerMs"), 50)):
		}
	}
	for _, d := range done {
		<-d
	}
	if most := e.Get("maxMs"); most != nil && time.Since(began) > millis(most, 0) {
		r.add(fmt.Sprintf("exchange %d", i+1), fmt.Sprintf("all answered within %s ms", most), time.Since(began))
	}
	for k, m := range members {
		r.check(fmt.Sprintf("exchange %d parallel %d", i+1, k+1), m, got[k])
	}
}

// stop ends the process the way the session says.
func (r *running) stop() error {
	if shutdown := r.spec.Get("shutdown"); shutdown != nil {
		return r.checkExit(shutdown)
	}
	select {
	case <-r.exited:
		r.add("after the last exchange", "a running server", r.child.ProcessState)
	default:
		if err := r.child.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
	}
	return r.checkExit(canon.NewObject(canon.Member{Key: "exit", Value: canon.NewInt(0)}))
}

func (r *running) checkExit(want *canon.Value) error {
	select {
	case <-r.exited:
	case <-time.After(15 * time.Second):
		r.add("exit", want.Get("exit"), "still running after 15 s")
		return nil
	}
	code := r.child.ProcessState.ExitCode()
	if code < 0 || (code == 0) != (want.Get("exit").Float() == 0) {
		r.add("exit status", want.Get("exit"), r.child.ProcessState)
	}
	said, err := os.ReadFile(r.stderr.Name())
	if err != nil {
		return err
	}
	for _, name := range want.Get("names").Elems() {
		if !names(string(said), name.Text()) {
			r.add("stderr", "a text that names "+name.String(), tail(string(said), 300))
		}
	}
	return nil
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

func (r *running) checkProvider() error {
	if !truthy(r.spec.Get("provider")) {
		return nil
	}
	if err := r.checkInitialize(); err != nil {
		return err
	}
	want, recorded, err := readIfAny(r.path("invokes.jsonl"))
	if err != nil {
		return err
	}
	got, told, err := readIfAny(filepath.Join(r.dir, "invokes.jsonl"))
	if err != nil {
		return err
	}
	switch {
	case recorded:
		r.sameLines("provider request", want, r.neutral(got))
	case told:
		r.add("provider requests", "none", got)
	}
	if r.origin == "" || r.spec.Get("shutdown") != nil {
		return nil
	}
	if _, ok, err := readIfAny(filepath.Join(r.dir, "shutdown")); err != nil || !ok {
		r.add("provider", "a shutdown request", "none")
		return err
	}
	return nil
}

func (r *running) checkInitialize() error {
	wantText, ok, err := readIfAny(r.path("initialize.json"))
	if err != nil || !ok {
		return err
	}
	gotText, told, err := readIfAny(filepath.Join(r.dir, "initialize.json"))
	if err != nil {
		return err
	}
	if !told {
		gotText = "{}"
	}
	want, wantErr := canon.Parse([]byte(wantText), canon.Lenient)
	got, gotErr := canon.Parse([]byte(gotText), canon.Lenient)
	if wantErr != nil || gotErr != nil {
		r.add("initialize", "JSON", gotText)
		return nil
	}
	for _, key := range []string{"surfaceDigest", "simulator"} {
		if !truthy(got.Get(key)) {
			r.add("initialize", key, "absent")
		}
		if key == "simulator" || !truthy(r.spec.Get("surfaceDigest")) {
			want, got = want.With(key, nil), got.With(key, nil)
		}
	}
	if path, a, b, differ := r.firstDifference(want, got, ""); differ {
		r.add("initialize"+path, a, b)
	}
	return nil
}

// neutral takes the served URL out of a text.
func (r *running) neutral(s string) string {
	if r.origin == "" {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), r.origin, "{{origin}}")
}

func (r *running) checkTrace() error {
	said, err := os.ReadFile(r.trace)
	if err != nil {
		return err
	}
	got, kept := strings.CutPrefix(string(said), sentinel)
	if !kept {
		r.add("trace file", "appended to", "its earlier line is gone")
	}
	for _, secret := range r.spec.Get("traceLacks").Elems() {
		if strings.Contains(got, secret.Text()) {
			r.add("trace file", "no "+secret.String(), "present")
		}
	}
	want, ok, err := readIfAny(r.path("trace.jsonl"))
	if ok {
		r.sameLines("trace line", want, r.neutral(got))
	}
	return err
}
