package trace

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestSelectors(t *testing.T) {
	run := call(1, "GET", "/1", `{"a":1}`) + call(2, "POST", "/1", `{"a":2}`) +
		strings.Replace(strings.Replace(call(3, "GET", "/2", `null`), `"status":200`, `"status":409`, 1), `"result":{"ok":true,"output":null}`, `"result":{"ok":false,"error":{"code":"conflict"}}`, 1) +
		strings.Replace(call(12, "GET", "/2", `null`), `"headers":{}`, `"headers":{"x-anvil-principal":"bob","x-anvil-tenant":"acme"}`, 1)
	tests := []struct {
		sel  Selector
		want string // seqs
	}{
		{Selector{}, "1 2 3 12"},
		{Selector{Tool: []string{"t_get"}}, "1 3 12"},
		{Selector{Tool: []string{"t_p*"}}, "2"},
		{Selector{Tool: []string{"*_*t"}}, "1 2 3 12"},
		{Selector{Operation: []string{"t_post", "nothing"}}, "2"},
		{Selector{Status: []string{"4xx"}}, "3"},
		{Selector{Status: []string{"409", "200"}, Tool: []string{"t_post"}}, "2"},
		{Selector{Code: []string{"conflict"}}, "3"},
		{Selector{Code: []string{"none"}}, "1 2 12"},
		{Selector{Kind: []string{"read"}}, "1 2 3 12"},
		{Selector{Kind: []string{"list"}}, ""},
		{Selector{Principal: []string{"bob"}}, "12"},
		{Selector{Tenant: []string{"acme"}}, "12"},
		{Selector{Seq: []string{"2-3", "12"}}, "2 3 12"},
		{Selector{Seq: []string{"3-"}}, "3 12"},
		{Selector{Where: func(v *View) (bool, error) { return string(v.Pointer("/response/a")) == "2", nil }}, "2"},
	}
	for _, tt := range tests {
		f, err := tt.sel.Compile()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		_, err = Each(context.Background(), text("run", run), "all", func(ln Line, v *View) error {
			ok, err := f.Match(v)
			if ok {
				got = append(got, string(v.Get("seq")))
			}
			return err
		})
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: got %v (%v), want %s", tt.sel, got, err, tt.want)
		}
	}
	for _, sel := range []Selector{{Status: []string{"44"}}, {Status: []string{"6xx"}}, {Seq: []string{"9-3"}}, {Seq: []string{"x"}}, {Kind: []string{"write"}}} {
		var opt *OptionError
		if _, err := sel.Compile(); !errors.As(err, &opt) {
			t.Errorf("%+v: %v", sel, err)
		}
	}
}

func TestViewIsReused(t *testing.T) {
	var v View
	for _, tt := range []struct{ line, want string }{
		{`{"tool":"a"}`, "a"}, {`{"tool":"a"}`, "a"}, {`{"tool":"\\u0061"}`, `\u0061`}, {`{"tool":"\u0061"}`, "a"}, {`{"tool":1}`, ""}, {`{"tool":121}`, ""},
		{`{"tool":null}`, ""}, {`{}`, ""}, {`{"tool":""}`, ""}, {`{"tool":"b"}`, "b"},
	} {
		v.Reset([]byte(tt.line))
		if got := v.Tool(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

// FuzzView: what a view finds in place is what the parser finds.
func FuzzView(f *testing.F) {
	f.Add(`{"a":{"b":[1,{"c":null}]},"tool":"x"}`, "/a/b/1/c")
	f.Add(`{"a~/b":{"":2}}`, "/a~0~1b/")
	f.Add(`{"request":{"method":"GET","headers":{"x-anvil-principal":"p"}}}`, "/request/method")
	f.Fuzz(func(t *testing.T, line, pointer string) {
		var v View
		v.Reset([]byte(line))
		if pointer != "" && pointer[0] == '/' {
			_ = v.Pointer(pointer)
		}
		_ = v.Describe()
		_, _ = v.Principal(), v.Tenant()
		_ = v.Write()
		first := string(v.Get("seq"))
		if again := string(v.Get("seq")); again != first {
			t.Errorf("%q, then %q", first, again)
		}
	})
}
