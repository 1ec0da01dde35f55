package sim

import (
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// providerHeaders reads the response headers that a provider set: declared ones
// only, spelled as declared; a later spelling of one header wins in the first
// one's place. What is dropped has a warning each, in the answer's order.
func (o *Operation) providerHeaders(raw Raw) (headers []Header, warnings []string) {
	if raw == nil {
		return nil, nil
	}
	if raw[0] != '{' {
		return nil, []string{"Provider 'headers' is not an object; no header was set."}
	}
	canon.Members(raw, func(key, val []byte) bool {
		name := canon.Unquote(key)
		declared, ok := o.headers[lower(name)]
		if !ok {
			warnings = append(warnings, "Provider header '"+name+"' dropped: "+o.ID+" declares no such response header.")
			return true
		}
		text, ok := headerText(val)
		if !ok {
			warnings = append(warnings, "Provider header '"+declared+"' dropped: its value is not a single-line string.")
			return true
		}
		headers = setHeader(headers, declared, text)
		return true
	})
	return headers, warnings
}

func setHeader(headers []Header, name, value string) []Header {
	for i := range headers {
		if headers[i].Name == name {
			headers[i].Value = value
			return headers
		}
	}
	return append(headers, Header{name, value})
}

// headerText is the header value of a string without line breaks or of a
// number, in ECMAScript's spelling unless it is a plain integer.
func headerText(val Raw) (string, bool) {
	switch c := val[0]; {
	case c == '"':
		text := canon.Unquote(val)
		return text, !strings.ContainsAny(text, "\r\n\x00")
	case c == '-' || c >= '0' && c <= '9':
		if text, ok := plainInteger(string(val)); ok {
			return text, true
		}
		f, err := strconv.ParseFloat(string(val), 64)
		return string(canon.AppendFloat(nil, f)), err == nil
	}
	return "", false
}
