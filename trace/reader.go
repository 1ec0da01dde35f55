package trace

import "io"

// A Line is one entry as it stands in a trace.
type Line struct {
	Text   []byte // without its line break; valid until the next Read
	Seq    int64
	Run    int   // from 1; a new run begins where a seq comes again
	Number int   // of the line in the trace, 1-based
	Offset int64 // bytes from the start of the trace, decompressed

	name string // of the trace, for errors
}

// A Reader reads a trace line by line. Lines are given byte for byte; a byte
// order mark, carriage returns at their ends and blank lines are left out.
type Reader struct {
	src   *source
	lines *lineReader
	seen  seqSet
	run   int
	start start
}

// Open opens a trace. What is no regular file, or compressed, is read whole
// first: to memory up to 32 MiB, else to a temporary file.
func Open(in Input) (*Reader, error) {
	src, err := openSource(in, inMemory)
	if err != nil {
		return nil, err
	}
	return &Reader{src: src, lines: newLineReader(src, 0, src.size, 0)}, nil
}

// Read returns the next entry, or io.EOF. A line that is no entry of this
// schema, is longer than MaxLine or cut is an *InputError with its place; so is
// the end of an empty trace. Only heads are checked, and the last line when no
// line break ends it: a line may still hold bad JSON further on.
func (r *Reader) Read() (Line, error) {
	ln, err := r.lines.read()
	if err == io.EOF && r.run == 0 {
		err = &InputError{Name: r.src.name, Msg: "the trace is empty", Next: emptyHint}
	}
	if err != nil {
		return Line{}, err
	}
	h, err := readHead(r.src.name, ln)
	if err == nil && !ln.ended {
		err = checkJSON(r.src.name, ln)
	}
	if err != nil {
		return Line{}, err
	}
	if r.run == 0 || r.seen.has(h.seq) {
		r.run++
		r.seen = seqSet{}
	}
	r.seen.add(h.seq)
	return Line{Text: ln.text, Seq: h.seq, Run: r.run, Number: ln.number, Offset: ln.offset, name: r.src.name}, nil
}

// Close closes the trace and removes a temporary file.
func (r *Reader) Close() error { return r.src.close() }
