package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// A load ends with its context, though the server answers nothing any more.
func TestLoadEndsWithItsContext(t *testing.T) {
	const conns = 3
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > conns { // each connection was answered before the load began
			cancel()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	if r, err := load(ctx, server.URL+"/", nil, conns, time.Hour, ""); !errors.Is(err, context.Canceled) || r.Requests > 0 {
		t.Errorf("%+v, %v; want no answer and the end of the context", r, err)
	}
}
