package canon

import "bytes"

// Members calls yield with each member of a compact object: the key as it
// stands (quotes included) and the value's bytes, both inside obj. It stops
// when yield returns false. obj must be compact valid JSON, as [AppendCompact]
// makes it; anything but an object has no members.
func Members(obj []byte, yield func(key, val []byte) bool) {
	if len(obj) < 2 || obj[0] != '{' {
		return
	}
	for i := 1; obj[i] != '}'; {
		if obj[i] == ',' {
			i++
		}
		k := i + valueLen(obj[i:])
		v := k + 1 + valueLen(obj[k+1:])
		if !yield(obj[i:k], obj[k+1:v]) {
			return
		}
		i = v
	}
}

// Elements calls yield with the bytes of each element of a compact array, until
// yield returns false. Anything but an array has no elements.
func Elements(arr []byte, yield func(val []byte) bool) {
	if len(arr) < 2 || arr[0] != '[' {
		return
	}
	for i := 1; arr[i] != ']'; {
		if arr[i] == ',' {
			i++
		}
		end := i + valueLen(arr[i:])
		if !yield(arr[i:end]) {
			return
		}
		i = end
	}
}

// Lookup returns the bytes of the value of a key of a compact object.
func Lookup(obj []byte, key string) (val []byte, ok bool) {
	quoted := AppendString(make([]byte, 0, len(key)+8), key)
	Members(obj, func(k, v []byte) bool {
		if bytes.Equal(k, quoted) {
			val, ok = v, true
		}
		return !ok
	})
	return val, ok
}

// valueLen is the length of the compact value that b begins with.
func valueLen(b []byte) int {
	switch b[0] {
	case '"':
		return stringLen(b)
	case '{', '[':
		depth := 0
		for i := 0; ; {
			switch b[i] {
			case '"':
				i += stringLen(b[i:])
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	}
	for i, c := range b {
		if c == ',' || c == '}' || c == ']' || c == ':' {
			return i
		}
	}
	return len(b)
}

func stringLen(b []byte) int {
	for i := 1; ; {
		j := bytes.IndexByte(b[i:], '"')
		end := i + j
		// The quote is escaped when an odd number of backslashes stands before it.
		n := 0
		for b[end-1-n] == '\\' {
			n++
		}
		if n%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
}
