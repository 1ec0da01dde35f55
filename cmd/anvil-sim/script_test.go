package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"anvil-sim": main, "fetch": fetch, "stall": stall})
}

// TestScripts runs each script in testdata/script in a fresh folder. Beside
// anvil-sim they have fetch, a client of the server that runs them.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			fixture, err := os.ReadFile("../../store/testdata/chinook.sqlite")
			if err != nil {
				return err
			}
			return os.WriteFile(e.WorkDir+"/chinook.db", fixture, 0o600)
		},
	})
}

// fetch is `fetch METHOD PATH [BODY [HEADER: VALUE]...]`: it prints the status
// and the body that ANVIL_BASE_URL answers with. Several calls are separated by
// a comma of their own.
func fetch() {
	var call []string
	calls := [][]string{}
	for _, a := range append(os.Args[1:], ",") {
		if a != "," {
			call = append(call, a)
			continue
		}
		calls, call = append(calls, call), nil
	}
	for _, c := range calls {
		if err := fetchOne(c); err != nil {
			fmt.Fprintln(os.Stderr, "fetch:", err)
			os.Exit(3)
		}
	}
}

func fetchOne(call []string) error {
	body := ""
	if len(call) > 2 {
		body = call[2]
	}
	req, err := http.NewRequest(call[0], os.Getenv("ANVIL_BASE_URL")+call[1], strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range call[min(3, len(call)):] {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Printf("%d %s\n", resp.StatusCode, text)
	return err
}
