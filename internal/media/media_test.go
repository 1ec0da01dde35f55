package media_test

import (
	"testing"

	"github.com/anvil-sim/anvil/internal/media"
)

func TestMedia(t *testing.T) {
	for _, c := range []struct {
		contentType, want string
		json, binary      bool
	}{
		{"", "", false, false},
		{" Application/JSON ; charset=utf-8", "application/json", true, false},
		{"application/vnd.api+json", "application/vnd.api+json", true, false},
		{"text/json", "text/json", true, false},
		{"text/plain", "text/plain", false, false},
		{"application/x-unknown", "application/x-unknown", false, false},
		{"application/Octet-Stream", "application/octet-stream", false, true},
		{"IMAGE/png;q=1", "image/png", false, true},
		{"image/svg+xml", "image/svg+xml", false, false},
		{"imagery/png", "imagery/png", false, false},
	} {
		typ := media.Type(c.contentType)
		if typ != c.want || media.JSON(typ) != c.json || media.Binary(typ) != c.binary {
			t.Errorf("%q: %q, JSON %v, binary %v", c.contentType, typ, media.JSON(typ), media.Binary(typ))
		}
	}
}
