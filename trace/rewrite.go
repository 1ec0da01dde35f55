package trace

import (
	"bytes"
)

// A Rewriter replaces values of lines by their place. Patterns are JSON Pointers
// into the entry in which * stands for one segment and ** for any number of
// them. It is for one goroutine.
type Rewriter struct {
	pats    *patterns
	replace ReplaceFunc
	keys    func(key []byte) (instead []byte, ok bool)
	dst     []byte
	src     []byte
	copied  int // of src
	bad     bool
}

// A ReplaceFunc is asked for the value that stands instead of value. pattern is
// the index of the pattern that matches, the first one of several; name is the
// last segment of the path, decoded, "" of an element. ok is false to leave the value as it is and
// to look for matches inside it. What it returns must be JSON without line
// breaks, and is copied.
type ReplaceFunc func(pattern int, name string, value []byte) (instead []byte, ok bool)

// NewRewriter compiles the patterns. option names them in an *OptionError.
func NewRewriter(option string, patterns []string, replace ReplaceFunc) (*Rewriter, error) {
	pats, err := compilePatterns(option, patterns)
	if err != nil {
		return nil, err
	}
	return &Rewriter{pats: pats, replace: replace}, nil
}

// ReplaceKeys has replace asked for the keys too of objects that a pattern can
// match something in, those of the entry itself excepted. Keys are JSON strings,
// quotes included; what stands instead must be one.
func (r *Rewriter) ReplaceKeys(replace func(key []byte) (instead []byte, ok bool)) { r.keys = replace }

// Append appends the line to dst with its values replaced, without a line
// break. Bytes outside of what is replaced are copied as they stand. schema and
// seq are never replaced: without them a line is no entry. A line that is not
// JSON is an *InputError.
func (r *Rewriter) Append(dst []byte, l Line) ([]byte, error) {
	text := bytes.Trim(l.Text, " \t\r")
	r.src, r.dst, r.copied, r.bad = l.Text, dst, 0, false
	from := bytes.IndexByte(l.Text, '{')
	if from < 0 {
		return dst, l.Check()
	}
	r.object(text, from, r.pats.begin(text), true)
	if r.bad {
		if err := l.Check(); err != nil {
			return dst[:len(dst):len(dst)], err
		}
	}
	return append(r.dst, l.Text[r.copied:]...), nil
}

// object goes through the members of the object that begins at src[at].
func (r *Rewriter) object(obj []byte, at int, s state, top bool) {
	w := walk(obj)
	for {
		key, val, ok := w.member()
		if !ok {
			r.bad = r.bad || w.bad
			return
		}
		if r.keys != nil && !top {
			if instead, ok := r.keys(key); ok {
				r.put(instead, at+cap(obj)-cap(key), len(key)) // key is a part of obj
			}
		}
		if next := r.pats.key(s, key); !next.none() && !(top && protected(key)) {
			r.value(val, at+w.i-len(val), next, key)
		}
	}
}

// put writes instead for the n bytes at src[at].
func (r *Rewriter) put(instead []byte, at, n int) {
	r.dst = append(append(r.dst, r.src[r.copied:at]...), instead...)
	r.copied = at + n
}

func protected(key []byte) bool {
	name := textOf(key)
	return name == "schema" || name == "seq"
}

func (r *Rewriter) value(val []byte, at int, s state, key []byte) {
	if p := r.pats.match(s); p >= 0 {
		if instead, ok := r.replace(p, textOf(key), val); ok {
			r.put(instead, at, len(val))
			return
		}
	}
	switch val[0] {
	case '{':
		r.object(val, at, s, false)
	case '[':
		w := walk(val)
		for i := 0; ; i++ {
			elem, ok := w.element()
			if !ok {
				r.bad = r.bad || w.bad
				return
			}
			if next := r.pats.index(s, i); !next.none() {
				r.value(elem, at+w.i-len(elem), next, nil)
			}
		}
	}
}
