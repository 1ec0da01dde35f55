package trace

import "context"

// A Check judges a run, call by call. Those of package assert are made from
// rules.
type Check interface {
	// Call sees each call once, in the order of the trace. The view is valid
	// until it returns; an error ends the pass and is no verdict.
	Call(Line, *View) error
	// End comes after the last call.
	End() error
}

// Assert reads a part of a trace once, chosen as [OpenRun] does, and shows each
// call to all checks. The checks hold the verdicts; the error says why there is
// none.
func Assert(ctx context.Context, in Input, which string, checks ...Check) (Side, error) {
	side, err := Each(ctx, in, which, func(ln Line, v *View) error {
		for _, c := range checks {
			if err := c.Call(ln, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return side, err
	}
	for _, c := range checks {
		if err := c.End(); err != nil {
			return side, err
		}
	}
	return side, nil
}
