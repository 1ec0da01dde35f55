package recorder

import (
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/internal/plural"
)

// A Summary is what a recording came to.
type Summary struct {
	Calls     int // that went through
	Written   int // exchanges on the tape
	Refused   int // exchanges that were not written, with the reason told to Warn
	Abandoned int // exchanges whose caller did not wait for the answer
	Failed    int // calls without a whole answer: timeouts, connection errors
	// RequestBytes and ResponseBytes are the sizes of bodies as they went over the wire.
	RequestBytes, ResponseBytes int64
	Redactions                  int      // values that were replaced
	Secrets                     int      // different secrets among them
	Seen, Unseen                []string // ids of the contract's operations, in its order; nil without one
	Unknown                     int      // calls that no operation of the contract takes
}

func (r *Recorder) count(x *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Calls++
	r.sum.RequestBytes += x.body.seen
	r.sum.ResponseBytes += x.respBody.seen
	if x.failure != nil {
		r.sum.Failed++
	}
	if x.left && transfer(x.resp) != "sse" {
		r.sum.Abandoned++
	}
	if r.cover != nil && !r.cover.saw(x) {
		r.sum.Unknown++
	}
}

func (r *Recorder) refused() {
	r.mu.Lock()
	r.sum.Refused++
	r.mu.Unlock()
}

// Summary is what the recording came to so far.
func (r *Recorder) Summary() Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sum
	if r.tape != nil {
		s.Written = r.tape.Len()
	}
	s.Redactions, s.Secrets = r.scrub.Count()
	if r.cover != nil {
		s.Seen, s.Unseen = r.cover.result()
	}
	return s
}

// String is the summary in a few lines.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d on the tape", plural.Of(s.Calls, "call"), s.Written)
	for _, part := range []struct {
		n    int
		what string
	}{{s.Failed, "failed"}, {s.Abandoned, "abandoned by the client"}, {s.Refused, "refused"}} {
		if part.n > 0 {
			fmt.Fprintf(&b, ", %d %s", part.n, part.what)
		}
	}
	fmt.Fprintf(&b, "\n%s sent, %s received, %s of %s", plural.Of(s.RequestBytes, "byte"), plural.Of(s.ResponseBytes, "byte"),
		plural.Of(s.Redactions, "redaction"), plural.Of(s.Secrets, "secret"))
	if s.Seen != nil || s.Unseen != nil {
		fmt.Fprintf(&b, "\n%d of %d operations seen", len(s.Seen), len(s.Seen)+len(s.Unseen))
		if len(s.Unseen) > 0 {
			b.WriteString(", never: " + strings.Join(s.Unseen, ", "))
		}
		if s.Unknown > 0 {
			fmt.Fprintf(&b, "\n%s of no operation of the contract", plural.Of(s.Unknown, "call"))
		}
	}
	return b.String()
}
