package trace

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A Tolerance lets numbers part a little.
type Tolerance struct {
	// Path is a pattern as in DiffOptions.Ignore; "" is every number.
	Path string
	// Amount is how far two numbers may be apart: "0.01", or a part of the
	// baseline's number: "1%".
	Amount string
}

// ParseTolerance reads [POINTER=]AMOUNT, as --tolerance takes it.
func ParseTolerance(text string) (Tolerance, error) {
	t := Tolerance{Amount: text}
	if i := strings.LastIndexByte(text, '='); i >= 0 {
		t.Path, t.Amount = text[:i], text[i+1:]
	}
	_, _, err := t.amount()
	return t, err
}

// String spells the tolerance as --tolerance takes it.
func (t Tolerance) String() string {
	if t.Path == "" {
		return t.Amount
	}
	return t.Path + "=" + t.Amount
}

func (t Tolerance) amount() (amount *big.Rat, relative bool, err error) {
	text, relative := strings.CutSuffix(t.Amount, "%")
	r, ok := ratOf(text)
	if !ok || r.Sign() < 0 {
		return nil, false, &OptionError{Option: "--tolerance", Msg: fmt.Sprintf("found %q, want a number from 0 or a percentage", t.Amount),
			Next: "such as 0.01, 5% or /response/score=0.01"}
	}
	if relative {
		r.Quo(r, big.NewRat(100, 1))
	}
	return r, relative, nil
}

// maxExponent bounds the numbers that are computed with; beyond it they are
// near only when they are equal.
const maxExponent = 400

func ratOf(text string) (*big.Rat, bool) {
	if !canon.IsNumber(text) || len(text) > 4096 {
		return nil, false
	}
	d, ok := parseDecimal([]byte(text))
	if !ok || d.exp > maxExponent || d.exp < -maxExponent {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// A limit is a compiled tolerance.
type limit struct {
	amount     *big.Rat
	relative   bool // amount is a part of the baseline's number
	everywhere bool // it has no path
}

// near reports whether a tolerance covers two numbers that differ.
func (c *comparer) near(x, y string, s state) bool {
	if c.opts == nil || len(c.opts.Tolerance) == 0 || canon.NumberKey(x) == canon.NumberKey(y) {
		return false
	}
	i := c.pats.nearBy(x, y, s)
	if i >= 0 {
		c.tolerated[i]++
	}
	return i >= 0
}

// nearBy is the tolerance that covers two different numbers under path s, -1
// without one.
func (p *patterns) nearBy(x, y string, s state) int {
	i := p.toleranceAt(s)
	if i < 0 {
		return -1
	}
	a, okA := ratOf(x)
	b, okB := ratOf(y)
	if !okA || !okB {
		return -1
	}
	most := p.limits[i].amount
	if p.limits[i].relative {
		most = new(big.Rat).Mul(most, new(big.Rat).Abs(a))
	}
	diff := new(big.Rat).Sub(a, b)
	if diff.Abs(diff).Cmp(most) > 0 {
		return -1
	}
	return i
}

// toleranceAt is the tolerance for a path: one that names it, else the one for
// every number.
func (p *patterns) toleranceAt(s state) int {
	at := p.matchIn(s, p.within)
	everywhere, named := -1, p.within.from
	for i := range p.limits {
		if p.limits[i].everywhere {
			if everywhere < 0 {
				everywhere = i
			}
			continue
		}
		if named == at {
			return i
		}
		named++
	}
	return everywhere
}

// compileOptions compiles what the options say of paths.
func compileOptions(o *DiffOptions, ignore []string) (*patterns, error) {
	p, err := compilePatterns("--ignore", ignore)
	if err != nil {
		return nil, err
	}
	for _, text := range o.Only {
		if name, _ := cutScope(text); name != "" {
			return nil, &OptionError{Option: "--only", Msg: fmt.Sprintf("found %q, want a JSON Pointer: it is for all calls", text),
				Next: "filter the traces by operation first"}
		}
	}
	if p.only, err = p.add("--only", o.Only); err != nil {
		return nil, err
	}
	var within []string
	for _, t := range o.Tolerance {
		amount, relative, err := t.amount()
		if err != nil {
			return nil, err
		}
		p.limits = append(p.limits, limit{amount, relative, t.Path == ""})
		if t.Path != "" {
			within = append(within, t.Path)
		}
	}
	if p.within, err = p.add("--tolerance", within); err != nil {
		return nil, err
	}
	var paths []string
	for _, r := range o.Rename {
		if _, pointer := cutScope(r); strings.HasPrefix(pointer, "/") {
			paths = append(paths, r)
		} else if _, ok := renameClass(r); !ok {
			return nil, &OptionError{Option: "--rename", Msg: fmt.Sprintf("found %q, want a JSON Pointer, ids, tokens, cursors or times", r)}
		}
	}
	if p.rename, err = p.add("--rename", paths); err != nil || len(o.Rename) == 0 {
		return p, err
	}
	p.learn, err = p.add("--rename", namedPaths())
	return p, err
}

// enterOnly decides about a value outside --only: done when it is dealt with,
// back when the value is inside and what comes after it is not.
func (c *comparer) enterOnly(a, b *canon.Value, s state) (done, back bool) {
	if c.pats.matchIn(s, c.pats.only) >= 0 {
		c.outside = false
		return false, true
	}
	if !c.pats.alive(s, c.pats.only) {
		if c.differ(a, b) {
			c.left++
		}
		return true, false
	}
	if container(a) && container(b) && a.Kind() == b.Kind() {
		return false, false
	}
	// One side has no way on: it counts when the other holds what --only names.
	if c.holdsOnly(a, s) || c.holdsOnly(b, s) {
		c.outside = false
		return false, true
	}
	if c.differ(a, b) {
		c.left++
	}
	return true, false
}

func container(v *canon.Value) bool { return v.Is(canon.Object) || v.Is(canon.Array) }

// holdsOnly reports whether a value under path s holds one that --only names.
func (c *comparer) holdsOnly(v *canon.Value, s state) bool {
	if v == nil || !c.pats.alive(s, c.pats.only) {
		return false
	}
	if c.pats.matchIn(s, c.pats.only) >= 0 {
		return true
	}
	for _, m := range v.Members() {
		if c.holdsOnly(m.Value, c.pats.name(s, m.Key)) {
			return true
		}
	}
	for i, e := range v.Elems() {
		if c.holdsOnly(e, c.pats.index(s, i)) {
			return true
		}
	}
	return false
}
