package store

import "strings"

// appendQuoted appends what [fixture.Quote] spells.
func appendQuoted(dst []byte, name string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(name); i++ {
		if name[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, name[i])
	}
	return append(dst, '"')
}

// literal spells a text as an SQL string.
func literal(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
