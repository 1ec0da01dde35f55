package store

import (
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// A reference names a value of a request, as custom SQL and the map write it:
//
//	:path.id  :query.status  :header.X-Team  :cookie.c  :body.fields.summary
//	:principal.id  :principal.role  :tenant  :key  :page.size  :page.cursor
type reference struct {
	root string
	path []string
}

var referenceRoots = map[string]int{"path": 1, "query": 1, "header": 1, "cookie": 1, "body": 1, "principal": 1, "page": 1, "tenant": 0, "key": 0}

// parseReference reads a reference without its colon.
func parseReference(text string) (reference, error) {
	root, rest, dotted := strings.Cut(text, ".")
	least, known := referenceRoots[root]
	switch {
	case !known:
		return reference{}, fmt.Errorf(":%s is no value of a request, want :path.x, :query.x, :header.x, :cookie.x, :body.x, :principal.id, :page.size, :tenant or :key", text)
	case root == "body" && !dotted:
		return reference{root: root}, nil
	case least == 1 && (!dotted || rest == ""):
		return reference{}, fmt.Errorf(":%s wants a name after it, as in :%s.id", text, root)
	case least == 0 && dotted:
		return reference{}, fmt.Errorf(":%s has no parts, want :%s", text, root)
	}
	r := reference{root: root}
	if dotted {
		r.path = strings.Split(rest, ".")
	}
	switch name := strings.Join(r.path, "."); {
	case root == "principal" && name != "id" && name != "role", root == "page" && name != "size" && name != "cursor":
		return reference{}, fmt.Errorf(":%s is not known, want :principal.id, :principal.role, :page.size or :page.cursor", text)
	}
	return r, nil
}

// value is the referenced value for SQLite; nil where the request has none. An
// object or an array is its JSON text.
func (r reference) value(req *provider.Request) (driver.Value, error) {
	name := strings.Join(r.path, ".")
	switch r.root {
	case "path":
		return bindable(req.Params.Path.Get(name))
	case "query":
		return bindable(req.Params.Query.Get(name))
	case "cookie":
		return bindable(req.Params.Cookie.Get(name))
	case "header":
		for _, m := range req.Params.Header {
			if strings.EqualFold(m.Name, name) {
				return bindable(m.Value)
			}
		}
	case "tenant":
		return optional(req.TenantID), nil
	case "key":
		return optional(req.IdempotencyKey), nil
	case "principal":
		if p := req.Principal; p != nil {
			return map[string]string{"id": p.ID, "role": p.Role}[name], nil
		}
	case "page":
		if p := req.Page; p != nil && name == "size" {
			return int64(p.Size), nil
		} else if p != nil {
			return optional(p.Cursor), nil
		}
	case "body":
		return r.inBody(req.Body)
	}
	return nil, nil
}

// text spells the reference without its colon.
func (r reference) text() string { return strings.Join(append([]string{r.root}, r.path...), ".") }

func (r reference) inBody(body []byte) (driver.Value, error) {
	if len(body) == 0 {
		return nil, nil
	}
	raw, err := canon.AppendCompact(nil, body, canon.Lenient)
	if err != nil {
		return nil, invalid("the body: %v", err)
	}
	for _, key := range r.path {
		val, ok := canon.Lookup(raw, key)
		if !ok {
			return nil, nil
		}
		raw = val
	}
	return bindable(raw)
}

func optional(s *string) driver.Value {
	if s == nil {
		return nil
	}
	return *s
}

// bindable is a JSON value as SQLite takes it. A number beyond a double stays
// text.
func bindable(raw []byte) (driver.Value, error) {
	if raw == nil {
		return nil, nil
	}
	compact, err := canon.AppendCompact(nil, raw, canon.Lenient)
	if err != nil {
		return nil, invalid("a value of the request: %v", err)
	}
	v, ok := scalar(compact)
	if !ok {
		return string(compact), nil
	}
	if b, isBool := v.(bool); isBool {
		return bit(b), nil
	}
	return v, nil
}

// An assignment writes a constant or a referenced value to a column.
type assignment struct {
	col *column
	ref *reference
	raw []byte // a constant as JSON
}

func (a assignment) value(req *provider.Request) (driver.Value, error) {
	if a.ref == nil {
		return a.col.take(a.raw)
	}
	v, err := a.ref.value(req)
	if err != nil || v == nil {
		return v, err
	}
	if out, ok := a.col.convert(v); ok {
		return out, nil
	}
	return v, nil
}
