package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/anvil-sim/anvil/store"
	"github.com/anvil-sim/anvil/trace"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"anvil-sim": main, "fetch": fetch, "stall": stall, "deaf": deaf, "makedb": makeDB})
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
			return errors.Join(os.WriteFile(e.WorkDir+"/chinook.db", fixture, 0o600), os.CopyFS(e.WorkDir+"/demo", os.DirFS("demo")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"tracediff": traceDiff},
	})
}

// traceDiff is `tracediff BASELINE OTHER IGNORE...`: what anvil-trace diff does with
// --rename cursors and these --ignore, without that program, which would have to be
// built first.
func traceDiff(ts *testscript.TestScript, _ bool, args []string) {
	report, err := trace.Diff(context.Background(), trace.Input{Name: ts.MkAbs(args[0])}, trace.Input{Name: ts.MkAbs(args[1])},
		&trace.DiffOptions{Ignore: args[2:], Rename: []string{"cursors"}})
	ts.Check(err)
	if report.Same == 0 || !report.Equal() {
		var text strings.Builder
		ts.Check(report.WriteText(&text, false))
		ts.Fatalf("the traces differ, or have no calls:\n%s", text.String())
	}
}

// makeDB is `makedb SQL-FILE FILE`: unlike an import it takes any SQL.
func makeDB() {
	ctx := context.Background()
	sql, err := os.ReadFile(os.Args[1])
	if err == nil {
		var db *store.DB
		if db, err = store.OpenSQL(ctx, string(sql), &store.Options{SaveState: os.Args[2]}); err == nil {
			err = db.Close(ctx)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "makedb:", err)
		os.Exit(3)
	}
}

// fetch is `fetch METHOD PATH [BODY [HEADER: VALUE]...]`: it prints the status
// and the body that ANVIL_BASE_URL answers with. Several calls are separated by
// a comma of their own. "Save-As: FILE" among the headers puts a good answer's
// body into the file.
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
	client, err := fetchClient(os.Getenv("ANVIL_CA_CERT"))
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if file := req.Header.Get("Save-As"); file != "" && resp.StatusCode == http.StatusOK {
		err = errors.Join(err, os.WriteFile(file, text, 0o600))
		text = nil
	}
	fmt.Printf("%d %s\n", resp.StatusCode, text)
	if os.Getenv("FETCH_PROTO") != "" {
		fmt.Println(resp.Proto)
	}
	return err
}

// fetchClient trusts one more authority.
func fetchClient(caFile string) (*http.Client, error) {
	if caFile == "" {
		return http.DefaultClient, nil
	}
	text, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", caFile)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}, nil
}
