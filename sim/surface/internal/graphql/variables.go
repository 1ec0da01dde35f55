package graphql

import (
	"math"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/anvil-sim/anvil/internal/canon"
)

// values are the variables of a request by name, as canonical JSON.
type values map[string][]byte

// coerce reads the variables of an operation: the request's, the defaults for
// those that it leaves out, built-in scalars checked and spelled as their type.
func coerce(op *ast.OperationDefinition, raw []byte) (values, []*Error) {
	if len(raw) > 0 && raw[0] != '{' && string(raw) != "null" {
		return nil, []*Error{{Message: "Variables must be provided as an object, by name.", Code: CodeInvalid}}
	}
	vars := values{}
	var errs []*Error
	fail := func(def *ast.VariableDefinition, format string, args ...any) {
		e := problem(def.Position, format, args...)
		e.Code = CodeInvalid
		errs = append(errs, e)
	}
	for _, def := range op.VariableDefinitions {
		val, given := canon.Lookup(raw, def.Variable)
		switch {
		case given:
			out, reason := coerceJSON(nil, val, def.Type)
			if reason != "" {
				fail(def, "Variable \"$%s\" got invalid value %s; %s", def.Variable, short(val), reason)
				continue
			}
			vars[def.Variable] = out
		case def.DefaultValue != nil:
			vars[def.Variable], _ = appendValue(nil, def.DefaultValue, nil, def.Type)
		case def.Type.NonNull:
			fail(def, "Variable \"$%s\" of required type %q was not provided.", def.Variable, def.Type)
		}
	}
	return vars, errs
}

func short(val []byte) string {
	const most = 80
	if len(val) <= most {
		return string(val)
	}
	return strings.ToValidUTF8(string(val[:most]), "") + "…"
}

// coerceJSON appends a JSON value as a type has it. The reason says why it
// cannot, "" when it can.
func coerceJSON(dst, val []byte, typ *ast.Type) (out []byte, reason string) {
	switch {
	case string(val) == "null":
		if typ.NonNull {
			return dst, "Expected non-nullable type " + strconv.Quote(typ.String()) + " not to be null."
		}
		return append(dst, val...), ""
	case typ.Elem != nil && val[0] != '[':
		dst, reason = coerceJSON(append(dst, '['), val, typ.Elem)
		return append(dst, ']'), reason
	case typ.Elem != nil:
		dst = append(dst, '[')
		first := true
		canon.Elements(val, func(e []byte) bool {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst, reason = coerceJSON(dst, e, typ.Elem)
			return reason == ""
		})
		return append(dst, ']'), reason
	}
	return coerceScalar(dst, val, typ.NamedType)
}

func coerceScalar(dst, val []byte, name string) (out []byte, reason string) {
	isString, isNumber := val[0] == '"', val[0] == '-' || val[0] >= '0' && val[0] <= '9'
	switch name {
	case "Int":
		f, err := strconv.ParseFloat(string(val), 64)
		switch {
		case !isNumber || err != nil || f != math.Trunc(f):
			return dst, "Int cannot represent non-integer value: " + short(val)
		case f > math.MaxInt32 || f < math.MinInt32:
			return dst, "Int cannot represent non 32-bit signed integer value: " + short(val)
		}
	case "Float":
		if !isNumber {
			return dst, "Float cannot represent non numeric value: " + short(val)
		}
	case "String":
		if !isString {
			return dst, "String cannot represent a non string value: " + short(val)
		}
	case "Boolean":
		if val[0] != 't' && val[0] != 'f' {
			return dst, "Boolean cannot represent a non boolean value: " + short(val)
		}
	case "ID":
		switch {
		case isNumber && !strings.ContainsAny(string(val), ".eE"):
			return canon.AppendString(dst, val), ""
		case !isString:
			return dst, "ID cannot represent value: " + short(val)
		}
	}
	return append(dst, val...), ""
}

// appendValue appends a literal as JSON, its variables replaced. Nothing is
// appended when it is a variable without a value; in a list that is null, in an
// object the field is left out. The type, when there is one, makes single
// values lists and numbers ids.
func appendValue(dst []byte, v *ast.Value, vars values, typ *ast.Type) (out []byte, ok bool) {
	if typ != nil && typ.Elem != nil && v.Kind != ast.ListValue && v.Kind != ast.NullValue && v.Kind != ast.Variable {
		dst, _ = appendValue(append(dst, '['), v, vars, typ.Elem)
		return append(dst, ']'), true
	}
	switch v.Kind {
	case ast.Variable:
		val, ok := vars[v.Raw]
		return append(dst, val...), ok
	case ast.IntValue:
		if typ != nil && typ.NamedType == "ID" {
			return canon.AppendString(dst, v.Raw), true
		}
		return append(dst, v.Raw...), true
	case ast.FloatValue, ast.BooleanValue:
		return append(dst, v.Raw...), true
	case ast.NullValue:
		return append(dst, "null"...), true
	case ast.ListValue:
		return appendList(dst, v, vars, typ), true
	case ast.ObjectValue:
		return appendObject(dst, v, vars), true
	}
	return canon.AppendString(dst, v.Raw), true // strings, block strings, enum values
}

func appendList(dst []byte, v *ast.Value, vars values, typ *ast.Type) []byte {
	var elem *ast.Type
	if typ != nil {
		elem = typ.Elem
	}
	dst = append(dst, '[')
	for i, c := range v.Children {
		if i > 0 {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = appendValue(dst, c.Value, vars, elem); !ok {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, ']')
}

func appendObject(dst []byte, v *ast.Value, vars values) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for _, c := range v.Children {
		mark := len(dst)
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, c.Name), ':')
		var ok bool
		if dst, ok = appendValue(dst, c.Value, vars, nil); !ok {
			dst = dst[:mark]
		}
	}
	return append(dst, '}')
}
