package recorder

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/recorder/scrub"
	"github.com/anvil-sim/anvil/recorder/vcr"
)

// DefaultMaxBody is how much of a body is kept by default, in bytes.
const DefaultMaxBody = 512 << 20

// Options say how to record. The zero value and nil are usable.
type Options struct {
	// Append goes on with a tape instead of refusing one that exists.
	Append bool
	// Replace throws a tape away that exists. Append wins.
	Replace bool
	// Rules are added to the built-in rules of scrubbing.
	Rules *scrub.Rules
	// Contract adds the credential carriers that it declares to the rules, and
	// makes the summary tell which operations were seen.
	Contract *air.Document
	// MaxBody is how many bytes of a body are kept; a longer one is kept cut, with a
	// note. 0 is DefaultMaxBody.
	MaxBody int64
	// Random makes the keys of bodies that wait on disk; crypto/rand.Reader is the
	// one to give. Nil holds bodies in memory.
	Random io.Reader
	// TempDir is where bodies wait; "" is the system's.
	TempDir string
	// Now makes answers keep their duration. Nil stores none, so that two recordings
	// of the same traffic are equal.
	Now func() time.Time
	// Chunks keeps in which pieces an answer of no declared length came, as it came:
	// two recordings of the same traffic may differ in it. Without it a replay sends
	// the events of an event stream and the lines of JSON lines one by one.
	Chunks bool
	// Warn is told of each exchange that was not written, and why. It may be called by
	// several goroutines at once. Nil drops it; the summary counts.
	Warn func(error)
}

// A Recorder writes exchanges to one tape. Its methods may be called by several
// goroutines at once.
type Recorder struct {
	tape  *vcr.File // nil records nothing
	scrub *scrub.Scrubber
	room  *spoolRoom
	now   func() time.Time
	keep  bool // the pieces of answers
	warn  func(error)
	cover *coverage
	clock atomic.Uint64

	mu  sync.Mutex
	sum Summary
}

// Open makes a recorder for a tape; the path "" records nothing and counts only.
// The error wraps vcr.ErrExists when the tape is there and neither Append nor
// Replace is set.
func Open(path string, opts *Options) (*Recorder, error) {
	if opts == nil {
		opts = &Options{}
	}
	rules, err := WithCarriers(opts.Rules, opts.Contract)
	if err != nil {
		return nil, err
	}
	r := &Recorder{now: opts.Now, keep: opts.Chunks, warn: opts.Warn, room: &spoolRoom{memory: bodyMemory, max: opts.MaxBody, random: opts.Random, dir: opts.TempDir}}
	if r.room.max <= 0 {
		r.room.max = DefaultMaxBody
	}
	if r.warn == nil {
		r.warn = func(error) {}
	}
	if opts.Contract != nil {
		r.cover = newCoverage(opts.Contract)
	}
	used := 0
	if path != "" {
		if opts.Append {
			r.tape, err = vcr.Append(path)
		} else {
			r.tape, err = vcr.Create(path, opts.Replace)
		}
		if err != nil {
			return nil, err
		}
		used = r.tape.Placeholders()
	}
	r.scrub = scrub.New(rules, scrub.NewVault(used))
	return r, nil
}

// Close ends the recording: the tape is rewritten in canonical order.
func (r *Recorder) Close() error {
	if r.tape == nil {
		return nil
	}
	return r.tape.Close()
}

// A RefusedError says that an exchange was not written because it still looks as
// if it held secrets.
type RefusedError struct {
	Method, URL string
	Found       []scrub.Finding
}

// Error implements error.
func (e *RefusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s is not on the tape: it still looks as if it held a secret", e.Method, e.URL)
	for i, f := range e.Found {
		if i == 5 {
			fmt.Fprintf(&b, "; and %d more", len(e.Found)-i)
			break
		}
		fmt.Fprintf(&b, "; %s", f)
	}
	return b.String()
}

// Hint says what to do next.
func (e *RefusedError) Hint() string {
	return "name the place in a rules file: json, fields, headers, query or patterns hide it, allow keeps it (--rules FILE)"
}

// An exchange is one call on its way.
type exchange struct {
	r             *Recorder
	method, url   string
	header        http.Header
	names         []string
	body          *spool
	tee           *tee // of the request's body; nil without one
	trailer       http.Header
	resp          *http.Response
	respNames     []string
	respBody      *spool
	pieces        pieces // of respBody
	informational []vcr.Informational
	failure       error // there was no answer, or no whole one
	left          bool  // the caller did not wait for the end
	begin         uint64
	started       time.Time
	once          sync.Once
	err           error
}

