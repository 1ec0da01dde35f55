package scrub

import "strings"

// redacted reports whether a value is no secret (any more): empty, a placeholder of
// this or another tool, a literal of JSON.
func redacted(v string) bool {
	v = strings.TrimSpace(v)
	if len(v) < 3 || strings.Contains(v, "ANVIL-SECRET-") || strings.Contains(v, volatileText) {
		return true
	}
	switch strings.ToLower(v) {
	case "true", "false", "null", "none", "undefined", "redacted", "filtered", "hidden", "secret", "token", "password", "removed", "dummy", "fake",
		"bearer", "basic", "test", "example", "changeme", "omitted", "scrubbed", "sanitized", "masked", "api_key", "apikey", "string", "xxx":
		return true
	}
	first, last := v[0], v[len(v)-1]
	if strings.IndexByte("<{[(*$%", first) >= 0 && strings.IndexByte(">}])*%", last) >= 0 {
		return true
	}
	upper := strings.ToUpper(v)
	for _, mark := range []string{"REDACT", "FILTERED", "SCRUBBED", "SANITIZED", "PLACEHOLDER", "DUMMY", "FAKE", "MASKED", "YOUR_", "YOUR-", "EXAMPLE"} {
		if strings.Contains(upper, mark) {
			return true
		}
	}
	return strings.Trim(v, "*xX.-_0 ") == ""
}
