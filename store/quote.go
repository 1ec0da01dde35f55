package store

import "strings"

// quote spells a name of a table or column as an SQL identifier. It is the only
// way a name enters SQL text; values are always bound.
func quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// appendQuoted appends what quote spells.
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