func (r *Recorder) begin(method, url string, header http.Header) *exchange {
	x := &exchange{r: r, method: method, url: url, header: endToEnd(header), begin: r.clock.Add(1), body: r.room.spool(), respBody: r.room.spool()}
	if r.now != nil {
		x.started = r.now()
	}
	return x
}

// finish puts the exchange on the tape. Only the first call does something, all
// return its error.
func (x *exchange) finish() error {
	x.once.Do(func() {
		x.trailer = x.tee.freeze()
		defer func() { x.body.close(); x.respBody.close() }()
		x.r.count(x)
		if x.left && transfer(x.resp) != "sse" {
			return
		}
		if x.err = x.write(); x.err != nil {
			x.r.refused()
			x.r.warn(x.err)
		}
	})
	return x.err
}

func (x *exchange) write() error {
	r := x.r
	if r.tape == nil {
		return nil
	}
	it := &vcr.Interaction{Begin: x.begin, End: r.clock.Add(1)}
	it.Request.URL, it.Request.Method = r.scrub.URL(x.url), x.method
	found := r.scrub.ScanText("request.url", []byte(it.Request.URL))
	req, err := r.store("request", x.header, x.body, x.trailer)
	defer req.close()
	if err != nil {
		return missing(it, err)
	}
	it.Request.Header, it.Request.Body, it.Request.Notes = req.header, req.body, req.notes
	it.Request.Names = x.names
	it.Request.Form = form(req)
	found = append(found, req.found...)
	resp, err := x.answer(it)
	defer resp.close()
	if err != nil {
		return missing(it, err)
	}
	if found = append(found, resp.found...); len(found) > 0 {
		return &RefusedError{x.method, it.Request.URL, found}
	}
	if err := r.tape.Write(it); err != nil {
		return missing(it, err)
	}
	return nil
}

// missing names the exchange that an error kept from the tape.
func missing(it *vcr.Interaction, err error) error {
	return fmt.Errorf("%s %s is not on the tape: %w", it.Request.Method, it.Request.URL, err)
}

func (x *exchange) answer(it *vcr.Interaction) (*stored, error) {
	out := &it.Response
	if x.failure != nil {
		out.Failure, out.Status = failure(x.failure)
	}
	if x.resp == nil {
		return &stored{}, nil
	}
	r := x.r
	resp, err := r.store("response", endToEnd(x.resp.Header), x.respBody, x.resp.Trailer)
	if err != nil {
		return resp, err
	}
	out.Code, out.Status = x.resp.StatusCode, x.resp.Status
	out.Header, out.Body, out.Notes = resp.header, resp.body, resp.notes
	out.Names, out.Informational, out.Transfer = x.respNames, x.informational, transfer(x.resp)
	for i := range out.Informational {
		out.Informational[i].Header = r.scrub.Header(out.Informational[i].Header)
	}
	if r.keep && out.Transfer != "" && len(out.Encoding) == 0 {
		out.Chunks = x.pieces.of(x.respBody, out.Body)
	}
	switch {
	case out.Cut != "":
	case x.failure != nil:
		_, out.Cut = failure(x.failure)
	case x.left:
		out.Cut = "the caller left"
	}
	if r.now != nil {
		out.Duration = r.now().Sub(x.started)
	}
	return resp, nil
}

// form are the decoded fields of a form body, as go-vcr keeps them beside it.
func form(m *stored) url.Values {
	if m.plain == nil || !strings.HasPrefix(m.header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return nil
	}
	values, err := url.ParseQuery(string(m.plain))
	if err != nil {
		return nil
	}
	return values
}

// transfer tells how an answer of no declared length comes.
func transfer(resp *http.Response) string {
	switch {
	case resp == nil:
		return ""
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"):
		return "sse"
	case len(resp.TransferEncoding) > 0 || resp.ContentLength < 0 && resp.ProtoMajor >= 2:
		return "chunked"
	}
	return ""
}

// failure tells how an exchange ended, in words that are the same each time.
func failure(err error) (kind, text string) {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "timeout", "timeout: " + steadyText(err)
	}
	return "connection", "connection: " + steadyText(err)
}
