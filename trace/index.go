package trace

import (
	"bytes"
	"cmp"
	"context"
	"io"
)

// A place is where one call of a run stands.
type place struct {
	offset int64
	seq    int64
	identity
	length int32
	line   int32
}

// indexRun reads a run into places.
func indexRun(ctx context.Context, src *source, r run, pats *patterns) ([]place, error) {
	lines := newLineReader(src, r.offset, r.end, r.line)
	places := make([]place, 0, r.calls)
	for n := 0; ; n++ {
		ln, err := lines.read()
		if err == io.EOF {
			return places, nil
		}
		if err == nil && n%4096 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		h, err := readHead(src.name, ln)
		if err != nil {
			return nil, err
		}
		id, ok := identify(ln.text, pats)
		if !ok {
			if err := checkJSON(src.name, ln); err != nil {
				return nil, err
			}
			id.call = hashBytes(1, ln.text)
		}
		places = append(places, place{ln.offset, h.seq, id, int32(len(ln.text)), int32(ln.number)})
	}
}

// A fetcher reads the lines of an index again. Calls in file order are read
// ahead, others one by one.
type fetcher struct {
	src *source
	buf []byte
	at  int64 // offset of buf
	err error // the first one of leavesOf
}

// leavesOf gives the values of the calls of an index.
func (f *fetcher) leavesOf(places []place) func(int32) []uint64 {
	return func(i int32) []uint64 {
		ln, err := f.line(places[i])
		if err != nil {
			f.err = cmp.Or(f.err, err)
			return nil
		}
		return leaves(bytes.Trim(ln.text, " \t\r"))
	}
}

func (f *fetcher) line(p place) (line, error) {
	from, to := p.offset, p.offset+int64(p.length)
	if from < f.at || to > f.at+int64(len(f.buf)) {
		size := to - from
		if next := f.at + int64(len(f.buf)); from >= f.at && from <= next {
			size = max(size, readBlock)
		}
		size = min(size, f.src.size-from)
		if int64(cap(f.buf)) < size {
			f.buf = make([]byte, size)
		}
		f.buf, f.at = f.buf[:size], from
		if n, err := f.src.r.ReadAt(f.buf, from); int64(n) < size {
			return line{}, &InputError{Name: f.src.name, Msg: "changed while it was read", Err: err, Next: "compare it when nothing writes it"}
		}
	}
	return line{text: f.buf[from-f.at : to-f.at], offset: p.offset, number: int(p.line), ended: true}, nil
}
