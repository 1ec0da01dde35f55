package trace

import "context"

// Select reads a part of a trace, chosen as [OpenRun] does, and calls do with the
// calls that the filter chooses, or with the others under invert, in their order.
// Line and view are do's until it returns. Lines are judged by one goroutine a
// processor, unless the filter has a Where. Lines that the filter looked at and
// found to be no JSON are an error, as is Where's, with its line.
func Select(ctx context.Context, in Input, which string, f *Filter, invert bool, do func(Line, *View) error) (Side, error) {
	if f.where != nil {
		return Each(ctx, in, which, func(ln Line, v *View) error {
			f.names.note(v)
			ok, err := f.Match(v)
			if err != nil {
				return ln.Fault(err)
			}
			if ok == invert {
				return nil
			}
			return do(ln, v)
		})
	}
	chosen := func(v *View) bool {
		f.names.note(v)
		ok, _ := f.Match(v) // the error is Where's
		return ok != invert
	}
	return inBlocks(ctx, in, which,
		func() func(Line, *View, *struct{}) bool {
			return func(_ Line, v *View, _ *struct{}) bool { return chosen(v) }
		},
		func(ln Line, v *View, looked *struct{}) error {
			if looked == nil {
				ok := chosen(v)
				if err := v.judge(ln); err != nil || !ok {
					return err
				}
			}
			return do(ln, v)
		})
}
