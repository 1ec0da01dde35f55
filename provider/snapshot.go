package provider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// AppendJSON appends the parameters as they stand in a request.
func (p *SnapshotParams) AppendJSON(dst []byte) []byte {
	dst = canon.AppendString(append(dst, `{"path":`...), p.Path)
	if p.Call != nil {
		dst = strconv.AppendInt(append(dst, `,"call":`...), *p.Call, 10)
	}
	if p.TenantID != nil {
		dst = canon.AppendString(append(dst, `,"tenantId":`...), *p.TenantID)
	}
	return append(dst, '}')
}

// DecodeSnapshotParams reads the parameters of a `snapshot` request. Unknown keys
// are passed over; a null is as good as absent.
func DecodeSnapshotParams(raw []byte) (*SnapshotParams, error) {
	p := &SnapshotParams{}
	val, _ := canon.Lookup(raw, "path")
	if !isString(val) || canon.Unquote(val) == "" {
		return nil, errors.New("snapshot: path is " + clip(val) + ", want the path of the file to write")
	}
	p.Path = canon.Unquote(val)
	if val, ok := canon.Lookup(raw, "call"); ok && string(val) != "null" {
		n, err := strconv.ParseInt(string(val), 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("snapshot: call is %s, want a number from 0 to %d", clip(val), int64(math.MaxInt64))
		}
		p.Call = &n
	}
	if val, ok := canon.Lookup(raw, "tenantId"); ok && string(val) != "null" {
		if !isString(val) {
			return nil, errors.New("snapshot: tenantId is " + clip(val) + ", want a string")
		}
		tenant := canon.Unquote(val)
		p.TenantID = &tenant
	}
	return p, nil
}

// snapshot has a Snapshotter write its state, beside the calls that run.
func (s *server) snapshot(ctx context.Context, m *Message) {
	p, ok := s.provider.(Snapshotter)
	if !ok {
		s.out.fail(m.ID, CodeMethodNotFound, "this provider cannot write its state")
		return
	}
	params, err := DecodeSnapshotParams(m.Params)
	if err != nil {
		s.out.fail(m.ID, CodeInvalidParams, err.Error())
		return
	}
	if !s.begin() {
		return
	}
	go func() {
		defer s.calls.Done()
		if err := s.guard(func() error { return p.Snapshot(ctx, params) }); err != nil {
			s.out.failWith(m.ID, err)
			return
		}
		s.out.send(AppendResult(nil, m.ID, []byte("null")))
	}()
}

// announce adds the methods that a provider answers beyond version 1.
func (s *server) announce(result *InitializeResult) *InitializeResult {
	own := *result
	own.Methods = slices.Clone(result.Methods)
	add := func(method string, answers bool) {
		if answers && !slices.Contains(own.Methods, method) {
			own.Methods = append(own.Methods, method)
		}
	}
	_, resets := s.provider.(Resetter)
	add(MethodReset, resets)
	_, snapshots := s.provider.(Snapshotter)
	add(MethodSnapshot, snapshots)
	return &own
}
