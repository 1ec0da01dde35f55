package compile

import (
	"bytes"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
)

// Foreign says what a text is that is neither a contract nor a description, as
// "a WSDL description"; "" when nothing tells.
func Foreign(text []byte) string { return api.Foreign(text) }

// Document compiles a description in memory: what serve does with a file that is
// no contract. Data is what the file holds, when it was read already; nil reads
// it. Errors are those of [Compile].
func Document(path string, data []byte, opts *Options) (*air.Document, error) {
	r, err := compileRead(path, data, opts)
	if err != nil {
		return nil, err
	}
	return r.Document()
}

// IsDescription reports whether a text is an API description, as far as its top
// keys tell, and no contract.
func IsDescription(text []byte) bool {
	data := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n")
	if !bytes.HasPrefix(data, []byte("{")) {
		return describesYAML(data)
	}
	depth, start := 0, -1
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			start = i + 1
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if depth != 1 || i >= len(data) || !bytes.HasPrefix(bytes.TrimLeft(data[i+1:], " \t\r\n"), []byte(":")) {
				continue
			}
			switch string(data[start:i]) {
			case "openapi", "swagger":
				return true
			case "service", "anvilVersion":
				return false
			}
		}
	}
	return false
}

// describesYAML looks for the key at the start of a line. It reads no YAML: a
// text of any size is looked through at the speed of the memory.
func describesYAML(data []byte) bool {
	for len(data) > 0 {
		line := data
		if n := bytes.IndexByte(data, '\n'); n >= 0 {
			line, data = data[:n], data[n+1:]
		} else {
			data = nil
		}
		if len(line) == 0 || line[0] == ' ' {
			continue
		}
		key, _, ok := bytes.Cut(line[:min(len(line), 64)], []byte(":"))
		if !ok {
			continue
		}
		switch key = bytes.TrimRight(key, " \t"); string(bytes.Trim(key, `"'`)) {
		case "openapi", "swagger":
			return true
		case "service", "anvilVersion":
			return false
		}
	}
	return false
}
