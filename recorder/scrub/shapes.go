package scrub

import (
	"bytes"
	"strings"
)

// A class is a set of characters.
type class uint8

const (
	hexits  class = 1 << iota // 0-9 a-f A-F
	alnum                     // letters and digits
	dashed                    // and - _
	dotted                    // and - _ .
	slashed                   // and - _ . / + = ~
	upper                     // capitals and digits
)

func (k class) has(c byte) bool {
	digit, low, cap := c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z'
	switch k {
	case hexits:
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	case upper:
		return digit || cap
	case alnum:
		return digit || low || cap
	case dashed:
		return digit || low || cap || c == '-' || c == '_'
	case dotted:
		return digit || low || cap || c == '-' || c == '_' || c == '.'
	}
	return digit || low || cap || strings.IndexByte("-_./+=~", c) >= 0
}

// A tokenShape is how the tokens of a service look: a prefix, then at least min
// characters of a class.
type tokenShape struct {
	kind, prefix string
	class        class
	min          int
	keep         bool // the prefix is no part of the secret
}

// tokenShapes are the shapes that are told by a prefix.
func tokenShapes() []tokenShape {
	return []tokenShape{
		{"AWS access key", "AKIA", upper, 16, false}, {"AWS access key", "ASIA", upper, 16, false}, {"AWS access key", "ABIA", upper, 16, false},
		{"GitHub token", "ghp_", alnum, 30, false}, {"GitHub token", "gho_", alnum, 30, false}, {"GitHub token", "ghu_", alnum, 30, false},
		{"GitHub token", "ghs_", alnum, 30, false}, {"GitHub token", "ghr_", alnum, 30, false}, {"GitHub token", "github_pat_", dashed, 22, false},
		{"GitLab token", "glpat-", dotted, 18, false}, {"GitLab token", "gldt-", dashed, 18, false}, {"GitLab token", "glrt-", dashed, 18, false},
		{"GitLab token", "glptt-", dashed, 18, false}, {"GitLab token", "glcbt-", dashed, 18, false},
		{"Slack token", "xoxb-", dashed, 10, false}, {"Slack token", "xoxp-", dashed, 10, false}, {"Slack token", "xoxa-", dashed, 10, false},
		{"Slack token", "xoxr-", dashed, 10, false}, {"Slack token", "xoxs-", dashed, 10, false}, {"Slack token", "xoxe.", dotted, 10, false},
		{"Slack token", "xoxe-", dashed, 10, false}, {"Slack token", "xoxc-", dashed, 10, false}, {"Slack token", "xoxd-", slashed, 10, false}, {"Slack token", "xapp-", dashed, 10, false},
		{"Slack webhook", "hooks.slack.com/services/", slashed, 16, true}, {"Slack webhook", "hooks.slack.com/workflows/", slashed, 16, true},
		{"Discord webhook", "/api/webhooks/", slashed, 40, true},
		{"Stripe key", "sk_live_", alnum, 10, false}, {"Stripe key", "sk_test_", alnum, 10, false}, {"Stripe key", "rk_live_", alnum, 10, false},
		{"Stripe key", "rk_test_", alnum, 10, false}, {"webhook secret", "whsec_", slashed, 16, false},
		{"Google API key", "AIza", dashed, 30, false}, {"Google OAuth token", "ya29.", dotted, 20, false}, {"Google client secret", "GOCSPX-", dashed, 20, false},
		{"Google refresh token", "1//0", dashed, 30, false},
		{"Anthropic key", "sk-ant-", dashed, 20, false}, {"OpenAI key", "sk-proj-", dashed, 20, false}, {"OpenAI key", "sk-svcacct-", dashed, 20, false},
		{"secret key", "sk-", alnum, 20, false}, {"Hugging Face token", "hf_", alnum, 30, false}, {"Replicate token", "r8_", alnum, 30, false}, {"npm token", "npm_", alnum, 30, false},
		{"PyPI token", "pypi-AgE", dashed, 30, false}, {"RubyGems key", "rubygems_", hexits, 40, false}, {"crates.io token", "cio", alnum, 32, false},
		{"DigitalOcean token", "dop_v1_", hexits, 40, false}, {"DigitalOcean token", "doo_v1_", hexits, 40, false}, {"DigitalOcean token", "dor_v1_", hexits, 40, false},
		{"SendGrid key", "SG.", dotted, 40, false}, {"Mailgun key", "key-", hexits, 32, false}, {"Twilio key", "SK", hexits, 32, false},
		{"Square token", "sq0atp-", dashed, 20, false}, {"Square secret", "sq0csp-", dashed, 20, false}, {"Square token", "EAAA", dashed, 56, false},
		{"Facebook token", "EAAC", alnum, 30, false}, {"Shopify token", "shpat_", hexits, 32, false}, {"Shopify token", "shpca_", hexits, 32, false},
		{"Shopify token", "shppa_", hexits, 32, false}, {"Shopify secret", "shpss_", hexits, 32, false},
		{"Linear key", "lin_api_", alnum, 30, false}, {"Notion token", "ntn_", alnum, 40, false}, {"Notion token", "secret_", alnum, 40, false}, {"Figma token", "figd_", dashed, 30, false},
		{"HubSpot token", "pat-na1-", dashed, 30, false}, {"HubSpot token", "pat-eu1-", dashed, 30, false}, {"Databricks token", "dapi", hexits, 32, false},
		{"Postman key", "PMAK-", dashed, 40, false}, {"New Relic key", "NRAK-", upper, 20, false}, {"Sentry token", "sntrys_", slashed, 30, false}, {"Sentry token", "sntryu_", hexits, 40, false},
		{"Grafana token", "glsa_", dashed, 30, false}, {"Grafana token", "glc_", slashed, 30, false}, {"Vault token", "hvs.", dashed, 20, false}, {"Vault token", "hvb.", dashed, 20, false},
		{"age key", "AGE-SECRET-KEY-1", upper, 40, false}, {"Tailscale key", "tskey-", dashed, 20, false}, {"Pulumi token", "pul-", hexits, 40, false},
		{"Atlassian token", "ATATT3", slashed, 40, false}, {"Atlassian token", "ATCTT3", slashed, 40, false}, {"Airtable token", "pat", alnum, 80, false},
		{"Azure storage key", "AccountKey=", slashed, 40, true}, {"Azure signature", "SharedAccessSignature=", slashed, 30, true},
		{"Docker token", "dckr_pat_", dashed, 20, false}, {"Terraform token", ".atlasv1.", dashed, 40, true}, {"Doppler token", "dp.pt.", alnum, 30, false},
		{"PlanetScale password", "pscale_pw_", dotted, 30, false}, {"PlanetScale token", "pscale_tkn_", dotted, 30, false}, {"Supabase key", "sbp_", hexits, 40, false},
		{"Fly.io token", "fo1_", dashed, 30, false}, {"Contentful token", "CFPAT-", dashed, 40, false}, {"Dropbox token", "sl.", dashed, 100, false},
		{"Mapbox token", "sk.eyJ", dotted, 40, false}, {"Okta token", "SSWS ", dashed, 30, true}, {"Bearer token", "Bearer ", slashed, 16, true},
		{"Bearer token", "bearer ", slashed, 16, true}, {"Basic credentials", "Basic ", slashed, 12, true}, {"Basic credentials", "basic ", slashed, 16, true},
	}
}

