package store

import (
	"context"
	"fmt"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// targetKey is what an operation's target depends on.
type targetKey struct{ id, method, path, action, kind, resource string }

// Initialize implements provider.Initializer. A contract digest other than that
// of [Options.Contract] is refused. A simulator without a contract of its own (no
// operations, no digests) gets the served one, derived from the tables.
func (db *DB) Initialize(_ context.Context, p *provider.InitializeParams) (*provider.InitializeResult, error) {
	res := &provider.InitializeResult{ProtocolVersion: provider.ProtocolVersion}
	db.seed.CompareAndSwap(0, p.Seed)
	if len(p.Operations) == 0 && p.ContractDigest == nil && p.SurfaceDigest == nil {
		d, err := db.contract()
		if err != nil {
			return res, err
		}
		db.tellMap(d.operations(), nil)
		res.Contract = d.document.AppendJSON(nil)
		return res, nil
	}
	if doc := db.opts.Contract; doc != nil && p.ContractDigest != nil {
		if own := doc.ContractDigest(); own != *p.ContractDigest {
			return nil, fmt.Errorf("the simulator serves the contract with digest %s, the fixture database was given one with digest %s; give both the same contract",
				*p.ContractDigest, own)
		}
	}
	if doc := db.opts.Contract; doc != nil {
		db.tellMap(operations(doc), doc)
	} else {
		db.tellMap(p.Operations, nil)
	}
	db.tellUnsupported(p.Operations)
	return res, nil
}

// toldUnsupported bounds the operations without a table that are told one by
// one: a large contract over a small fixture has hundreds.
const toldUnsupported = 5

func (db *DB) tellUnsupported(ops []provider.Operation) {
	n := 0
	for i := range ops {
		g := db.target(&ops[i])
		if g.reason == "" {
			continue
		}
		if n++; n <= toldUnsupported {
			db.opts.Logf("fixture: %s is answered with unsupported_operation: %s", g.name, g.reason)
		}
	}
	if n > toldUnsupported {
		db.opts.Logf("fixture: %d of %d operations have no table and are answered so; inspect the fixture with the contract for all of them", n, len(ops))
	}
}

// Contract derives an AIR document from the tables, as JSON: list, read, create,
// update, replace and delete for every table with a primary key, lists for
// tables without one and for views. Equal schemas give equal bytes.
func (db *DB) Contract() ([]byte, error) {
	d, err := db.contract()
	if err != nil {
		return nil, err
	}
	return d.document.AppendJSON(nil), nil
}

// Invoke implements provider.Provider.
func (db *DB) Invoke(ctx context.Context, req *provider.Request) (*provider.Response, error) {
	tenant, err := db.tenant(ctx, req)
	if err != nil {
		return answer(err)
	}
	defer db.left(tenant)
	return tenant.invoke(ctx, req)
}

func (db *DB) invoke(ctx context.Context, req *provider.Request) (*provider.Response, error) {
	g := db.target(&provider.Operation{OperationID: req.OperationID, Kind: req.Kind, Action: req.Action, Resource: req.Resource,
		Method: req.Method, PathTemplate: req.PathTemplate, Paged: req.Page != nil})
	if g.reason != "" {
		err := refuse(provider.UnsupportedOperation, "the fixture database cannot answer %s: %s", g.name, g.reason)
		return answer(finish(because(err, refusal{by: byMapping}), func() *metaWriter {
			return &metaWriter{canon.AppendString([]byte(`{"operation":`), g.name)}
		}))
	}
	var res *provider.Response
	var err error
	switch {
	case g.custom != nil:
		res, err = db.runCustom(ctx, g, req)
		if err != nil {
			return answer(err)
		}
		return res, nil
	}
	switch g.verb {
	case listRows:
		res, err = db.list(ctx, g, req)
	case getRow:
		res, err = db.read(ctx, g, req)
	default:
		res, err = db.write(ctx, g, req)
	}
	if err != nil {
		return answer(err)
	}
	return res, nil
}

// target finds what an operation does: as the derived contract says where the
// operation is one of its own, else by rule.
func (db *DB) target(op *provider.Operation) *target {
	key := targetKey{id: op.OperationID, method: op.Method, path: op.PathTemplate, action: op.Action, kind: string(op.Kind)}
	if op.Resource != nil {
		key.resource = *op.Resource
	}
	if g, ok := db.targets.Load(key); ok {
		return g.(*target)
	}
	g := db.findTarget(op)
	db.targets.Store(key, g)
	return g
}

func (db *DB) findTarget(op *provider.Operation) *target {
	var g *target
	// A served contract may be named like the derived one and yet differ from it.
	if d, err := db.contract(); err == nil && db.opts.Contract == nil && !db.rules.overrides(op) {
		if own := d.targets[op.OperationID]; own != nil && own.name == op.Method+" "+op.PathTemplate {
			copied := *own
			g = &copied
		}
	}
	if g == nil {
		g = db.schema.mapOperation(op, db.rules, db.known(op))
	}
	if g.custom == nil && (g.table == nil || g.reason != "") {
		return g
	}
	found := false
	if doc := db.opts.Contract; doc != nil {
		for _, o := range doc.Operations {
			if o.ID == op.OperationID {
				g.declare(db.schema, doc, o, db.rules)
				found = true
			}
		}
	}
	if !found && g.rules != nil {
		g.shape = newShape(db.schema, g.table, declared{}, g.rules)
	}
	return g
}

// obj builds an object of alternating keys and values; nil values are left out.
func obj(pairs ...any) *canon.Value {
	var members []canon.Member
	for i := 0; i < len(pairs); i += 2 {
		if v := val(pairs[i+1]); v != nil {
			members = append(members, canon.Member{Key: pairs[i].(string), Value: v})
		}
	}
	return canon.NewObject(members...)
}

// val turns what a contract is built of into a value.
func val(v any) *canon.Value {
	switch v := v.(type) {
	case string:
		return canon.NewString(v)
	case bool:
		return canon.NewBool(v)
	case int:
		return canon.NewInt(int64(v))
	case []string:
		elems := make([]*canon.Value, len(v))
		for i, s := range v {
			elems[i] = canon.NewString(s)
		}
		return canon.NewArray(elems...)
	case []*canon.Value:
		return canon.NewArray(v...)
	case *canon.Value:
		return v
	}
	return nil
}
