package store

import (
	"database/sql/driver"
	"math"
	"strings"

	"github.com/anvil-sim/anvil/store/internal/native"
)

// A cell is one value of a row that is read to be shown.
type cell = native.Cell

// cellOf is a value of the driver as a cell.
func cellOf(v driver.Value) cell {
	switch v := v.(type) {
	case int64:
		return cell{Kind: native.Integer, Num: v}
	case float64:
		return cell{Kind: native.Real, Num: int64(math.Float64bits(v))}
	case string:
		return cell{Kind: native.Text, Text: v}
	case []byte:
		return cell{Kind: native.Blob, Text: string(v)}
	case bool:
		return cell{Kind: native.Integer, Num: bit(v)}
	}
	return cell{Kind: native.Null}
}

// valueOf is a cell as a value of the driver, to keep.
func valueOf(c cell) driver.Value {
	switch c.Kind {
	case native.Integer:
		return c.Num
	case native.Real:
		return c.Real()
	case native.Text:
		return strings.Clone(c.Text)
	case native.Blob:
		return []byte(c.Text)
	}
	return nil
}

// appendCells appends a row of the driver as cells.
func appendCells(dst []cell, vals []driver.Value) []cell {
	for _, v := range vals {
		dst = append(dst, cellOf(v))
	}
	return dst
}