// A span is a secret inside a text.
type span struct {
	from, to int
	kind     string
}

// spans finds the token shapes in a text, in order and without overlaps.
func (d *detector) spans(text []byte) []span {
	var found []span
	for i := range d.shapes {
		s := &d.shapes[i]
		for at := 0; ; {
			k := bytes.Index(text[at:], s.bytes)
			if k < 0 {
				break
			}
			from := at + k
			at = from + len(s.bytes)
			if to, ok := s.match(text, from); ok {
				if s.keep {
					from = at
				}
				found, at = append(found, span{from, to, s.kind}), to
			}
		}
	}
	found = append(found, jwts(text)...)
	found = append(found, privateKeys(text)...)
	found = append(found, userinfo(text)...)
	found = append(found, botTokens(text)...)
	return disjoint(found)
}

// match finds the end of a token whose prefix stands at from.
func (s *preparedShape) match(text []byte, from int) (to int, ok bool) {
	if !s.keep && from > 0 && alnum.has(text[from-1]) && s.bytes[0] != '.' && s.bytes[0] != '/' {
		return 0, false
	}
	start := from + len(s.bytes)
	to = start
	digits, letters := 0, 0
	for to < len(text) && s.class.has(text[to]) {
		if c := text[to]; c >= '0' && c <= '9' {
			digits++
		} else {
			letters++
		}
		to++
	}
	for to > start && (text[to-1] == '.' || text[to-1] == '-') {
		to--
	}
	if to-start < s.min || digits == 0 && to-start < 24 {
		return 0, false
	}
	return to, !redacted(string(text[start:to]))
}

