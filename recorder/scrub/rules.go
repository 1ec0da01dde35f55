package scrub

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/secretname"
)

// Rules are what a project adds to the built-in rules. The zero value adds nothing.
type Rules struct {
	// Names of further places of secrets; case, - and _ do not count.
	Headers, Query, Fields []string
	// JSON are places in JSON bodies: a JSON Pointer or a path ($.a.b[*].c), in which
	// * is any one step and ** any number of them.
	JSON []string
	// Patterns are regular expressions (RE2); of one with a group the first group is
	// the secret.
	Patterns []string
	// Allow are regular expressions of values that are no secrets, whatever they look
	// like and wherever they stand.
	Allow []string
	// Keep are names of headers, parameters and fields that are kept although their
	// name says secret; token shapes in them are still replaced.
	Keep []string
	// Volatile are values that become fixed ones.
	Volatile Volatile

	headers       map[string]bool
	query         map[string]bool
	fields        map[string]bool
	keep          map[string]bool
	json          [][]string
	patterns      []*regexp.Regexp
	allow         []*regexp.Regexp
	steadyHeaders map[string]bool
	steadyQuery   map[string]bool
	steadyJSON    [][]string
	steadyPattern []*regexp.Regexp
}

// Volatile names values that differ between two recordings of the same traffic.
type Volatile struct {
	Headers, Query, JSON, Patterns []string
	// KeepDefaults leaves Date and the usual request ids as they are.
	KeepDefaults bool
}

