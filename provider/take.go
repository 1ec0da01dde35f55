package provider

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A taker takes typed values out of canonical JSON and keeps the first fault.
type taker struct {
	what string // what is being read: "request"
	err  error
}

// shown is how much of a value an error quotes.
const shown = 60

// fail notes that the value at a JSON Pointer is not what is wanted.
func (t *taker) fail(at string, val []byte, want string) {
	if t.err == nil {
		t.err = fmt.Errorf("%s: %s is %s, want %s", t.what, at, clip(val), want)
	}
}

// clip shortens a value for an error.
func clip(val []byte) string {
	if len(val) <= shown {
		return string(val)
	}
	return string(val[:shown]) + "..."
}

func isNull(val []byte) bool { return string(val) == "null" }

func isObject(val []byte) bool { return len(val) > 0 && val[0] == '{' }

func isArray(val []byte) bool { return len(val) > 0 && val[0] == '[' }

func isString(val []byte) bool { return len(val) > 0 && val[0] == '"' }

func isNumber(val []byte) bool {
	return len(val) > 0 && (val[0] == '-' || val[0] >= '0' && val[0] <= '9')
}

func (t *taker) text(at string, val []byte) string {
	if !isString(val) {
		t.fail(at, val, "a string")
		return ""
	}
	return canon.Unquote(val)
}

func (t *taker) optText(at string, val []byte) *string {
	if isNull(val) {
		return nil
	}
	if !isString(val) {
		t.fail(at, val, "a string or null")
		return nil
	}
	s := canon.Unquote(val)
	return &s
}

func (t *taker) object(at string, val []byte) bool {
	if !isObject(val) {
		t.fail(at, val, "an object")
		return false
	}
	return true
}

// integer takes a number whose value is an integer from lo to hi, however it is
// spelled.
func (t *taker) integer(at string, val []byte, lo, hi int64) int64 {
	n, ok := integer(val)
	if !ok || n < lo || n > hi {
		t.fail(at, val, fmt.Sprintf("an integer from %d to %d", lo, hi))
		return 0
	}
	return n
}

// integer is the value of a canonical JSON number that is an integer: 3, 3.0
// and 3e0 are, at any spelling that fits an int64.
func integer(val []byte) (int64, bool) {
	if !isNumber(val) {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(val), 10, 64); err == nil {
		return n, true
	}
	if len(val) > 64 { // a longer spelling is no count, and big exponents cost memory
		return 0, false
	}
	f, err := strconv.ParseFloat(string(val), 64)
	if err != nil || f > 1<<63 || f < -1<<63 {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(string(val))
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}
