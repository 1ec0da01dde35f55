package surface_test

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// TestHeaderOctets: an octet of a header is a character of ISO 8859-1, in and out;
// what has no octet is dropped and told.
func TestHeaderOctets(t *testing.T) {
	contract := strings.NewReplacer("METHOD", "get", "EFFECT", "read", "PARAMS", "{name: X-In, in: header}", "PAGES", "output: {headers: [X-Out]},", "AUTH", "type: none").Replace(secretContract)
	for _, tc := range []struct{ name, sent, told, answered, got, warning string }{
		{"ASCII", "a b", "a b", "a b", "a b", ""},
		{"one octet", "\xe9", "é", "é", "\xe9", ""},
		{"UTF-8 is two characters", "\xc3\xa9", "Ã©", "Ã©", "\xc3\xa9", ""},
		{"a tab inside", "a\tb", "a\tb", "a\tb", "a\tb", ""},
		{"beyond ISO 8859-1", "", "", "é 中", "", "its value has U+4E2D, and headers carry ISO 8859-1 only"},
		{"a control character", "", "", "a\x01", "", "its value has the control character U+0001"},
		{"a line break", "", "", "a\nX-Evil: 1", "", "its value is not a single-line string"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			told := ""
			r := startContract(t, contract, nil, func(req *provider.Request) (*provider.Response, error) {
				told = canon.Unquote(req.Params.Header.Get("X-In"))
				answer := append(canon.AppendString([]byte(`{"ok":true,"result":1,"headers":{"x-out":`), tc.answered), "}}"...)
				return provider.ParseResponse(answer)
			})
			resp, _ := r.do(t, "GET", "/r", "", "X-In", tc.sent)
			if told != tc.told || resp.Header.Get("X-Out") != tc.got {
				t.Errorf("told %q, got %q; want %q, %q", told, resp.Header.Get("X-Out"), tc.told, tc.got)
			}
			trc := r.trace.String()
			if tc.warning == "" {
				if want := string(canon.AppendString([]byte(`"headers":{"x-in":`), tc.told)); !strings.Contains(trc, want) || strings.Contains(trc, "warnings") {
					t.Errorf("trace %s: want %s and no warning", trc, want)
				}
			} else if !strings.Contains(trc, `"warnings":["Provider header 'X-Out' dropped: `+tc.warning) {
				t.Errorf("trace %s: want the warning %q", trc, tc.warning)
			}
		})
	}
}