// ParseRules reads a rules file, YAML with the keys headers, query, fields, json,
// patterns, allow, keep (lists of texts) and volatile (headers, query, json,
// patterns; keepDefaults). The name stands in errors, which give the line.
func ParseRules(name string, data []byte) (*Rules, error) {
	var file struct {
		Headers, Query, Fields, JSON, Patterns, Allow, Keep []string
		Volatile                                            struct {
			Headers, Query, JSON, Patterns []string
			KeepDefaults                   bool `yaml:"keepDefaults"`
		}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil && len(bytes.TrimSpace(data)) > 0 {
		text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ", "")
		if i := strings.Index(text, " not found in type"); i >= 0 {
			text = text[:i] + " is no key of a rules file; want headers, query, fields, json, patterns, allow, keep, volatile"
		}
		return nil, fmt.Errorf("%s: %s", name, text)
	}
	r := &Rules{Headers: file.Headers, Query: file.Query, Fields: file.Fields, JSON: file.JSON, Patterns: file.Patterns, Allow: file.Allow,
		Keep: file.Keep, Volatile: Volatile(file.Volatile)}
	if err := r.Prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Prepare compiles the rules; it must be called again after a change, before they
// are used. The error names the rule that cannot be understood.
func (r *Rules) Prepare() (err error) {
	r.headers, r.query, r.fields, r.keep = set(r.Headers), set(r.Query), set(r.Fields), set(r.Keep)
	r.steadyHeaders, r.steadyQuery = set(r.Volatile.Headers), set(r.Volatile.Query)
	var errs [6]error
	r.json, errs[0] = paths("json", r.JSON)
	r.steadyJSON, errs[1] = paths("volatile.json", r.Volatile.JSON)
	r.patterns, errs[2] = compile("patterns", r.Patterns)
	r.allow, errs[3] = compile("allow", r.Allow)
	r.steadyPattern, errs[4] = compile("volatile.patterns", r.Volatile.Patterns)
	return errors.Join(errs[:]...)
}

func set(names []string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[secretname.Normal(n)] = true
	}
	return m
}

func compile(where string, texts []string) ([]*regexp.Regexp, error) {
	var list []*regexp.Regexp
	for _, t := range texts {
		re, err := regexp.Compile(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("%s: %q matches the empty text, so it would match everywhere", where, t)
		}
		list = append(list, re)
	}
	return list, nil
}

// paths reads JSON Pointers and $.paths into steps.
func paths(where string, texts []string) ([][]string, error) {
	var list [][]string
	for _, t := range texts {
		var steps []string
		switch {
		case strings.HasPrefix(t, "/"):
			for s := range strings.SplitSeq(t[1:], "/") {
				steps = append(steps, strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~"))
			}
		case strings.HasPrefix(t, "$."), strings.HasPrefix(t, "$["):
			dotted := strings.NewReplacer("..", ".**.", "['", ".", "']", "", "[", ".", "]", "").Replace(t[1:])
			steps = strings.Split(strings.TrimPrefix(dotted, "."), ".")
		default:
			return nil, fmt.Errorf("%s: found %q, want a JSON Pointer (/users/*/ssn) or a path ($.users[*].ssn)", where, t)
		}
		list = append(list, steps)
	}
	return list, nil
}

// follows reports whether a path (with * for elements) is one of the places.
func follows(places [][]string, path []string) bool {
	return slices.ContainsFunc(places, func(steps []string) bool { return matchSteps(steps, path) })
}

func matchSteps(steps, path []string) bool {
	for i, s := range steps {
		if s == "**" {
			for j := i; j <= len(path); j++ {
				if matchSteps(steps[i+1:], path[j:]) {
					return true
				}
			}
			return false
		}
		element := i < len(path) && path[i] == "*" && isNumber(s)
		if i >= len(path) || s != "*" && s != path[i] && !element {
			return false
		}
	}
	return len(steps) == len(path)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func (r *Rules) secretPath(path []string) bool   { return follows(r.json, path) }
func (r *Rules) volatilePath(path []string) bool { return follows(r.steadyJSON, path) }

// secretField tells it of the normal name of a JSON member or form field.
func (r *Rules) secretField(n string) bool {
	return r.fields[n] || secretname.Anywhere(n) && !r.keep[n]
}

func (r *Rules) secretParam(n string) bool {
	return r.query[n] || r.fields[n] || secretname.Query(n) && !r.keep[n]
}

func (r *Rules) secretHeader(n string) bool {
	return r.headers[n] || secretname.Header(n) && !r.keep[n]
}

func (r *Rules) allows(value string) bool {
	return slices.ContainsFunc(r.allow, func(re *regexp.Regexp) bool { return re.MatchString(value) })
}

// spans finds what the rules' patterns say.
func (r *Rules) spans(text []byte) (found []span) {
	for _, re := range r.patterns {
		for _, m := range re.FindAllSubmatchIndex(text, -1) {
			if len(m) > 2 && m[2] >= 0 {
				m = m[2:]
			}
			if m[1] > m[0] {
				found = append(found, span{m[0], m[1], "match of a pattern"})
			}
		}
	}
	return disjoint(found)
}

// steady replaces what the volatile patterns match: the first group, or all of it.
func (r *Rules) steady(text []byte) []byte {
	for _, re := range r.steadyPattern {
		var out []byte
		done := 0
		for _, m := range re.FindAllSubmatchIndex(text, -1) {
			if len(m) > 2 && m[2] >= 0 {
				m = m[2:]
			}
			out = append(append(out, text[done:m[0]]...), steadyValue(text[m[0]:m[1]])...)
			done = m[1]
		}
		if done > 0 {
			text = append(out, text[done:]...)
		}
	}
	return text
}

// steadyValue is the fixed value for a volatile one: of the same kind, so that a
// client can still read it.
func steadyValue(text []byte) []byte {
	digits := bytes.Trim(text, "0123456789.")
	switch {
	case len(digits) == 0:
		return []byte("0")
	case len(text) >= 19 && text[4] == '-' && text[10] == 'T':
		return []byte("1970-01-01T00:00:00Z")
	case bytes.HasSuffix(text, []byte(" GMT")):
		return []byte("Thu, 01 Jan 1970 00:00:00 GMT")
	case len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-':
		return []byte("00000000-0000-4000-8000-000000000000")
	}
	return []byte(volatileText)
}

// volatileHeader reports whether a header's value differs from call to call.
func (r *Rules) volatileHeader(n string) bool {
	if r.steadyHeaders[n] {
		return true
	}
	if r.Volatile.KeepDefaults || r.keep[n] {
		return false
	}
	switch n {
	case "date", "age", "xrequestid", "requestid", "xcorrelationid", "correlationid", "xtraceid", "traceparent", "tracestate", "xb3traceid", "xb3spanid",
		"xamznrequestid", "xamzrequestid", "xamzid2", "xamzcfid", "xamzcfpop", "xamzntraceid", "xamzdate", "cfray", "xgithubrequestid", "servertiming", "xruntime", "xresponsetime",
		"xservedby", "xtimer", "xcloudtracecontext", "xgooghash", "msrequestid", "xmsrequestid", "xmscorrelationrequestid", "xmsclientrequestid",
		"xenvoyupstreamservicetime", "reportto", "nel", "xvarnish", "xratelimitreset", "ratelimitreset", "xstackifyid", "xslackreqid", "xslackuniqueid", "openaiprocessingms":
		return true
	}
	return false
}
