package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/crowd"
)

// servePprof answers net/http/pprof on an address of its own until stop is
// called. A profile tells of memory that holds requests, so only the loopback
// interface is taken.
func (o *serveOptions) servePprof() (stop func(), err error) {
	if o.pprof == "" {
		return func() {}, nil
	}
	host, _, err := net.SplitHostPort(o.pprof)
	if err != nil {
		return nil, cli.WithHint(fmt.Errorf("--pprof: found %q, want HOST:PORT", o.pprof), "--pprof 127.0.0.1:0 picks a free port")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, cli.WithHint(fmt.Errorf("--pprof: %q is not on the loopback interface, and profiles hold what is in memory", o.pprof),
			"use 127.0.0.1, [::1] or localhost")
	}
	listener, err := net.Listen("tcp", o.pprof)
	if err != nil {
		return nil, fmt.Errorf("--pprof: cannot listen on %s: %w", o.pprof, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: connLog(o.streams), ConnState: crowd.NoteState}
	bounded := crowd.Listen(listener, &crowd.Options{Most: 16, Say: func(text string) { o.say("--pprof: %s", text) }})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(bounded) // ends with Close
	}()
	o.say("profiles at http://%s/debug/pprof/", listener.Addr())
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
