package trace

import (
	"context"
	"errors"
	"io"
)

// Each reads a part of a trace, chosen as [OpenRun] does, and calls do with each
// entry until do returns an error or the context ends. The view is do's until
// it returns. Lines that do looked at and found to be no JSON are an error.
func Each(ctx context.Context, in Input, which string, do func(Line, *View) error) (side Side, err error) {
	r, side, err := OpenRun(ctx, in, which)
	if err != nil {
		return side, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var v View
	for n := 0; ; n++ {
		if n&0x3FF == 0 && ctx.Err() != nil {
			return side, ctx.Err()
		}
		ln, err := r.Read()
		if err == io.EOF {
			return side, nil
		}
		if err != nil {
			return side, err
		}
		v.Reset(ln.Text)
		if err := do(ln, &v); err != nil {
			return side, err
		}
		if v.Bad() {
			if err := ln.Check(); err != nil {
				return side, err
			}
		}
	}
}
