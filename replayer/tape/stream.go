package tape

// An entryReader reads one entry of a recording.
type entryReader func(*Interaction, *node) (notes []string, err error)

// stream reads the entries of a YAML recording one after the other, so that a
// large one is never held as a tree. It is false, with nothing changed, for what
// the fast reader leaves to the full one, and for whatever does not say how to
// read it before its first entry.
func (t *Tape) stream(data []byte) bool {
	f, ok := newFast(data)
	if !ok {
		return false
	}
	read := Tape{Name: t.Name}
	if !read.streamRoot(f) || !f.over() {
		return false
	}
	*t = read
	return true
}

// streamRoot reads the mapping at the top.
func (t *Tape) streamRoot(f *fast) bool {
	if indent, ok := f.next(); !ok || indent > 0 || dashed(f.rest()) {
		return false
	}
	root, found := &node{kind: mapNode}, false
	for f.key(root) {
		switch key := root.keys[len(root.keys)-1]; {
		case key == rubyEntries || key == vcrEntries:
			if found || !t.streamEntries(f, root, key) {
				return false
			}
			found = true
			root.elems = append(root.elems, &node{})
		case key == "version" && (t.Format == GoVCR1 || t.Format == GoVCR2):
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

// streamEntries reads the list behind a key.
func (t *Tape) streamEntries(f *fast, root *node, key string) bool {
	if f.spaces(); len(f.rest()) > 0 {
		return false
	}
	f.endLine()
	indent, ok := f.next()
	if !ok {
		return false
	}
	var read entryReader
	pos := 0
	for ; f.dash(indent); pos++ {
		f.recycle()
		n := f.item(indent, 1)
		if f.bad || len(n.keys) == 0 {
			return false
		}
		if read == nil {
			var err error
			if t.Format, read, err = readerOf(root, key, n); err != nil {
				return false
			}
		}
		it := &Interaction{Tape: t.Name, Position: pos, Line: n.at()}
		notes, err := read(it, n)
		t.add(it, notes, err)
	}
	return pos > 0 && !f.bad
}
