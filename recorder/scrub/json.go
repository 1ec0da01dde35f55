package scrub

import (
	"bytes"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/secretname"
)

// json scrubs JSON in place: what is not replaced keeps its spelling. Ok is false
// for anything but an object, an array or a string.
func (s *Scrubber) json(text []byte) (out []byte, ok bool) {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) < 2 || bytes.IndexByte([]byte(`{["`), trimmed[0]) < 0 || !canon.Valid(text) {
		return nil, false
	}
	w := &jsonWalk{s: s, text: text}
	w.space()
	w.value(nil, "", false)
	if w.done == 0 {
		return text, true
	}
	return append(w.out, text[w.done:]...), true
}

// A jsonWalk goes through text that is known to be JSON.
type jsonWalk struct {
	s         *Scrubber
	text, out []byte
	at, done  int
}

func (w *jsonWalk) space() {
	for w.at < len(w.text) && bytes.IndexByte([]byte(" \t\r\n"), w.text[w.at]) >= 0 {
		w.at++
	}
}

func (w *jsonWalk) replace(from int, with []byte) {
	w.out = append(append(w.out, w.text[w.done:from]...), with...)
	w.done = w.at
}

// value walks one value. path are the keys and "*" for elements that lead to it,
// name the nearest key, and secret tells that a rule or that key hides it.
func (w *jsonWalk) value(path []string, name string, secret bool) {
	r := w.s.rules
	steady := r.volatilePath(path)
	secret = secret || r.secretPath(path)
	from := w.at
	switch w.text[w.at] {
	case '{':
		w.object(path)
	case '[':
		w.array(path, name, secret)
	case '"':
		w.skipString()
		w.str(from, secret, steady)
	default:
		for w.at < len(w.text) && bytes.IndexByte([]byte(",]} \t\r\n"), w.text[w.at]) < 0 {
			w.at++
		}
		lit := w.text[from:w.at]
		number := lit[0] == '-' || lit[0] >= '0' && lit[0] <= '9'
		switch {
		case steady && number:
			w.replace(from, []byte("0"))
		case secret && number:
			w.replace(from, canon.AppendString(nil, w.s.hide(string(lit))))
		}
	}
}

func (w *jsonWalk) object(path []string) {
	w.at++
	for {
		w.space()
		if w.text[w.at] == '}' {
			w.at++
			return
		}
		if w.text[w.at] == ',' {
			w.at++
			continue
		}
		from := w.at
		w.skipString()
		name := canon.Unquote(w.text[from:w.at])
		if clean := w.s.cut([]byte(name), w.s.spans([]byte(name))); string(clean) != name {
			w.replace(from, canon.AppendString(nil, clean))
		}
		w.space()
		w.at++ // :
		w.space()
		w.value(append(path, name), name, w.s.rules.secretField(secretname.Normal(name)))
	}
}

func (w *jsonWalk) array(path []string, name string, secret bool) {
	w.at++
	for {
		w.space()
		switch w.text[w.at] {
		case ']':
			w.at++
			return
		case ',':
			w.at++
		default:
			w.value(append(path, "*"), name, secret)
		}
	}
}

func (w *jsonWalk) skipString() {
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
}

// str scrubs the string literal that ends at w.at.
func (w *jsonWalk) str(from int, secret, steady bool) {
	lit := w.text[from:w.at]
	raw := lit[1 : len(lit)-1]
	if len(raw) == 0 {
		return
	}
	text := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		text = []byte(canon.Unquote(lit))
	}
	var clean []byte
	switch {
	case steady:
		clean = steadyValue(text)
	case secret:
		clean = []byte(w.s.hide(string(text)))
	default:
		clean = w.s.nested(text)
	}
	if !bytes.Equal(clean, text) {
		w.replace(from, canon.AppendString(nil, clean))
	}
}

// nested scrubs a text that may be JSON inside JSON.
func (s *Scrubber) nested(text []byte) []byte {
	if len(text) > 1 && (text[0] == '{' || text[0] == '[') {
		if out, ok := s.json(text); ok {
			return out
		}
	}
	return s.Text(text)
}
