// Package hostile has the texts that tests put wherever a name or a value enters.
package hostile

// Texts are texts that would do harm if they ever became SQL.
func Texts() []string {
	return []string{
		`'; DROP TABLE notes; --`, `" OR "1"="1`, `1 OR 1=1`, `x' UNION SELECT secret FROM vault --`, `id) FROM vault --`, "`id`", `[id]`,
		`id; ATTACH '/tmp/x' AS y`, `%' OR '1'='1`, `\`, `"; PRAGMA writable_schema=ON; --`, "a\x00b", `load_extension('x')`, `(SELECT secret FROM vault)`,
		`id DESC, (SELECT secret FROM vault)`, `id) OR (1`, `contains(id,'x') or 1 eq 1`, `"*" OR "hunt"`, `hunt* OR secret:hunt*`,
		`t"); DROP TABLE vault; --`, `TEXT); DROP TABLE vault; --`, "a\nb", `ü "x" 'y'`,
	}
}
