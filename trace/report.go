package trace

import (
	"encoding/json"

	"github.com/anvil-sim/anvil/internal/plural"
)

// A Report is what a comparison found. Its fields have one value for two given
// inputs and options, on any machine.
type Report struct {
	Baseline Side
	Other    Side
	Options  DiffOptions // as given
	// Identical says that the inputs are equal byte for byte: the lines were
	// not looked at, so the sides have no counts.
	Identical bool
	Align     Align // how the calls were paired: by seq or by call
	Same      int   // pairs without a difference
	Changed   int   // pairs with one
	Missing   int   // calls of the baseline that the other run does not have
	Inserted  int   // calls that the baseline does not have
	Moved     int   // pairs whose place among the others differs
	// Ignored counts, for each pattern of Options.Ignore in order, the values
	// that differ and were left out.
	Ignored []int
	// Tolerated counts, for each of Options.Tolerance, the numbers that differ
	// and are near enough.
	Tolerated []int
	// Outside counts what differs outside Options.Only, whole subtrees as one.
	Outside int
	// Renamed counts the values that have another one in the other run, under
	// Options.Rename.
	Renamed int
	// Calls are the findings in the baseline's order, Options.Max of them.
	Calls []Call
	// Findings counts all findings, those beyond Options.Max too.
	Findings int
	// First is where the runs first diverged, nil when they are equal.
	First *Call
}

// An Excuse counts the differences that an option made none.
type Excuse struct {
	Option string // "ignore", "only", "tolerance" or "rename"
	Rule   string // the pattern; "" for what --only and --rename count together
	Count  int
	Reason string // from DiffOptions.Reasons, "" without one
}

// String is the line of a report: "ignored: 3 differences at /provider/meta/** (timing)".
func (e Excuse) String() string {
	text := ""
	switch e.Option {
	case "ignore":
		text = "ignored: " + plural.Of(e.Count, "difference") + " at " + e.Rule
	case "only":
		text = "left out by --only: " + plural.Of(e.Count, "difference")
	case "tolerance":
		text = "tolerated: " + plural.Of(e.Count, "number") + " within " + e.Rule
	case "rename":
		text = "renamed: " + plural.Of(e.Count, "value")
	}
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	return text
}

// Excused lists what the options made no difference, zeros too, so that a rule
// that does nothing any more shows. It is empty for identical inputs.
func (r *Report) Excused() (list []Excuse) {
	if r.Identical {
		return nil
	}
	o := &r.Options
	for i, p := range o.Ignore {
		list = append(list, Excuse{"ignore", p, r.Ignored[i], o.Reasons[p]})
	}
	if len(o.Only) > 0 {
		list = append(list, Excuse{"only", "", r.Outside, ""})
	}
	for i, t := range o.Tolerance {
		list = append(list, Excuse{"tolerance", t.String(), r.Tolerated[i], o.Reasons[t.Path]})
	}
	if len(o.Rename) > 0 {
		list = append(list, Excuse{"rename", "", r.Renamed, ""})
	}
	return list
}

// Equal reports whether nothing differs under the options.
func (r *Report) Equal() bool { return r.Findings == 0 }

// A Side is one of the two inputs.
type Side struct {
	Name  string
	Runs  int // runs in the input
	Run   int // the first run compared, from 1
	Count int // runs compared
	Calls int // calls in them
}

// A Call is a pair of calls that differs, or a call that only one side has.
type Call struct {
	Kind     CallKind
	Old, New *Ref // nil where the side has no such call
	Stage    Stage
	Findings []Finding // of a changed or moved call, those within Options.Max
	More     int       // findings beyond them
	// OldLine and NewLine are the entries themselves, under DiffOptions.Lines.
	OldLine, NewLine json.RawMessage
}

// CallKind tells what happened to a call.
type CallKind string

// The kinds of a call. A moved call may have changed too; its findings tell.
const (
	CallChanged  CallKind = "changed"
	CallMissing  CallKind = "missing"
	CallInserted CallKind = "inserted"
	CallMoved    CallKind = "moved"
)

// A Ref names a call in its trace.
type Ref struct {
	Seq    int64
	Index  int    // among the calls compared of its run, from 0
	Line   int    // 1-based
	Offset int64  // bytes from the start of the trace, decompressed
	Tool   string // "" when no operation was found
	Target string // what was asked: "GET /tickets/T-1", "" in process
}

// A Finding is one difference within a call.
type Finding struct {
	Kind FindingKind
	Path string          // JSON Pointer into the entry; array indexes are the baseline's, of an added element the other's
	Old  json.RawMessage // nil when added
	New  json.RawMessage // nil when removed
	Note string          // why it counts, where that is not plain: a renaming that does not hold
}

// FindingKind tells how a value differs.
type FindingKind string

// The kinds of a finding.
const (
	ValueChanged   FindingKind = "changed"
	ValueAdded     FindingKind = "added"
	ValueRemoved   FindingKind = "removed"
	ValueReordered FindingKind = "reordered" // the same elements or keys; Old and New list the ids or keys
	ValueRespelled FindingKind = "respelled" // the same value in other bytes, under DiffOptions.Bytes
)

// Stage is the step of a call at which two runs part.
type Stage string

// The stages, in the order in which a call goes through them.
const (
	StageOrder    Stage = "order"           // the same call at another place
	StageRequest  Stage = "client request"  // the client asked something else, more or less
	StageContract Stage = "contract"        // the same request was routed, gated or normalized differently
	StageSeed     Stage = "seed"            // the built-in store answered differently
	StageProvider Stage = "provider answer" // the provider answered the same request differently
	StageShaping  Stage = "shaping"         // the same answer was served differently
)
