package scrub

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/secretname"
)

// A Finding is a value that looks like a secret.
type Finding struct {
	Place string // request.headers.X-Key, response.body
	Kind  string // GitHub token
	Hint  string // the value's beginning, no more than tells it apart
}

// String is the finding for a message.
func (f Finding) String() string { return fmt.Sprintf("%s: %s (%s)", f.Place, f.Kind, f.Hint) }

// hint shows so little of a secret that it may stand in a log.
func hint(value string) string {
	shown := min(4, len(value)/4)
	return fmt.Sprintf("%q and %d more bytes", strings.ToValidUTF8(value[:shown], ""), len(value)-shown)
}

// ScanText looks for secrets in a text as it would be written: as it stands, behind
// JSON's and percent escapes, and inside base64.
func (s *Scrubber) ScanText(place string, text []byte) []Finding {
	found := s.scan(place, text, true)
	if len(found) > 0 {
		return found
	}
	if canon.Valid(text) && strings.IndexByte(string(text), '\\') >= 0 {
		found = s.scanStrings(place, text)
	}
	if plain := unescape(string(text)); len(found) == 0 && len(text) < 1<<20 && plain != string(text) {
		found = s.scan(place, []byte(plain), true)
	}
	if len(found) == 0 {
		found = s.scanBase64(place, text)
	}
	return found
}

// ScanHeader looks for secrets in header fields.
func (s *Scrubber) ScanHeader(place string, h http.Header) (found []Finding) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			at := place + "." + name
			if f := s.ScanText(at, []byte(v)); len(f) > 0 {
				found = append(found, f...)
			} else if s.rules.secretHeader(secretname.Normal(name)) {
				found = append(found, s.scanNamed(at, name, v)...)
			}
		}
		found = append(found, s.scan(place+" (a name)", []byte(name), false)...)
	}
	return found
}

// scanNamed judges the value of a telling name.
func (s *Scrubber) scanNamed(place, name, value string) []Finding {
	if redacted(value) || s.rules.allows(value) || s.rules.keep[secretname.Normal(name)] {
		return nil
	}
	bare := value
	if scheme, rest, ok := strings.Cut(value, " "); ok && alphabetic(scheme) {
		bare = rest
	}
	if len(bare) < 6 || redacted(bare) {
		return nil
	}
	return []Finding{{place, "value of " + name, hint(bare)}}
}

func (s *Scrubber) scan(place string, text []byte, names bool) (found []Finding) {
	list := append(s.rules.spans(text), s.spans(text)...)
	if names && utf8.Valid(text) {
		list = append(list, named(text, s.rules.secretField)...)
	}
	for _, f := range disjoint(list) {
		if value := string(text[f.from:f.to]); !redacted(value) && !s.rules.allows(value) {
			found = append(found, Finding{place, f.kind, hint(value)})
		}
	}
	return found
}

// scanStrings looks into the strings of JSON as they are once decoded.
func (s *Scrubber) scanStrings(place string, text []byte) (found []Finding) {
	v, err := canon.Parse(text, canon.Lenient)
	if err != nil {
		return nil
	}
	var walk func(v *canon.Value)
	walk = func(v *canon.Value) {
		if v.Is(canon.String) {
			found = append(found, s.scan(place, []byte(v.Text()), true)...)
		}
		for _, e := range v.Elems() {
			walk(e)
		}
		for _, m := range v.Members() {
			found = append(found, s.scan(place, []byte(m.Key), false)...)
			walk(m.Value)
		}
	}
	walk(v)
	return found
}

// scanBase64 looks for token shapes inside runs of base64.
func (s *Scrubber) scanBase64(place string, text []byte) (found []Finding) {
	const minRun, maxRun = 28, 4 << 20
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && (alnum.has(text[end]) || text[end] == '+' || text[end] == '/' || text[end] == '-' || text[end] == '_') {
			end++
		}
		if n := end - at; n >= minRun && n <= maxRun {
			run := strings.NewReplacer("-", "+", "_", "/").Replace(string(text[at : at+n]))
			if n%4 == 1 {
				run = run[:n-1]
			}
			raw, err := base64.RawStdEncoding.DecodeString(run)
			if err == nil && utf8.Valid(raw) {
				found = append(found, s.scan(place+" (inside base64)", raw, false)...)
			}
		}
		at = end + 1
	}
	return found
}