// jwts finds three parts of base64 of which the first is a JSON object.
func jwts(text []byte) (found []span) {
	for at := 0; ; {
		k := bytes.Index(text[at:], []byte("eyJ"))
		if k < 0 {
			return found
		}
		from := at + k
		at = from + 3
		if from > 0 && dashed.has(text[from-1]) {
			continue
		}
		to, dots := from, 0
		for to < len(text) && (dashed.has(text[to]) || text[to] == '.' && dots < 4) {
			if text[to] == '.' {
				dots++
			}
			to++
		}
		if dots >= 2 && to-from >= 30 {
			found = append(found, span{from, to, "JSON Web Token"})
			at = to
		}
	}
}

// privateKeys finds PEM blocks, whole or cut off, with line breaks or \n.
func privateKeys(text []byte) (found []span) {
	begin, end := []byte("-----BEGIN "), []byte("-----END ")
	for at := 0; ; {
		k := bytes.Index(text[at:], begin)
		if k < 0 {
			return found
		}
		from := at + k
		at = from + len(begin)
		label, rest, _ := bytes.Cut(text[at:min(len(text), at+64)], []byte("-----"))
		if !bytes.Contains(label, []byte("PRIVATE KEY")) || rest == nil {
			continue
		}
		to := at + len(label) + 5
		if k := bytes.Index(text[to:], end); k >= 0 {
			to += k + len(end)
			if k := bytes.Index(text[to:], []byte("-----")); k >= 0 {
				to += k + 5
			}
		} else {
			to = len(text)
		}
		found = append(found, span{from, to, "private key"})
		at = to
	}
}

// userinfo finds a user and password in a URL.
func userinfo(text []byte) (found []span) {
	for at := 0; ; {
		k := bytes.Index(text[at:], []byte("://"))
		if k < 0 {
			return found
		}
		from := at + k + 3
		at = from
		colon := -1
		for i := from; i < len(text) && i < from+512; i++ {
			c := text[i]
			if c == '@' {
				if colon >= 0 && !redacted(string(text[colon+1:i])) || colon < 0 && i-from >= 16 && !redacted(string(text[from:i])) {
					found = append(found, span{from, i, "credentials in a URL"})
				}
				break
			}
			if c == ':' && colon < 0 {
				colon = i
			}
			if c <= ' ' || strings.IndexByte("/?#\"'<>\\", c) >= 0 {
				break
			}
		}
	}
}

// botTokens finds Telegram's: digits, a colon, 35 characters that begin with AA.
func botTokens(text []byte) (found []span) {
	for at := 0; ; {
		k := bytes.Index(text[at:], []byte(":AA"))
		if k < 0 {
			return found
		}
		colon := at + k
		at = colon + 3
		from, to := colon, colon+1
		for from > 0 && text[from-1] >= '0' && text[from-1] <= '9' {
			from--
		}
		for to < len(text) && dashed.has(text[to]) {
			to++
		}
		if colon-from >= 6 && to-colon > 33 {
			found = append(found, span{from, to, "Telegram token"})
		}
	}
}
