package canon

// splitSize is how much text makes two goroutines worth it.
const splitSize = 1 << 20

// A secondHalf reads the later elements of a long array beside the first ones.
type secondHalf struct {
	from int // where its first element begins
	done chan struct{}

	// What was read, once done is closed.
	elems []*Value
	end   int // behind the array
	ok    bool
}

// split lets another goroutine read on from about the middle of a long array,
// whose first element comes next; nil when nothing is long enough. The middle is
// found by counting brackets, which is right for text without mistakes. So the
// half is taken only when it could be read to its end and the elements before it
// end where it begins: what is wrong is found in order, by the one reader.
func (p *parser) split() *secondHalf {
	left := len(p.src) - p.pos
	if p.later == nil || p.depth != 2 || left < splitSize {
		return nil
	}
	at := p.pos
	for middle := p.pos + left/2; at < middle; {
		if at = nestedEnd(p.src, at); at < 0 {
			return nil
		}
		if at = skipSpace(p.src, at); at >= len(p.src) || p.src[at] != ',' {
			return nil
		}
		at = skipSpace(p.src, at+1)
	}
	h := &secondHalf{from: at, done: make(chan struct{})}
	q := newParser(p.src, p.policy)
	q.later, q.pos, q.depth = p.later, at, p.depth
	go func() {
		defer close(h.done)
		h.ok = q.elements(nil) == nil
		h.elems, h.end = q.elems, q.pos
	}()
	return h
}

// wait ends the other goroutine's work.
func (h *secondHalf) wait() {
	if h != nil {
		<-h.done
	}
}

// take adds the half to what the reader has, when the reader came to where it
// begins and all is well in it.
func (h *secondHalf) take(p *parser) bool {
	if h == nil || p.pos != h.from {
		return false
	}
	h.wait()
	if h.ok {
		p.elems = append(p.elems, h.elems...)
		p.pos = h.end
	}
	return h.ok
}

// nestedEnd is where the array or object at i ends by its brackets, -1 when it is
// none or has no end.
func nestedEnd(src []byte, i int) int {
	depth := 0
	for ; i < len(src); i++ {
		switch src[i] {
		case '"':
			end, _, err := scanString(src, i)
			if err != nil {
				return -1
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1
			}
		default:
			if depth == 0 {
				return -1
			}
		}
	}
	return -1
}
