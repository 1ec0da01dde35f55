package tape

import (
	"errors"
	"strings"
)

// cutYAML cuts a list in block style by its dashes. Comments before a dash go
// with its entry; the marks of a recording that was killed go.
func (p *Pieces) cutYAML(text string) error {
	if i := strings.Index(text, "\n...\n"); i >= 0 {
		text = text[:i+1]
	}
	root, err := readYAML([]byte(text))
	if err != nil {
		return err
	}
	list := root
	for _, key := range []string{"interactions", "http_interactions"} {
		if n := root.get(key); n != nil {
			list = n
		}
	}
	if list.kind != listNode || len(list.elems) == 0 {
		p.head = text
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	starts, indent, err := entryStarts(lines, list)
	if err != nil {
		return err
	}
	p.head = joinLines(lines[:starts[0]])
	end := len(lines)
	for i := starts[len(starts)-1] + 1; i < end; i++ {
		if outside(lines[i], indent) {
			end = i
		}
	}
	for i, from := range starts {
		to := end
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		p.entries = append(p.entries, joinLines(lines[from:to]))
	}
	p.tail = joinLines(lines[end:])
	return nil
}

// entryStarts finds the lines that a list's entries start at, with the comments
// before them, and the column of their dashes.
func entryStarts(lines []string, list *node) (starts []int, indent int, err error) {
	indent = -1
	for _, e := range list.elems {
		at, column := dashOf(lines, e.at()-1)
		if at < 0 || indent >= 0 && column != indent {
			return nil, 0, errors.New("the list is not in block style, one entry a dash; 'anvil-sim cassette convert' writes it so")
		}
		indent = column
		for at > 0 && isComment(lines[at-1], indent) {
			at--
		}
		starts = append(starts, at)
	}
	return starts, indent, nil
}

// retiredMark is how a recorder marks where a recording ended before.
const retiredMark = "#..\n"

func joinLines(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if l == retiredMark {
			continue
		}
		b.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// dashOf is the line of the dash that an entry whose first key stands on a line
// begins with, and the dash's column.
func dashOf(lines []string, at int) (line, column int) {
	for ; at >= 0 && at < len(lines); at-- {
		bare := strings.TrimLeft(lines[at], " ")
		column = len(lines[at]) - len(bare)
		switch bare = strings.TrimRight(bare, "\r\n"); {
		case strings.HasPrefix(bare, "- "), bare == "-":
			return at, column
		case bare != "" && bare[0] != '#':
			if at > 0 && strings.TrimSpace(lines[at-1]) == "-" {
				continue
			}
			return -1, 0
		}
	}
	return -1, 0
}

// isComment reports whether a line is a comment that does not stand deeper than
// the dashes: inside of an entry it might be a text's.
func isComment(line string, indent int) bool {
	bare := strings.TrimLeft(line, " ")
	return strings.HasPrefix(bare, "#") && len(line)-len(bare) <= indent
}

// outside reports whether a line ends the list whose dashes stand at indent.
func outside(line string, indent int) bool {
	bare := strings.TrimLeft(line, " ")
	column := len(line) - len(bare)
	return strings.TrimSpace(bare) != "" && bare[0] != '#' && (column < indent || column == indent && bare[0] != '-')
}
