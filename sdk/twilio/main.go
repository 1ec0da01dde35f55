// Command twilio drives twilio/twilio-go, unmodified, against the simulator:
// paging to the end, fetch, create and update with form bodies, delete, an error.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/twilio/twilio-go"
	"github.com/twilio/twilio-go/client"
	verify "github.com/twilio/twilio-go/rest/verify/v2"
)

func main() {
	if err := run(os.Getenv("ANVIL_BASE_URL")); err != nil {
		fmt.Fprintln(os.Stderr, "twilio:", err)
		os.Exit(1)
	}
	fmt.Println("twilio-go: list with paging, fetch, create, update, delete and error agree")
}

// toSimulator sends what the library would send to its vendor to the simulator.
type toSimulator struct{ base *url.URL }

// RoundTrip implements http.RoundTripper.
func (t toSimulator) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = t.base.Scheme, t.base.Host
	return http.DefaultTransport.RoundTrip(r)
}

func run(base string) error {
	to, err := url.Parse(base)
	if err != nil {
		return err
	}
	c := &client.Client{
		Credentials: client.NewCredentials("AC00000000000000000000000000000000", "token"),
		HTTPClient:  &http.Client{Transport: toSimulator{to}},
	}
	c.SetAccountSid("AC00000000000000000000000000000000")
	api := twilio.NewRestClientWithParams(twilio.ClientParams{Client: c}).VerifyV2

	params := (&verify.ListServiceParams{}).SetPageSize(3)
	services, err := api.ListService(params)
	if err != nil || len(services) != 7 {
		return fmt.Errorf("list: %d services, want 7; %w", len(services), err)
	}
	seen := map[string]bool{}
	for _, s := range services {
		seen[*s.Sid] = true
	}
	if len(seen) != 7 {
		return fmt.Errorf("list: %d different services, want 7", len(seen))
	}
	got, err := api.FetchService("VA00000000000000000000000000000003")
	if err != nil || *got.FriendlyName != "Service 3" || got.CodeLength != 7 {
		return fmt.Errorf("fetch: %+v, %w", got, err)
	}
	changed, err := api.UpdateService(*got.Sid, (&verify.UpdateServiceParams{}).SetFriendlyName("Renamed & more").SetCodeLength(9))
	if err != nil || *changed.FriendlyName != "Renamed & more" || changed.CodeLength != 9 {
		return fmt.Errorf("update: %+v, %w", changed, err)
	}
	made, err := api.CreateService((&verify.CreateServiceParams{}).SetFriendlyName("Größe 8").SetCodeLength(8))
	if err != nil || made.Sid == nil || seen[*made.Sid] || made.CodeLength != 8 {
		return fmt.Errorf("create: %+v, %w", made, err)
	}
	if got, err = api.FetchService(*made.Sid); err != nil || *got.FriendlyName != "Größe 8" {
		return fmt.Errorf("fetch of what was created: %+v, %w", got, err)
	}
	if err := api.DeleteService(*made.Sid); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if services, err = api.ListService(params); err != nil || len(services) != 7 {
		return fmt.Errorf("list after create and delete: %d services, want 7; %w", len(services), err)
	}
	// The library takes the status from the vendor's error body, which a fixture
	// database does not know; that it fails is what can be asked.
	_, err = api.FetchService("VA00000000000000000000000000000404")
	var failure *client.TwilioRestError
	if !errors.As(err, &failure) {
		return fmt.Errorf("fetch of a missing service: %w, want a TwilioRestError", err)
	}
	return nil
}
