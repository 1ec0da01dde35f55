package trace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// maxSegments bounds the segments of all patterns together.
const maxSegments = 256

// A state is the set of pattern positions that a path has reached.
type state [maxSegments / 64]uint64

func (s *state) set(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s *state) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }
func (s state) none() bool      { return s == state{} }

// patterns are JSON Pointers in which * stands for one segment and ** for any
// number of them, none too. They are matched step by step along a path, so that
// a comparison pays nothing where no pattern can match any more.
type patterns struct {
	texts  []string
	segs   []segment
	start  state // of patterns for all calls
	scopes []scope
	// groups of patterns by what they are for, each after the one before
	ignores int // the first ones leave out
	only    span
	within  span
	rename  span
	learn   span    // where a renaming may learn names from parts of a text
	limits  []limit // the tolerances
}

// A scope is the start of a pattern for some calls only.
type scope struct {
	name  string // of an operation or a tool; * stands for any text
	start state
	text  string // the whole pattern
}

// begin is the state at the root of an entry.
func (p *patterns) begin(entry []byte) state {
	s := p.start
	if len(p.scopes) == 0 {
		return s
	}
	tool, op := textOf(lookup(entry, "tool")), textOf(lookup(entry, "operationId"))
	for i := range p.scopes {
		if sc := &p.scopes[i]; sc.holds(tool, op) {
			for k, bits := range sc.start {
				s[k] |= bits
			}
		}
	}
	return s
}

func (sc *scope) holds(tool, op string) bool {
	return sc.name == tool || sc.name == op || wild(sc.name, tool) || wild(sc.name, op)
}

// cutScope takes the operation or tool off a pattern: "tickets.get:/response/etag".
func cutScope(text string) (name, pointer string) {
	if at := strings.Index(text, ":/"); at > 0 && !strings.HasPrefix(text, "/") {
		return text[:at], text[at+1:]
	}
	return "", text
}

// A span is a range of patterns.
type span struct{ from, to int }

type segment struct {
	kind segKind
	text string
	pat  int // the pattern it belongs to
}

type segKind uint8

const (
	segLiteral segKind = iota
	segAny             // *
	segMany            // **
	segEnd             // the pattern matches here
)

func compilePatterns(option string, texts []string) (*patterns, error) {
	p := &patterns{}
	_, err := p.add(option, texts)
	p.ignores = len(p.texts)
	return p, err
}

// add compiles more patterns and returns their range.
func (p *patterns) add(option string, texts []string) (span, error) {
	first := len(p.texts)
	p.texts = append(p.texts, texts...)
	for k, text := range texts {
		i := first + k
		name, pointer := cutScope(text)
		if !strings.HasPrefix(pointer, "/") {
			return span{}, &OptionError{Option: option, Msg: fmt.Sprintf("found %q, want a JSON Pointer", text),
				Next: "such as /provider/meta, /response/items/*/id or /**/updated_at"}
		}
		at := len(p.segs)
		for seg := range strings.SplitSeq(pointer[1:], "/") {
			s, err := parseSegment(seg)
			if err != nil {
				return span{}, &OptionError{Option: option, Msg: fmt.Sprintf("%q: %v", text, err)}
			}
			s.pat = i
			p.segs = append(p.segs, s)
		}
		p.segs = append(p.segs, segment{kind: segEnd, pat: i})
		if len(p.segs) > maxSegments {
			return span{}, &OptionError{Option: option, Msg: fmt.Sprintf("more than %d path segments in all patterns together", maxSegments),
				Next: "join patterns with * and **"}
		}
		start := &p.start
		if name != "" {
			p.scopes = append(p.scopes, scope{name: name, text: text})
			start = &p.scopes[len(p.scopes)-1].start
		}
		p.enter(start, at)
	}
	return span{first, len(p.texts)}, nil
}

func parseSegment(seg string) (segment, error) {
	switch seg {
	case "*":
		return segment{kind: segAny}, nil
	case "**":
		return segment{kind: segMany}, nil
	}
	for i := strings.IndexByte(seg, '~'); i >= 0 && i < len(seg); i++ {
		if seg[i] == '~' && (i+1 == len(seg) || seg[i+1] != '0' && seg[i+1] != '1') {
			return segment{}, fmt.Errorf("~ stands before neither 0 nor 1; write ~0 for ~ and ~1 for /")
		}
	}
	return segment{text: unescape(seg)}, nil
}

// enter adds position i, and what ** lets through without a segment.
func (p *patterns) enter(s *state, i int) {
	for s.set(i); p.segs[i].kind == segMany; s.set(i) {
		i++
	}
}

// key is the state one object key further. lit is the key as it stands.
func (p *patterns) key(s state, lit []byte) state {
	if s.none() {
		return s
	}
	name := lit[1 : len(lit)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		return advance(p, s, canon.Unquote(lit))
	}
	return advance(p, s, name)
}

// name is the state one object key further, the key decoded.
func (p *patterns) name(s state, key string) state {
	if s.none() {
		return s
	}
	return advance(p, s, key)
}

// index is the state one array element further.
func (p *patterns) index(s state, i int) state {
	if s.none() {
		return s
	}
	var buf [20]byte
	return advance(p, s, strconv.AppendInt(buf[:0], int64(i), 10))
}

func advance[S string | []byte](p *patterns, s state, name S) (next state) {
	for i := range p.segs {
		if !s.has(i) {
			continue
		}
		switch seg := &p.segs[i]; seg.kind {
		case segMany:
			p.enter(&next, i)
		case segAny:
			p.enter(&next, i+1)
		case segLiteral:
			if seg.text == string(name) {
				p.enter(&next, i+1)
			}
		}
	}
	return next
}

// match returns the first pattern that leaves the whole path out, -1 without one.
func (p *patterns) match(s state) int { return p.matchIn(s, span{0, p.ignores}) }

// matchIn returns the first pattern of a group that matches the whole path.
func (p *patterns) matchIn(s state, g span) int {
	if g.from == g.to || s.none() {
		return -1
	}
	for i := range p.segs {
		if p.segs[i].kind == segEnd && s.has(i) && p.segs[i].pat >= g.from && p.segs[i].pat < g.to {
			return p.segs[i].pat
		}
	}
	return -1
}

// alive reports whether a pattern of a group can match further on.
func (p *patterns) alive(s state, g span) bool {
	for i := range p.segs {
		if s.has(i) && p.segs[i].pat >= g.from && p.segs[i].pat < g.to {
			return true
		}
	}
	return false
}

// appendPointer appends one segment to a JSON Pointer.
func appendPointer(path []byte, name string) []byte {
	path = append(path, '/')
	for i := range len(name) {
		switch name[i] {
		case '~':
			path = append(path, "~0"...)
		case '/':
			path = append(path, "~1"...)
		default:
			path = append(path, name[i])
		}
	}
	return path
}
