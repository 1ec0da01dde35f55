package surface

// Header values are octets (RFC 9110, 5.5). Here each is a character of ISO
// 8859-1, in both directions, as in the fetch standard: what a client sends comes
// back byte for byte, and two values are equal when their bytes are.

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// fromLatin1 is the text of a header value.
func fromLatin1(s string) string {
	if isASCII(s) {
		return s
	}
	return string(appendLatin1(make([]byte, 0, 2*len(s)), s))
}

// appendLatin1 appends the UTF-8 of ISO 8859-1 octets.
func appendLatin1[T ~string | ~[]byte](dst []byte, octets T) []byte {
	for i := range len(octets) {
		dst = append(dst, string(rune(octets[i]))...)
	}
	return dst
}

// toLatin1 is a text as a header value. What ISO 8859-1 does not have becomes a
// question mark.
func toLatin1(s string) string {
	if isASCII(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xFF {
			r = '?'
		}
		b = append(b, byte(r))
	}
	return string(b)
}
