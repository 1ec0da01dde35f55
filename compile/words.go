package compile

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
)

// words splits an identifier or a phrase into lower-case words.
func words(s string) []string {
	snake := air.SnakeCase(s)
	if snake == "" {
		return nil
	}
	return strings.Split(snake, "_")
}

// singular is the singular of an English noun, as far as spelling tells.
func singular(s string) string {
	switch {
	case len(s) < 4 || strings.HasSuffix(s, "ss") || strings.HasSuffix(s, "us") || strings.HasSuffix(s, "is"):
		return s
	case strings.HasSuffix(s, "ies") && len(s) > 4:
		return s[:len(s)-3] + "y"
	case strings.HasSuffix(s, "sses") || strings.HasSuffix(s, "tuses") || strings.HasSuffix(s, "xes") || strings.HasSuffix(s, "ches") || strings.HasSuffix(s, "shes"):
		return s[:len(s)-2]
	case strings.HasSuffix(s, "s"):
		return s[:len(s)-1]
	}
	return s
}

func isPlural(s string) bool { return singular(s) != s }

// A set of words, written as one string.
func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// segments are the parts of a path.
func segments(path string) []string {
	path, _, _ = strings.Cut(path, "?")
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

func isParam(segment string) bool { return strings.Contains(segment, "{") }

// literals are the parts of a path that are no parameters, without a file
// extension such as .json.
func literals(path string) []string {
	var out []string
	for _, s := range segments(path) {
		if !isParam(s) {
			out = append(out, trimExt(s))
		}
	}
	return out
}

func trimExt(s string) string {
	for _, ext := range []string{".json", ".xml", ".php"} {
		if cut, ok := strings.CutSuffix(s, ext); ok && cut != "" {
			return cut
		}
	}
	return s
}
