package scrub

import (
	"bytes"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/ndjson"
)

// jsonText walks one JSON value; what visit leaves keeps its spelling.
func (w *fileWalk) jsonText(text []byte) ([]byte, error) {
	v, err := canon.Parse(text, canon.Lenient)
	if err != nil {
		return nil, err
	}
	e := &jsonFile{fileWalk: w, cursor: jsonCursor{text: text}}
	e.cursor.space()
	e.value(v, &spot{})
	return e.cursor.end(), nil
}

func (w *fileWalk) jsonLines(data []byte) ([]byte, error) {
	var out []byte
	lines := ndjson.NewReader(bytes.NewReader(data), 1<<30)
	for n := 0; ; n++ {
		line, err := lines.Next()
		if err != nil {
			return out, nil // the data is in memory: this is its end
		}
		if len(bytes.TrimSpace(line.Bytes)) == 0 {
			continue
		}
		w.interaction, w.line = n, line.Number
		clean, err := w.jsonText(line.Bytes)
		if err != nil {
			if !line.Ended && n > 0 {
				return out, nil // cut off by a kill
			}
			return nil, err
		}
		out = append(append(out, clean...), '\n')
	}
}

// enter notes the interaction that a step into a list begins.
func (w *fileWalk) enter(path []string, i int) {
	last := ""
	if len(path) > 0 {
		last = path[len(path)-1]
	}
	if len(path) == 0 || len(path) <= 2 && (last == "interactions" || last == "http_interactions" || last == "entries") {
		w.interaction = i
	}
}

// A jsonFile walks a text and the tree that it stands for side by side: the tree
// knows what stands beside a value.
type jsonFile struct {
	*fileWalk
	cursor jsonCursor
}

func (e *jsonFile) value(v *canon.Value, at *spot) {
	c := &e.cursor
	from := c.at
	switch c.text[c.at] {
	case '{':
		e.object(v, at)
	case '[':
		e.array(v, at)
	case '"':
		c.skipString()
		text := canon.Unquote(c.text[from:c.at])
		if clean := e.visit(at, text); clean != text {
			c.replace(from, canon.AppendString(nil, clean))
		}
	default:
		c.skipLiteral()
		lit := string(c.text[from:c.at])
		if !canon.IsNumber(lit) {
			return
		}
		if clean := e.visit(at, lit); clean != lit && canon.IsNumber(clean) {
			c.replace(from, []byte(clean))
		} else if clean != lit {
			c.replace(from, canon.AppendString(nil, clean))
		}
	}
}

func (e *jsonFile) object(v *canon.Value, at *spot) {
	msg, pair := readMessage(v), v.Get("name").Text()
	bytes := v.Get("encoding").Text() == "base64"
	e.cursor.members(nil, func(key string) {
		name := key
		if pair != "" && key == "value" {
			name = pair
		}
		next := at.child(key, name)
		if msg != nil {
			next.msg = msg
		}
		next.base64 = bytes && key == "text" || key == "base64_string"
		e.value(v.Get(key), next)
	})
}

func (e *jsonFile) array(v *canon.Value, at *spot) {
	elems := v.Elems()
	e.cursor.elements(func(i int) {
		if e.line == 0 {
			e.enter(at.path, i)
		}
		var elem *canon.Value
		if i < len(elems) {
			elem = elems[i]
		}
		e.value(elem, at.child(strconv.Itoa(i), at.name))
	})
}
