package secretname_test

import (
	"testing"

	"github.com/anvil-sim/anvil/internal/secretname"
)

func TestNames(t *testing.T) {
	for _, tc := range []struct {
		name                    string
		anywhere, query, header bool
	}{
		{"access_token", true, true, true},
		{"X-Api-Key", true, true, true},
		{"clientSecret", true, true, true},
		{"X-Amz-Signature", true, true, true},
		{"key", false, true, false},
		{"sid", false, true, false},
		{"Authorization", true, true, true},
		{"Cookie", false, false, true},
		{"page_token", false, false, false},
		{"$skiptoken", false, false, false},
		{"monkey", false, false, false},
		{"", false, false, false},
		{"пароль", false, false, false},
	} {
		n := secretname.Normal(tc.name)
		if a, q, h := secretname.Anywhere(n), secretname.Query(n), secretname.Header(n); a != tc.anywhere || q != tc.query || h != tc.header {
			t.Errorf("%q: anywhere %v, query %v, header %v; want %v, %v, %v", tc.name, a, q, h, tc.anywhere, tc.query, tc.header)
		}
	}
}
