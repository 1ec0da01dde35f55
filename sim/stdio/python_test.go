package stdio

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

// The specification's minimal provider works as it is printed.
func TestMinimalPythonProvider(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("this machine has no python3, which the specification's example needs")
	}
	p := ready(t, Options{Command: "python3 testdata/minimal.py"})
	var ids []string
	list := request(1)
	list.Kind, list.Page = provider.KindList, &provider.Page{Size: 2}
	for {
		r, err := p.Invoke(context.Background(), list)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range r.Items {
			ids = append(ids, string(item))
		}
		if r.NextCursor == nil {
			break
		}
		list = request(len(ids))
		list.Kind, list.Page = provider.KindList, &provider.Page{Size: 2, Cursor: r.NextCursor}
	}
	want := `{"id":"T-1","title":"Ticket 1"} {"id":"T-2","title":"Ticket 2"} {"id":"T-3","title":"Ticket 3"} ` +
		`{"id":"T-4","title":"Ticket 4"} {"id":"T-5","title":"Ticket 5"}`
	if got := strings.Join(ids, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	get := request(9)
	get.Params.Path = provider.Object{{Name: "ticket_id", Value: []byte(`"T-9"`)}}
	r, err := p.Invoke(context.Background(), get)
	if err != nil || r.OK || r.Error.Code != provider.NotFound {
		t.Errorf("got %+v, %v, want not_found", r, err)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the provider exited with %d", code)
	}
}
