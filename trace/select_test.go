package trace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Many batches come back in order; the calls before a bad line are chosen, and
// the line is an error with its number.
func TestSelectKeepsOrder(t *testing.T) {
	pad := strings.Repeat("x", 900)
	var in strings.Builder
	for i := range 3000 {
		in.WriteString(call(i+1, "GET", fmt.Sprint("/t/", i%7), `{"pad":"`+pad+`"}`))
	}
	bad := strings.Replace(call(3001, "GET", "/", `"x"`), `"transport":`, `"transport"`, 1)
	f, err := (&Selector{Status: []string{"200"}}).Compile()
	if err != nil {
		t.Fatal(err)
	}
	for _, invert := range []bool{false, true} {
		next := int64(1)
		choose := func(ln Line, v *View) error {
			if ln.Seq != next || string(v.Get("seq")) != fmt.Sprint(next) {
				t.Fatalf("call %d (%s), want %d", ln.Seq, v.Get("seq"), next)
			}
			next++
			return nil
		}
		side, err := Select(t.Context(), text("run", in.String()), "all", f, invert, choose)
		if want := map[bool]int64{false: 3001, true: 1}[invert]; err != nil || side.Calls != 3000 || next != want {
			t.Errorf("invert %v: %v, %+v, next %d", invert, err, side, next)
		}
		next = 1
		_, err = Select(t.Context(), text("run", in.String()+bad+in.String()), "all", f, invert, choose)
		var input *InputError
		if !errors.As(err, &input) || input.Line != 3001 {
			t.Errorf("invert %v: %v, want an error in line 3001", invert, err)
		}
		if want := map[bool]int64{false: 3001, true: 1}[invert]; next != want {
			t.Errorf("invert %v: next %d before the bad line", invert, next)
		}
	}
	stop := errors.New("stop")
	if _, err := Select(t.Context(), text("run", in.String()), "all", f, false, func(Line, *View) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v, want what do returned", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err = Select(ctx, text("run", in.String()), "all", f, false, func(Line, *View) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
