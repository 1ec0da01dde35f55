package vcr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// resume finds where a cassette ends and how its list is indented.
func (t *File) resume() error {
	data, err := io.ReadAll(t.f)
	if err != nil {
		return err
	}
	end := markerAt(data)
	whole := len(data)
	if end >= 0 {
		data = data[:end]
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("cannot append to what does not load: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	list, err := interactions(&doc)
	if err != nil {
		return err
	}
	if len(list.Content) == 0 {
		return t.restart()
	}
	if list.Style&yaml.FlowStyle != 0 || list.Line == 0 {
		return errors.New("cannot append to a list in flow style ([...]); convert the cassette first")
	}
	t.secret = HighestPlaceholder(data)
	t.indent = strings.Repeat(" ", list.Column-1)
	if end >= 0 && end+len(marker) > whole {
		end, whole = -1, end // a marker without a line end
	}
	if end < 0 { // clean, or of another writer: give it a marker
		var tail string
		if !bytes.HasSuffix(data, []byte("\n")) {
			tail = "\n"
		}
		if _, err := t.f.WriteAt([]byte(tail+marker), int64(whole)); err != nil {
			return err
		}
		end = whole + len(tail)
	}
	t.end, t.fixed = int64(end), int64(end)
	return errors.Join(t.f.Truncate(t.end+int64(len(marker))), t.f.Sync())
}

// restart makes an empty cassette one that this package made.
func (t *File) restart() error {
	err := errors.Join(t.f.Truncate(0), writeAt(t.f, head+marker), t.f.Sync())
	t.end, t.fixed = int64(len(head)), int64(len(head))
	return err
}

func writeAt(w io.WriterAt, text string) error {
	_, err := w.WriteAt([]byte(text), 0)
	return err
}

// markerAt is the offset of the first document end marker, -1 without one.
func markerAt(data []byte) int {
	if bytes.HasPrefix(data, []byte(marker)) {
		return 0
	}
	if i := bytes.Index(data, []byte("\n"+marker)); i >= 0 {
		return i + 1
	}
	if bytes.HasSuffix(data, []byte("\n...")) {
		return len(data) - 3
	}
	return -1
}

// interactions is the list of a cassette of format 1; an absent one is empty.
func interactions(doc *yaml.Node) (*yaml.Node, error) {
	if doc.Kind == 0 {
		return &yaml.Node{}, nil // an empty file
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("found no mapping with version and interactions, want a go-vcr cassette of format 1")
	}
	list := &yaml.Node{}
	version := ""
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch v := root.Content[i+1]; root.Content[i].Value {
		case "version":
			version = v.Value
		case "interactions":
			list = v
			if i+2 < len(root.Content) && len(v.Content) > 0 {
				return nil, fmt.Errorf("line %d: cannot append: the key %q stands behind the interactions", root.Content[i+2].Line, root.Content[i+2].Value)
			}
		}
	}
	if version != "1" {
		return nil, fmt.Errorf("found version %q, want a go-vcr cassette of format 1", version)
	}
	if list.Kind != 0 && list.Kind != yaml.SequenceNode && list.Tag != "!!null" {
		return nil, fmt.Errorf("line %d: interactions is no list", list.Line)
	}
	return list, nil
}

// HighestPlaceholder is the highest number of a placeholder in a text.
func HighestPlaceholder(data []byte) int {
	most := 0
	for {
		i := bytes.Index(data, []byte(Placeholder))
		if i < 0 {
			return most
		}
		data = data[i+len(Placeholder):]
		n := 0
		for len(data) > 0 && data[0] >= '0' && data[0] <= '9' && n < 1e9 {
			n, data = n*10+int(data[0]-'0'), data[1:]
		}
		most = max(most, n)
	}
}
