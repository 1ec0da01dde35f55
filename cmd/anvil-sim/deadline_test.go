package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/provider"
)

// A provider as a function.
type asked func(ctx context.Context) (*provider.Response, error)

func (f asked) Invoke(ctx context.Context, _ *provider.Request) (*provider.Response, error) {
	return f(ctx)
}

func TestDeadline(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	var derived context.Context
	ok := &provider.Response{OK: true}
	cases := map[string]struct {
		timeout time.Duration
		ask     asked
		code    provider.Code // of the transport error, "" for none
	}{
		"never waits": {time.Hour, func(context.Context) (*provider.Response, error) { return ok, nil }, ""},
		"waits too long": {time.Millisecond, func(ctx context.Context) (*provider.Response, error) {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("there is no deadline")
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}, provider.UpstreamTimeout},
		"derives": {time.Hour, func(ctx context.Context) (*provider.Response, error) {
			var stop context.CancelFunc
			derived, stop = context.WithCancel(ctx)
			_ = stop // what is derived ends with the call
			return ok, derived.Err()
		}, ""},
	}
	for name, c := range cases {
		res, err := (&deadline{c.ask, c.timeout}).Invoke(parent, &provider.Request{OperationID: "x.y"})
		var failed *provider.TransportError
		switch {
		case c.code == "" && (err != nil || res != ok):
			t.Errorf("%s: %v, %v", name, res, err)
		case c.code != "" && (!errors.As(err, &failed) || failed.Code != c.code || failed.Message != "State provider did not answer x.y within 1 ms."):
			t.Errorf("%s: %v", name, err)
		}
	}
	<-derived.Done()
	cancel()
	late := &lateContext{Context: parent, timeout: time.Hour}
	if late.Err() != context.Canceled {
		t.Errorf("an ended parent: %v", late.Err())
	}
	<-late.Done()
	late.stop()
}
