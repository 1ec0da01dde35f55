package recorder

import (
	"io"

	"github.com/anvil-sim/anvil/recorder/vcr"
)

// pieces are where the parts of a body ended as they came: offsets, ascending.
type pieces struct {
	size int64
	ends []int64
}

// came notes a part that was read. One that filled what it was read into may go on.
func (p *pieces) came(n int, full bool) {
	if p.size += int64(n); n > 0 && !full {
		p.ends = append(p.ends, p.size)
	}
}

// of are the sizes of the pieces of the stored body, nil when it came in one. Where
// scrubbing changed the body, the ends before and behind the change are known, those
// inside of it are not.
func (p *pieces) of(came, stored vcr.Body) []int {
	if stored == nil || len(p.ends) < 2 {
		return nil
	}
	same, shift := came.Size(), stored.Size()-came.Size()
	tail := int64(0)
	if came.Size() <= wholeBody && stored.Size() <= wholeBody {
		a, b := content(came), content(stored)
		same, tail = common(a, b)
	} else if shift != 0 {
		return nil
	}
	var sizes []int
	last := int64(0)
	for _, end := range append(p.ends, came.Size()) {
		switch {
		case end <= same:
		case end >= came.Size()-tail:
			end += shift
		default:
			continue
		}
		if end > last && end <= stored.Size() {
			sizes = append(sizes, int(end-last))
			last = end
		}
	}
	if last < stored.Size() {
		sizes = append(sizes, int(stored.Size()-last))
	}
	if len(sizes) < 2 {
		return nil
	}
	return sizes
}

func content(b vcr.Body) []byte {
	r, err := b.Open()
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(r)
	return text
}

// common is how long the beginnings and the ends of two texts agree.
func common(a, b []byte) (head, tail int64) {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	j := 0
	for j < n-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	return int64(i), int64(j)
}
