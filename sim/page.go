package sim

import "github.com/anvil-sim/anvil/air"

// fallbackPageSize is the page size when nothing else gives one.
const fallbackPageSize = 2

// defaultPageSize is the size of a page when the caller names none. The
// built-in store serves the derived size, else 2, whatever the flag says.
func (s *Simulator) defaultPageSize(o *air.Operation) int {
	size, ok := o.DerivedPageSize()
	switch {
	case ok:
		return size
	case s.opts.PageSize > 0 && s.opts.Provider != nil:
		return s.opts.PageSize
	}
	return fallbackPageSize
}

// pageSizeFor clamps what the caller asked for to the declared maximum.
func (o *Operation) pageSizeFor(asked int) int {
	size := o.pageSize
	if asked > 0 {
		size = asked
	}
	if o.Pagination != nil && o.Pagination.MaxPageSize > 0 {
		size = min(size, o.Pagination.MaxPageSize)
	}
	return size
}
