package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/provider"
)

// A ticketDesk is a whole provider: five tickets, listed by page and read by id.
type ticketDesk struct{}

type ticket struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

var tickets = []ticket{
	{"T-1", "Ticket 1"}, {"T-2", "Ticket 2"}, {"T-3", "Ticket 3"}, {"T-4", "Ticket 4"}, {"T-5", "Ticket 5"},
}

func (ticketDesk) Invoke(_ context.Context, req *provider.Request) (*provider.Response, error) {
	switch req.Kind {
	case provider.KindList:
		start := 0
		if c := req.Page.Cursor; c != nil {
			var err error
			if start, err = strconv.Atoi(*c); err != nil || start < 0 || start > len(tickets) {
				return provider.Fail(provider.ValidationError, "no page %q", *c), nil
			}
		}
		end, next := min(start+req.Page.Size, len(tickets)), ""
		if end < len(tickets) {
			next = strconv.Itoa(end)
		}
		return provider.PageOf(tickets[start:end], next)
	case provider.KindRead:
		var id string
		json.Unmarshal(req.Params.Path.Get("ticket_id"), &id)
		i := slices.IndexFunc(tickets, func(t ticket) bool { return t.ID == id })
		if i < 0 {
			return provider.Fail(provider.NotFound, "no ticket %s", id), nil
		}
		return provider.Result(tickets[i])
	}
	return provider.Fail(provider.UnsupportedOperation, "no %s here", req.OperationID), nil
}

// A provider process is a main that calls Serve with os.Stdin and os.Stdout. Here
// a text takes the simulator's place.
func ExampleServe() {
	in := strings.NewReader(`
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":2,"method":"invoke","params":{"kind":"list","page":{"cursor":"2","size":2}}}
{"jsonrpc":"2.0","id":3,"method":"invoke","params":{"kind":"read","params":{"path":{"ticket_id":"T-9"}}}}
{"jsonrpc":"2.0","id":4,"method":"shutdown","params":{}}
`)
	// One worker answers in the order of the requests.
	err := provider.Serve(context.Background(), ticketDesk{}, in, os.Stdout, &provider.ServeOptions{Workers: 1})
	fmt.Println(err)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}
	// {"jsonrpc":"2.0","id":2,"result":{"ok":true,"items":[{"id":"T-3","title":"Ticket 3"},{"id":"T-4","title":"Ticket 4"}],"nextCursor":"4"}}
	// {"jsonrpc":"2.0","id":3,"result":{"ok":false,"error":{"code":"not_found","message":"no ticket T-9"}}}
	// {"jsonrpc":"2.0","id":4,"result":null}
	// <nil>
}

func ExampleParseResponse() {
	req := &provider.Request{OperationID: "tickets.list", Page: &provider.Page{Size: 1}}
	r, err := provider.ParseResponse([]byte(`{"ok": true, "items": [{"id": 1.0}, {"id": 2}]}`))
	fmt.Println(string(r.Raw), err)
	fmt.Println(r.CheckFor(req))
	// Output:
	// {"ok":true,"items":[{"id":1.0},{"id":2}]} <nil>
	// returned 2 items for a page of 1; honour page.size and return a nextCursor
}
