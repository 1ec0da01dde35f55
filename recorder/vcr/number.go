package vcr

import (
	"bytes"
	"fmt"
	"io"
)

// Placeholder begins every placeholder of a secret; its number follows.
const Placeholder = "ANVIL-SECRET-"

// A Numberer passes text on and numbers placeholders anew by first sight, so that
// their numbers do not depend on which of two parallel calls came first.
type Numberer struct {
	w     io.Writer
	seen  map[string]int
	fixed bool // every placeholder becomes number 0
	held  []byte
}

// NewNumberer returns a numberer that writes to w; Flush ends it.
func NewNumberer(w io.Writer) *Numberer { return &Numberer{w: w, seen: map[string]int{}} }

// Write implements io.Writer.
func (n *Numberer) Write(p []byte) (int, error) {
	n.held = append(n.held, p...)
	return len(p), n.pass(false)
}

// Flush passes on what may have been the start of a placeholder.
func (n *Numberer) Flush() error { return n.pass(true) }

func (n *Numberer) pass(last bool) error {
	var out []byte
	rest := n.held
	for {
		i := bytes.Index(rest, []byte(Placeholder))
		if i < 0 {
			break
		}
		j := i + len(Placeholder)
		for j < len(rest) && rest[j] >= '0' && rest[j] <= '9' {
			j++
		}
		if j == len(rest) && !last {
			out, rest = append(out, rest[:i]...), rest[i:]
			return n.put(out, rest)
		}
		out = append(append(out, rest[:i]...), n.number(string(rest[i:j]))...)
		rest = rest[j:]
	}
	keep := 0
	if !last {
		keep = min(len(rest), len(Placeholder)-1)
	}
	return n.put(append(out, rest[:len(rest)-keep]...), rest[len(rest)-keep:])
}

func (n *Numberer) put(out, rest []byte) error {
	n.held = append(n.held[:0], rest...)
	_, err := n.w.Write(out)
	return err
}

func (n *Numberer) number(placeholder string) string {
	if len(placeholder) == len(Placeholder) {
		return placeholder
	}
	if n.fixed {
		return Placeholder + "0000"
	}
	k, ok := n.seen[placeholder]
	if !ok {
		k = len(n.seen) + 1
		n.seen[placeholder] = k
	}
	return fmt.Sprintf("%s%04d", Placeholder, k)
}

// unnumbered is a text whose placeholders have no number of their own.
func unnumbered(s string) string {
	var b bytes.Buffer
	n := NewNumberer(&b)
	n.fixed = true
	_, _ = n.Write([]byte(s))
	_ = n.Flush()
	return b.String()
}
