package store

import (
	"context"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

// A tenant's calls are answered while the state of all is reset, before it or
// after it.
func TestTenantsWhileReset(t *testing.T) {
	db := openSQL(t, "CREATE TABLE jobs (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO jobs VALUES (1, 'a');", nil)
	tenant := "acme"
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for ctx.Err() == nil {
				res, err := db.Invoke(context.Background(), &provider.Request{RequestID: "r1", OperationID: "x", Method: "GET", PathTemplate: "/jobs",
					Kind: provider.KindList, Action: "list", Page: &provider.Page{Size: 5}, TenantID: &tenant})
				if err != nil || !res.OK {
					t.Errorf("got %v, %v", res, err)
					return
				}
			}
		})
	}
	for i := range 60 {
		if err := db.Reset(t.Context(), uint32(i)); err != nil {
			t.Error(err)
		}
	}
	stop()
	all.Wait()
}
