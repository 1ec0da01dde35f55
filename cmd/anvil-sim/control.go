package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/anvil-sim/anvil/store"
)

// controlPath is where a server with a fixture database in process is told to
// go back to the fixture, and asked for its state. It is no part of the served
// API: such calls are neither numbered nor traced.
const controlPath = "/__anvil/"

// control answers POST /__anvil/reset and GET /__anvil/state; every other call
// goes to the API.
func control(api http.Handler, db *store.DB) http.Handler {
	if db == nil {
		return api
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+controlPath+"reset", func(w http.ResponseWriter, r *http.Request) {
		if err := db.Reset(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET "+controlPath+"state", func(w http.ResponseWriter, r *http.Request) {
		if err := writeState(w, r, db); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" && (r.URL.Path == controlPath+"reset" || r.URL.Path == controlPath+"state") {
			mux.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// writeState answers with the present state as a SQLite file.
func writeState(w http.ResponseWriter, r *http.Request, db *store.DB) error {
	dir, err := os.MkdirTemp("", "anvil-state-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "state.db")
	if err := db.SaveState(r.Context(), path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		w.Header().Set("Content-Length", fmt.Sprint(info.Size()))
	}
	w.Header().Set("Content-Type", "application/vnd.sqlite3")
	_, _ = io.Copy(w, f) // a client that goes away is no fault of the state
	return nil
}
