// Package expr evaluates CEL expressions over the entries of a trace.
//
// An expression sees each key of the entry under its name (seq, requestId,
// transport, tool, operationId, request, normalized, provider, result, status,
// response, headers, warnings) and what is derived from it: code, kind,
// principal, tenant, method, path, write (the call changes something) and
// entry, the whole. A key that the entry does not have is null.
//
// Whole numbers that 64 bits hold are int, others double. An int equals a double
// of its value.
package expr

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
	"cel.dev/cel-go/interpreter"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// costLimit bounds one evaluation, in the steps that CEL counts: a second or two.
// A step is an operation, or ten characters of a text that a function goes
// through; what one function does is counted when it has done it. Counting costs an
// expression without a macro two or three hundredths of its time.
const costLimit = 20_000_000

func entryKeys() []string {
	return []string{"schema", "seq", "requestId", "transport", "tool", "operationId", "request", "normalized", "provider", "result",
		"status", "response", "headers", "warnings"}
}

func derived() []string {
	return []string{"code", "kind", "principal", "tenant", "method", "path", "write", "entry"}
}

// An Env compiles expressions.
type Env struct{ env *cel.Env }

// NewEnv makes an environment.
func NewEnv() (*Env, error) {
	opts := []cel.EnvOption{cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true), ext.Strings(), ext.Sets(), ext.Lists()}
	for _, name := range append(entryKeys(), derived()...) {
		opts = append(opts, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(opts...)
	return &Env{env}, err
}

// A Program is a compiled expression. Several goroutines may use it at once.
type Program struct {
	source  string
	prg     cel.Program
	entries sync.Pool
}

// Compile compiles an expression of any type.
func (e *Env) Compile(source string) (*Program, error) {
	ast, issues := e.env.Compile(source)
	if issues != nil && issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, &Error{source, first.Location.Column() + 1, first.Message}
	}
	prg, err := e.env.Program(ast, cel.CostLimit(costLimit))
	if err != nil {
		return nil, &Error{Source: source, Msg: err.Error()}
	}
	return &Program{source: source, prg: prg}, nil
}

// CompileBool compiles an expression that is true or false.
func (e *Env) CompileBool(source string) (*Program, error) {
	ast, issues := e.env.Compile(source)
	if issues == nil || issues.Err() == nil {
		if t := ast.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
			return nil, &Error{Source: source, Msg: fmt.Sprintf("gives %s, want true or false", t)}
		}
	}
	return e.Compile(source)
}

// Source is the expression as it was given.
func (p *Program) Source() string { return p.source }

// True evaluates the expression. An entry that does not have what it asks for is
// an error, as is a value of another type. A [*LimitError] is no such error: it
// tells nothing of the entry.
func (p *Program) True(v *trace.View) (bool, error) {
	out, err := p.eval(v)
	if err != nil {
		return false, err
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, &Error{Source: p.source, Msg: fmt.Sprintf("gives %s, want true or false", out.Type().TypeName())}
	}
	return bool(b), nil
}

// Key evaluates the expression to a text that is equal for equal values; "" for
// null. Its errors are those of [Program.True].
func (p *Program) Key(v *trace.View) (string, error) {
	out, err := p.eval(v)
	if err != nil {
		return "", err
	}
	return keyOf(out), nil
}

func keyOf(out ref.Val) string {
	switch x := out.(type) {
	case types.Null:
		return ""
	case types.String:
		return string(x)
	case types.Int:
		return strconv.FormatInt(int64(x), 10)
	}
	return fmt.Sprint(out.Value())
}

func (p *Program) eval(v *trace.View) (ref.Val, error) {
	e, _ := p.entries.Get().(*entry)
	if e == nil {
		e = new(entry)
	}
	defer p.entries.Put(e)
	e.reset(v)
	out, _, err := p.prg.Eval(e)
	if e.err != nil {
		return nil, e.err
	}
	if err != nil {
		var stopped interpreter.EvalCancelledError
		if errors.As(err, &stopped) && stopped.Cause == interpreter.CostLimitExceeded {
			return nil, &LimitError{Source: p.source, Limit: costLimit}
		}
		msg := strings.TrimPrefix(err.Error(), "evaluation error: ")
		return nil, &Error{Source: p.source, Msg: msg}
	}
	return out, nil
}

// An entry gives an evaluation the values that it asks for.
type entry struct {
	view *trace.View
	seen map[string]any
	err  error
}

func (e *entry) reset(v *trace.View) {
	e.view, e.err = v, nil
	if e.seen == nil {
		e.seen = map[string]any{}
	}
	clear(e.seen)
}

// Parent implements cel.Activation.
func (e *entry) Parent() cel.Activation { return nil }

// ResolveName implements cel.Activation.
func (e *entry) ResolveName(name string) (any, bool) {
	if val, ok := e.seen[name]; ok {
		return val, true
	}
	val, ok := e.resolve(name)
	if ok {
		e.seen[name] = val
	}
	return val, ok
}

func (e *entry) resolve(name string) (any, bool) {
	v := e.view
	switch name {
	case "code":
		return textOrNull(v.Code()), true
	case "kind":
		return textOrNull(v.Kind()), true
	case "principal":
		return textOrNull(v.Principal()), true
	case "tenant":
		return textOrNull(v.Tenant()), true
	case "method":
		return textOrNull(v.Method()), true
	case "path":
		return textOrNull(v.Path()), true
	case "write":
		return v.Write(), true
	case "entry":
		return e.value(v.Text()), true
	}
	if !slices.Contains(entryKeys(), name) {
		return nil, false
	}
	return e.value(v.Get(name)), true
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (e *entry) value(text []byte) any {
	if text == nil {
		return nil
	}
	v, err := canon.Parse(text, canon.Lenient)
	if err != nil {
		e.view.Spoil() // else it would count as a call that lacks the value
		e.err = errors.Join(e.err, fmt.Errorf("the entry cannot be read: %w", err))
		return nil
	}
	return native(v)
}

func native(v *canon.Value) any {
	switch v.Kind() {
	case canon.Bool:
		return v.True()
	case canon.Number:
		if n, err := strconv.ParseInt(canon.NumberKey(v.Text()), 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseInt(v.Text(), 10, 64); err == nil {
			return n
		}
		if f := v.Float(); f == float64(int64(f)) && f < 1<<53 && f > -1<<53 {
			return int64(f)
		}
		return v.Float()
	case canon.String:
		return v.Text()
	case canon.Array:
		list := make([]any, len(v.Elems()))
		for i, e := range v.Elems() {
			list[i] = native(e)
		}
		return list
	case canon.Object:
		m := make(map[string]any, len(v.Members()))
		for _, mem := range v.Members() {
			m[mem.Key] = native(mem.Value)
		}
		return m
	}
	return nil
}
