package graphql

import "sync"

// Bounds of the documents that a reader remembers. Clients send the same few
// documents over and over.
const (
	maxCached     = 256
	maxCachedText = 16 << 10 // bytes; longer documents are read anew each time
)

// A Reader reads documents and remembers them by their text. It may be used by
// several goroutines at once.
type Reader struct {
	schema *Schema

	mu     sync.Mutex
	cached map[string]*Document
	order  []string // texts in the order they came, a ring once it is full
	next   int      // the oldest in the ring
}

// NewReader makes a reader. With a schema the documents it reads are validated;
// nil leaves it at their syntax.
func NewReader(schema *Schema) *Reader {
	return &Reader{schema: schema, cached: map[string]*Document{}}
}

// Read reads a document, from memory when it was read before.
func (r *Reader) Read(text string) *Document {
	r.mu.Lock()
	d := r.cached[text]
	r.mu.Unlock()
	if d != nil {
		return d
	}
	d = Parse(text)
	if r.schema != nil && d.ast != nil {
		d.errors = r.schema.validate(d)
	}
	if len(text) <= maxCachedText {
		r.keep(text, d)
	}
	return d
}

func (r *Reader) keep(text string, d *Document) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cached[text] != nil {
		return
	}
	if len(r.order) < maxCached {
		r.order = append(r.order, text)
	} else {
		delete(r.cached, r.order[r.next])
		r.order[r.next] = text
		r.next = (r.next + 1) % maxCached
	}
	r.cached[text] = d
}
