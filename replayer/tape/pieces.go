package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Pieces are a recording as text, cut into its entries: what is kept of it keeps
// its bytes, so nothing of the format gets lost.
type Pieces struct {
	Tape    *Tape    // what the text says
	head    string   // before the first entry
	entries []string // each with what stands before it, in the order of the positions
	tail    string   // behind the last entry
	comma   bool     // entries are separated by commas
}

// Cut reads a recording and cuts it. The error says what keeps it from being cut:
// a YAML list that does not stand in block style, one entry a dash.
func Cut(name string, data []byte) (*Pieces, error) {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	t, err := Parse(name, data)
	if err != nil {
		return nil, err
	}
	p := &Pieces{Tape: t}
	start := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case t.Format == Provider || t.Format == Trace:
		p.cutLines(string(data))
	case start[0] == '{' || start[0] == '[':
		p.cutJSON(string(data))
	default:
		err = p.cutYAML(string(data))
	}
	if err == nil {
		_, err = p.Select(p.all())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// Len is how many entries there are, those that cannot be replayed too.
func (p *Pieces) Len() int { return len(p.entries) }

// Size is the length of an entry's text, in bytes.
func (p *Pieces) Size(position int) int { return len(p.entries[position]) }

func (p *Pieces) all() []int {
	list := make([]int, len(p.entries))
	for i := range list {
		list[i] = i
	}
	return list
}

// Select is a recording of the entries at the positions, in that order.
func (p *Pieces) Select(positions []int) ([]byte, error) {
	var b strings.Builder
	if len(positions) == 0 && len(p.entries) > 0 && !p.comma && p.head != "" {
		b.WriteString(strings.TrimSuffix(p.head, "\n") + " []\n")
	} else {
		b.WriteString(p.head)
	}
	for i, at := range positions {
		if p.comma && i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(p.entries[at])
	}
	b.WriteString(p.tail)
	text := []byte(b.String())
	return text, p.check(text, positions)
}

// Join is one recording of interactions that stand in several of one format, each
// with its own bytes; all else is the first one's. The error says why it has to be
// written anew.
func Join(parts []*Pieces, list []*Interaction) ([]byte, error) {
	whole := &Pieces{Tape: &Tape{Name: parts[0].Tape.Name, Format: parts[0].Tape.Format}, head: parts[0].head, tail: parts[0].tail, comma: parts[0].comma}
	texts := map[*Interaction]string{}
	for _, p := range parts {
		if p.Tape.Format != whole.Tape.Format || p.comma != whole.comma || len(p.entries) == 0 {
			return nil, errors.New("the recordings are of two formats, or one is empty")
		}
		for _, it := range p.Tape.Interactions {
			texts[it] = p.entries[it.Position]
		}
	}
	for i, it := range list {
		at := *it
		at.Position = i
		whole.Tape.Interactions = append(whole.Tape.Interactions, &at)
		whole.entries = append(whole.entries, texts[it])
	}
	return whole.Select(whole.all())
}

// check reads what was put together: entries that lean on each other, such as a
// YAML alias and its anchor, cannot be parted.
func (p *Pieces) check(text []byte, positions []int) error {
	if len(positions) == 0 {
		return nil
	}
	got, err := Parse(p.Tape.Name, text)
	if err != nil {
		return fmt.Errorf("it cannot be cut into its entries, they lean on each other: %w", err)
	}
	at := map[int]*Interaction{}
	for _, it := range p.Tape.Interactions {
		at[it.Position] = it
	}
	var want []*Interaction
	for _, pos := range positions {
		if it := at[pos]; it != nil {
			want = append(want, it)
		}
	}
	if !slices.EqualFunc(want, got.Interactions, func(a, b *Interaction) bool { return a.Digest() == b.Digest() }) {
		return errors.New("it cannot be cut into its entries; 'anvil-sim cassette convert' writes it in a form that can")
	}
	return nil
}

// cutLines cuts one JSON value a line. A last line without its end is what a kill
// left, and goes.
func (p *Pieces) cutLines(text string) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !strings.HasSuffix(line, "\n") {
			if !json.Valid([]byte(line)) {
				return
			}
			line += "\n"
		}
		p.entries = append(p.entries, line)
	}
}

// listKeys lead to the list of entries of a JSON recording.
var listKeys = [][]string{{"log", "entries"}, {"interactions"}, {"http_interactions"}, {}}

func (p *Pieces) cutJSON(text string) {
	for _, path := range listKeys {
		d := &jsonCut{text: text, dec: json.NewDecoder(strings.NewReader(text))}
		if from, to, ok := d.find(path); ok {
			p.head, p.tail, p.comma = text[:from], text[to:], true
			p.entries = d.entries
			if len(d.entries) == 0 {
				p.head, p.tail = text[:to], text[to:]
			}
			return
		}
	}
	p.entries, p.comma = []string{text}, true // one entry of a HAR, alone
}

// A jsonCut finds the elements of one list of a JSON text.
type jsonCut struct {
	text    string
	dec     *json.Decoder
	entries []string
}

// find goes down the path and cuts the list at its end; from and to are where its
// elements begin and end.
func (c *jsonCut) find(path []string) (from, to int, ok bool) {
	if t, err := c.dec.Token(); err != nil || len(path) == 0 {
		if t != json.Delim('[') {
			return 0, 0, false
		}
		return c.elements()
	} else if t != json.Delim('{') {
		return 0, 0, false
	}
	for c.dec.More() {
		key, err := c.dec.Token()
		if err != nil {
			return 0, 0, false
		}
		if key != path[0] {
			var skip json.RawMessage
			if c.dec.Decode(&skip) != nil {
				return 0, 0, false
			}
			continue
		}
		return c.find(path[1:])
	}
	return 0, 0, false
}

func (c *jsonCut) elements() (from, to int, ok bool) {
	from = int(c.dec.InputOffset())
	to = from
	for c.dec.More() {
		var skip json.RawMessage
		if c.dec.Decode(&skip) != nil {
			return 0, 0, false
		}
		end := int(c.dec.InputOffset())
		c.entries = append(c.entries, strings.TrimPrefix(strings.TrimLeft(c.text[to:end], " \t\r\n"), ","))
		if len(c.entries) == 1 {
			c.entries[0] = c.text[to:end]
		}
		to = end
	}
	return from, to, true
}
