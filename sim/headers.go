package sim

import (
	"fmt"
	"strconv"

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
		text, why := headerText(val)
		if why != "" {
			warnings = append(warnings, "Provider header '"+declared+"' dropped: "+why+".")
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

// headerText is the header value of a string or of a number, in ECMAScript's
// spelling unless it is a plain integer; why says what keeps another value from
// being one.
func headerText(val Raw) (text, why string) {
	switch c := val[0]; {
	case c == '"':
		text = canon.Unquote(val)
		return text, notInHeader(text)
	case c == '-' || c >= '0' && c <= '9':
		if text, ok := plainInteger(string(val)); ok {
			return text, ""
		}
		if f, err := strconv.ParseFloat(string(val), 64); err == nil {
			return string(canon.AppendFloat(nil, f)), ""
		}
	}
	return "", "its value is not a single-line string"
}

// notInHeader says what keeps a text from being a header value. A value is octets
// (RFC 9110, 5.5), of which a tab is the only control; characters travel as ISO
// 8859-1, one octet each, so that others have no form.
func notInHeader(text string) string {
	for _, r := range text {
		switch {
		case r == '\r' || r == '\n':
			return "its value is not a single-line string"
		case r < ' ' && r != '\t' || r == 0x7F:
			return fmt.Sprintf("its value has the control character U+%04X", r)
		case r > 0xFF:
			return fmt.Sprintf("its value has U+%04X, and headers carry ISO 8859-1 only (encode it, as RFC 8187 does)", r)
		}
	}
	return ""
}
