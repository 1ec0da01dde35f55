package store

import (
	"slices"
	"strings"
)

// A rawSort is one part of a sort before its column is known.
type rawSort struct {
	param string // what asked for it
	name  string
	dir   string // asc, desc, "" where a pair may say it
}

// isDirection tells whether a text is nothing but directions.
func isDirection(text string) bool {
	for word := range strings.SplitSeq(text, ",") {
		if direction(word) == "" {
			return false
		}
	}
	return true
}

func direction(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "asc", "ascending", "1":
		return "asc"
	case "desc", "descending", "-1":
		return "desc"
	}
	return ""
}

// addSort reads one sort: a list by commas of name, -name, +name, name:desc,
// name desc, name.desc, name_desc.
func (r *reading) addSort(param, text string) error {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if len(r.sorts) >= maxSorts {
			return invalid("parameter %q sorts by more than %d columns", clip(param), maxSorts)
		}
		r.sorts = append(r.sorts, r.readSort(param, part))
	}
	return nil
}

const maxSorts = 32

func (r *reading) readSort(param, part string) rawSort {
	s := rawSort{param: param, name: part}
	switch part[0] {
	case '-':
		s.name, s.dir = part[1:], "desc"
		return s
	case '+':
		s.name, s.dir = part[1:], "asc"
		return s
	}
	if r.baseColumn(part) != nil {
		return s
	}
	for _, sep := range []string{":", " ", ".", "|", "_", "-"} {
		if i := strings.LastIndex(part, sep); i > 0 {
			if d := direction(part[i+1:]); d != "" {
				s.name, s.dir = strings.TrimSpace(part[:i]), d
				return s
			}
		}
	}
	return s
}

// order is the ordering that the request asks for. A name without a column is
// told as ignored, under the parameter that it stood in.
func (r *reading) order() ordering {
	var keys []sortKey
	for i, s := range r.sorts {
		dir := s.dir
		if dir == "" && len(r.direction) > 0 {
			dir = direction(r.direction[min(i, len(r.direction)-1)])
		}
		col := r.baseColumn(s.name)
		if col == nil {
			r.ignored = append(r.ignored, s.param)
			continue
		}
		if !(ordering{keys: keys}).has(col) {
			keys = append(keys, sortKey{col, dir == "desc"})
		}
	}
	r.keys = slices.Clone(keys)
	t := r.g.table
	if len(r.sorts) == 0 && len(r.direction) > 0 {
		// A direction alone turns the natural order around.
		for _, k := range t.natural().keys {
			if k.col != nil {
				keys = append(keys, sortKey{k.col, direction(r.direction[0]) == "desc"})
			}
		}
		r.keys = slices.Clone(keys)
	}
	return t.sortedBy(keys)
}
