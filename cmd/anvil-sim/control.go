package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/anvil-sim/anvil/store"
)

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
