// Command github drives google/go-github, unmodified, against the simulator:
// paging to the end, get, create, update, an error.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/google/go-github/v74/github"
)

func main() {
	if err := run(context.Background(), os.Getenv("ANVIL_BASE_URL")); err != nil {
		fmt.Fprintln(os.Stderr, "github:", err)
		os.Exit(1)
	}
	fmt.Println("go-github: list with paging, get, create, update and error agree")
}

func run(ctx context.Context, base string) error {
	client, err := github.NewClient(nil).WithAuthToken("admin").WithEnterpriseURLs(base, base)
	if err != nil {
		return err
	}
	// An enterprise server is served below /api/v3/; the simulator is not.
	client.BaseURL.Path = "/"
	seen := map[int]bool{}
	opts := &github.IssueListByRepoOptions{State: "open", ListOptions: github.ListOptions{PerPage: 3}}
	pages := 0
	for {
		issues, resp, err := client.Issues.ListByRepo(ctx, "octo", "anvil", opts)
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		pages++
		for _, i := range issues {
			if seen[i.GetNumber()] || i.GetState() != "open" {
				return fmt.Errorf("issue %d comes twice or is %s", i.GetNumber(), i.GetState())
			}
			seen[i.GetNumber()] = true
		}
		if resp.NextPage == 0 {
			break
		}
		opts.ListOptions.Page = resp.NextPage
	}
	if len(seen) != 12 || pages != 4 {
		return fmt.Errorf("%d issues on %d pages, want 12 on 4", len(seen), pages)
	}
	got, _, err := client.Issues.Get(ctx, "octo", "anvil", 7)
	if err != nil || got.GetTitle() != "Issue 7" {
		return fmt.Errorf("get: %q, %w", got.GetTitle(), err)
	}
	made, _, err := client.Issues.Create(ctx, "octo", "anvil", &github.IssueRequest{Title: github.Ptr("New")})
	if err != nil || made.GetNumber() != 15 {
		return fmt.Errorf("create: %d, %w", made.GetNumber(), err)
	}
	closed, _, err := client.Issues.Edit(ctx, "octo", "anvil", 15, &github.IssueRequest{State: github.Ptr("closed")})
	if err != nil || closed.GetState() != "closed" || closed.GetTitle() != "New" {
		return fmt.Errorf("update: %v, %w", closed, err)
	}
	_, _, err = client.Issues.Get(ctx, "octo", "anvil", 999)
	var failure *github.ErrorResponse
	if !errors.As(err, &failure) || failure.Response.StatusCode != http.StatusNotFound {
		return fmt.Errorf("get of a missing issue: %w, want a 404", err)
	}
	return nil
}
