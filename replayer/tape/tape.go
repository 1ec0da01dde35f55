// Package tape is the neutral form of a recording and its readers: go-vcr
// cassettes of format 1 and 2, HAR 1.2, VCR.py and Ruby VCR (YAML and JSON, old
// and new), provider recordings and call traces.
//
// A format is told by a file's content, never by its name. What a recording
// cannot say is noted and never guessed: an entry that cannot be read is skipped
// with its place and reason, and a file without any readable entry is refused.
package tape

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A Format is how a recording is written.
type Format string

// The formats that are read.
const (
	GoVCR1   Format = "go-vcr 1"
	GoVCR2   Format = "go-vcr 2"
	HAR      Format = "HAR"
	VCRpy    Format = "VCR.py"
	RubyVCR  Format = "Ruby VCR"
	Provider Format = "provider recording"
	Trace    Format = "call trace"
)

// Formats lists what [Parse] reads.
func Formats() []Format { return []Format{GoVCR1, GoVCR2, HAR, VCRpy, RubyVCR, Provider, Trace} }

// A Tape is one recording, in the order in which it was made.
type Tape struct {
	Name         string // the file it came from, for messages
	Format       Format
	Interactions []*Interaction
	Skipped      []Skip // entries that cannot be replayed
	Notes        []Skip // entries that were read with a loss
}

// A Skip says what is wrong with one entry of a tape.
type Skip struct {
	Position int // of the entry, from 0
	Line     int // 0 when the format does not say
	Reason   string
}

// String is the skip for a message: "entry 3 (line 40): no URL".
func (s Skip) String() string {
	if s.Line > 0 {
		return fmt.Sprintf("entry %d (line %d): %s", s.Position, s.Line, s.Reason)
	}
	return fmt.Sprintf("entry %d: %s", s.Position, s.Reason)
}

// An Interaction is one exchange. One that was recorded at the provider seam has
// a Call; a trace entry has both a Call and what the client saw.
type Interaction struct {
	Tape     string // name of the tape
	Position int    // in the tape, from 0
	Line     int    // in the file, from 1; 0 when the format does not say
	ID       string // the tape's own name for it, "" when it has none
	Request  Request
	Response Response
	Failure  *Failure // the exchange ended without an answer, or without a whole one; nil when it did not
	Call     *Call    // nil for HTTP recordings
}

// Place names the interaction for a message: "users.yaml #3".
func (i *Interaction) Place() string { return fmt.Sprintf("%s #%d", i.Tape, i.Position) }

// BrokeOff reports whether an answer began and ended in a failure: Response is what
// came of it.
func (i *Interaction) BrokeOff() bool {
	return i.Failure != nil && i.Response.Status != 0 && i.Response.Cut != ""
}

// HTTP reports whether the interaction says what went over HTTP.
func (i *Interaction) HTTP() bool { return i.Request.Method != "" }

// A Request is what the client sent.
type Request struct {
	Method string // upper case; "" when only the provider seam was recorded
	URL    string // as recorded: absolute, or a path with its query
	Header Header
	Body   []byte // as it stands on the tape, see [Request.Content]
	Plain  bool   // the body is without its content codings, whatever it looks like
}

// A Response is what the server answered.
type Response struct {
	Status   int
	Reason   string // reason phrase as recorded, "" when it was not
	Header   Header
	Body     []byte // as it stands on the tape, see [Response.Wire] and [Response.Content]
	Plain    bool   // the body is without its content codings, whatever it looks like
	Trailer  Header
	Duration time.Duration // 0 when it was not recorded
	Stream   bool          // an event stream, whatever its type says
	Chunks   []int         // sizes of the pieces in which the body came; nil when that was not recorded
	Cut      string        // why the body is not the whole one, "" when it is
	Early    []Early       // 1xx answers that came first
}

// An Early is a 1xx answer.
type Early struct {
	Status int
	Header Header
}

// A Failure is how an exchange ended without an answer, or in the middle of one. It is a net.Error as far
// as a caller asks for Timeout.
type Failure struct {
	TimedOut bool
	Message  string
}

// Timeout reports whether the exchange ended because of a deadline.
func (f *Failure) Timeout() bool { return f.TimedOut }

// Temporary is what net.Error asks for; it says the same as Timeout.
func (f *Failure) Temporary() bool { return f.TimedOut }

// Error implements error.
func (f *Failure) Error() string { return "recorded failure: " + f.Message }

// A Call is what was recorded at the provider seam: a normalized request and
// the raw answer, both canonical JSON.
type Call struct {
	Request json.RawMessage
	Answer  json.RawMessage // nil beside a Failure
}

// A Header is a list of fields as recorded: order, case and repeats are kept.
type Header []Field

// A Field is one header line.
type Field struct{ Name, Value string }

// Get is the first value of a name in any case, "" when there is none.
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Has reports whether a name stands in the header, in any case.
func (h Header) Has(name string) bool {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}

// Values are all values of a name in any case, in order.
func (h Header) Values(name string) []string {
	var list []string
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			list = append(list, f.Value)
		}
	}
	return list
}
