package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/sim/surface"
)

// withAdmin puts the control endpoints in front of the handler.
func (o *serveOptions) withAdmin(st *state, handler *surface.Handler) (http.Handler, error) {
	token := o.adminToken
	if token == "" {
		token = o.streams.Getenv("ANVIL_ADMIN_TOKEN")
	}
	if ip := net.ParseIP(o.host); token == "" && o.host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, cli.WithHint(errors.New("--admin on "+o.host+" would let anybody on the network reset the server"),
			"give --admin-token or $ANVIL_ADMIN_TOKEN, or bind a loopback address")
	}
	admin := &surface.Admin{Token: token, Reset: st.reset, Health: st.health}
	if calls := o.calls; calls != nil {
		var resetAt atomic.Int64 // in the trace file
		resetAt.Store(calls.start)
		admin.Reset = func(ctx context.Context) error {
			o.report(calls.file.Check())
			err := st.reset(ctx)
			if err == nil {
				resetAt.Store(sizeOf(calls.path))
			}
			return err
		}
		admin.Trace = func(w io.Writer, all bool) error {
			if all {
				return copyFrom(w, calls.path, calls.start)
			}
			return copyFrom(w, calls.path, resetAt.Load())
		}
	}
	if st.snapshotter != nil {
		admin.State = st.snapshot
	}
	return admin.Wrap(handler), nil
}

// copyFrom writes a file from an offset on.
func copyFrom(w io.Writer, path string, offset int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

// sizeOf is the size of a file, 0 when there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// reset puts the provider and then the simulator back to their first state. The
// trace goes on, with seq 1.
func (st *state) reset(ctx context.Context) error {
	if st.stateful {
		if st.resetter == nil {
			return errors.New("the provider cannot reset: it did not announce the method")
		}
		if err := st.resetter.Reset(ctx, st.seed); err != nil {
			return err
		}
	}
	st.sim.Reset(st.seed)
	return nil
}

// health is what GET /__anvil/health says.
func (st *state) health() any {
	doc := st.sim.Document()
	return struct {
		Status         string `json:"status"`
		ServiceID      string `json:"serviceId"`
		ContractDigest string `json:"contractDigest"`
		Operations     int    `json:"operations"`
		Calls          int    `json:"calls"`
	}{"ok", doc.Service.ID, doc.ContractDigest(), len(st.sim.Operations()), st.sim.Calls()}
}
