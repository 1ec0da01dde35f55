package compile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/anvil-sim/anvil/air"
)

// Document compiles a description in memory: what serve does with a file that is
// no contract. Approve is reads, all or none.
func Document(path, approve string) (*air.Document, error) {
	r, err := Compile(path, &Options{Approve: approve})
	if err != nil {
		return nil, err
	}
	return r.Document()
}

// IsDescription reports whether a file is an API description, as far as its top
// keys tell, and no contract. A directory is none.
func IsDescription(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	// What is too large is refused by the one who loads it.
	if info, err := f.Stat(); err != nil || info.IsDir() || info.Size() > air.MaxSize {
		return false, err
	}
	data, err := io.ReadAll(io.LimitReader(f, air.MaxSize))
	if err != nil {
		return false, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return false, fmt.Errorf("%s: a damaged gzip file: %w", path, err)
		}
		if data, err = io.ReadAll(io.LimitReader(z, air.MaxSize)); err != nil {
			return false, fmt.Errorf("%s: a damaged gzip file: %w", path, err)
		}
	}
	return describes(data), nil
}

// describes looks at the top keys of a text for the one that tells.
func describes(data []byte) bool {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
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
