package openapi

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// A node is a piece of the description with the file that it stands in, since
// references are relative to their file.
type node struct {
	v    *api.Value
	file *api.File
	at   string // JSON Pointer in the file
}

func (n node) get(key string) node {
	return node{n.v.Get(key), n.file, n.at + "/" + escapeToken(key)}
}

func (n node) elem(i int) node {
	return node{n.v.Elems()[i], n.file, n.at + "/" + strconv.Itoa(i)}
}

func (n node) text(key string) string {
	if v := n.v.Get(key); v.Is(canon.String) {
		return v.Text()
	}
	return ""
}

// place is where the node stands: a pointer in the entry file, whatever it is
// called, or a file and a pointer.
func (n node) place() string {
	if n.file.Entry {
		return "#" + n.at
	}
	return n.file.Path + "#" + n.at
}

var (
	tokenEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	tokenUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func escapeToken(s string) string { return tokenEscaper.Replace(s) }

// maxChain is how many references may lead to one another.
const maxChain = 64

// refOf is the reference that v is, "" when it is none.
func refOf(v *api.Value) string {
	if ref := v.Get("$ref"); ref.Is(canon.String) {
		return ref.Text()
	}
	return ""
}

// resolve follows references until something else stands there. Ok is false, and
// a diagnostic tells why, when there is nothing.
func (r *reader) resolve(n node) (node, bool) {
	for range maxChain {
		ref := refOf(n.v)
		if ref == "" {
			return n, n.v != nil
		}
		next, ok := r.target(n, ref)
		if !ok {
			return node{}, false
		}
		n = next
	}
	r.diags.Addf(api.Error, "ref/cycle", n.place(), "references that lead to one another without an end")
	return node{}, false
}

// target finds what a reference in n names.
func (r *reader) target(n node, ref string) (node, bool) {
	filePart, pointer, _ := strings.Cut(ref, "#")
	file := n.file
	if filePart != "" {
		var ok bool
		if file, ok = r.openRef(n, filePart); !ok {
			return node{}, false
		}
	}
	out, ok := locate(file, pointer)
	if !ok {
		r.diags.Addf(api.Error, "ref/unresolved", n.place(), "the reference %q leads nowhere", ref)
	}
	return out, ok
}

// openRef reads the file that a reference names, which must lie in the import
// root. Nothing is ever fetched.
func (r *reader) openRef(n node, ref string) (*api.File, bool) {
	if u, err := url.Parse(ref); err != nil || u.Scheme != "" || u.Host != "" {
		r.diags.Addf(api.Warning, "ref/remote", n.place(), "the remote reference %q is not fetched", ref)
		return nil, false
	}
	name, err := url.PathUnescape(ref)
	if err != nil {
		name = ref
	}
	if path.IsAbs(name) || strings.Contains(name, `\`) {
		r.diags.Addf(api.Error, "ref/escape", n.place(), "the reference %q leaves the import root", ref)
		return nil, false
	}
	file, err := r.files.Get(path.Join(path.Dir(n.file.Path), name))
	switch {
	case err == nil:
		return file, true
	case errors.Is(err, api.ErrEscape):
		r.diags.Addf(api.Error, "ref/escape", n.place(), "the reference %q leaves the import root", ref)
	case errors.Is(err, fs.ErrNotExist):
		r.diags.Addf(api.Error, "ref/missing", n.place(), "the reference %q names a file that is not there", ref)
	default:
		r.diags.Addf(api.Error, "ref/unreadable", n.place(), "the reference %q: %v", ref, err)
	}
	return nil, false
}

// locate walks a JSON Pointer, as it stands in a URL fragment.
func locate(file *api.File, pointer string) (node, bool) {
	n := node{v: file.Tree, file: file}
	if pointer == "" || pointer == "/" {
		return n, n.v != nil
	}
	if pointer[0] != '/' {
		return node{}, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		token = tokenUnescaper.Replace(token)
		if n.v.Is(canon.Array) {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(n.v.Elems()) {
				return node{}, false
			}
			n = n.elem(i)
			continue
		}
		if n = n.get(token); n.v == nil {
			return node{}, false
		}
	}
	return n, true
}
