package tape

// An entryReader reads one entry of a recording.
type entryReader func(*Interaction, *node) (notes []string, err error)

// stream reads the entries of a YAML recording, so that a large one is never held
// as a tree. It is false, with nothing changed in the tape, for what the fast reader
// leaves to the full one, and for whatever does not say how to read it before its
// first entry. Data that is its own may be changed, also when it gives up: wrote
// says whether it was.
func (t *Tape) stream(data []byte, own bool) (ok, wrote bool) {
	s := stream{f: newFast(data), tape: Tape{Name: t.Name}, own: own, size: partSize}
	if !s.root() || !s.f.over() {
		return false, s.f.wrote
	}
	*t = s.tape
	return true, s.f.wrote
}

// A stream is a recording while its entries are read.
type stream struct {
	f       *fast
	tape    Tape
	own     bool
	size    int // of the parts that are read side by side, in bytes
	checked int // how much of the text is known to be plain
	count   int // how many entries were read
	read    entryReader
}

// plain checks the text up to a place, before anything is decoded there, and cuts it
// where the document ends.
func (s *stream) plain(to int) bool {
	text := s.f.src[s.checked:to]
	if end := documentEnd(text); end >= 0 {
		to = s.checked + end
		s.f.src, text = s.f.src[:to], text[:end]
	}
	s.checked = to
	return plainText(text)
}

// root reads the mapping at the top.
func (s *stream) root() bool {
	f := s.f
	if indent, ok := f.next(); !ok || indent > 0 || dashed(f.rest()) {
		return false
	}
	root, found := &node{kind: mapNode}, false
	for f.key(root) {
		switch key := root.keys[len(root.keys)-1]; {
		case key == rubyEntries || key == vcrEntries:
			if found || !s.entries(root, key) {
				return false
			}
			found = true
			root.elems = append(root.elems, &node{})
		case key == "version" && (s.tape.Format == GoVCR1 || s.tape.Format == GoVCR2):
			return false // it comes too late
		default:
			value := *f.value(0, 0)
			root.elems = append(root.elems, &value)
		}
		if !f.another(0) {
			break
		}
	}
	return found && !f.bad
}

// entries reads the list behind a key. The first entry tells how to read the
// others, which are read in parts side by side.
func (s *stream) entries(root *node, key string) bool {
	f := s.f
	if f.spaces(); len(f.rest()) > 0 {
		return false
	}
	f.endLine()
	indent, ok := f.next()
	if !ok || !s.plain(f.entryAfter(f.pos, indent)) {
		return false
	}
	f.own = s.own
	if !f.dash(indent) {
		return false
	}
	first := f.item(indent, 1)
	if f.bad || len(first.keys) == 0 {
		return false
	}
	var err error
	if s.tape.Format, s.read, err = readerOf(root, key, first); err != nil {
		return false
	}
	s.tape.entry(0, first, s.read)
	s.count = 1
	done := s.parts(indent)
	f.own = false
	return done
}

// entry reads one entry of a list.
func (t *Tape) entry(position int, n *node, read entryReader) {
	it := &Interaction{Tape: t.Name, Position: position, Line: n.at()}
	notes, err := read(it, n)
	t.add(it, notes, err)
}
