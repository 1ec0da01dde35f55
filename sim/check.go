package sim

import (
	"fmt"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

// misfit names the first value that does not match its declared schema: of the
// parameters in declared order, then the body. A page size is exempt: it is
// clamped, not refused. A schema that cannot be used is said in the trace.
func (s *Simulator) misfit(c *Call, out *Outcome) string {
	if s.opts.Values == nil {
		return ""
	}
	check := func(what string, schema *air.Value, val Raw) string {
		if !present(val) {
			return ""
		}
		fault, err := s.opts.Values.Check(schema, val)
		if err != nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s was not checked: its declared schema cannot be used: %v", what, err))
		}
		if fault == "" {
			return ""
		}
		return what + " does not match its declared schema: " + fault + "."
	}
	for _, p := range c.Op.Params {
		if p.In == "body" || c.Op.isPageSize("query", p.Name) && p.In == "query" {
			continue
		}
		if msg := check("Parameter '"+p.Name+"'", p.Schema, c.Input.Get(p.Key)); msg != "" {
			return msg
		}
	}
	return c.Op.misfitBody(c.Input, check)
}

func (o *Operation) misfitBody(in Input, check func(string, *air.Value, Raw) string) string {
	b := o.Body
	switch {
	case b == nil:
		return ""
	case b.Whole:
		return check("Request body", b.Schema, o.withoutPageSize(in.Get(bodyKey)))
	}
	for _, f := range b.Fields {
		val := in.Get(f.Key)
		if o.isPageSize("body", f.Name) && isNumber(val) {
			continue
		}
		if msg := check("Body field '"+f.Name+"'", f.Schema, val); msg != "" {
			return msg
		}
	}
	return ""
}

// isPageSize reports whether an input is the operation's page size.
func (o *Operation) isPageSize(in, name string) bool {
	p := o.Pagination
	return p != nil && p.PageSizeParam == name && name != "" && p.InBody == (in == "body")
}

// withoutPageSize is a whole body without a page size that is a number.
func (o *Operation) withoutPageSize(body Raw) Raw {
	if o.Pagination == nil || !o.Pagination.InBody || !present(body) || body[0] != '{' {
		return body
	}
	size, ok := canon.Lookup(body, o.Pagination.PageSizeParam)
	if !ok || !isNumber(size) {
		return body
	}
	var rest Input
	canon.Members(body, func(key, val []byte) bool {
		if name := canon.Unquote(key); name != o.Pagination.PageSizeParam {
			rest = append(rest, Arg{name, val})
		}
		return true
	})
	return rest.AppendJSON(nil)
}

func isNumber(val Raw) bool {
	return len(val) > 0 && (val[0] == '-' || val[0] >= '0' && val[0] <= '9')
}
