package compile

import (
	"fmt"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
)

// Faults are the errors among a contract's diagnostics, a line each: what of its
// description is not in it as it was meant.
func Faults(d *air.Document) (list []string) {
	for _, diag := range d.Tree().Get("diagnostics").Elems() {
		if diag.Get("level").Text() != api.Error {
			continue
		}
		where := diag.Get("operationId").Text()
		if where == "" {
			where = diag.Get("path").Text()
		}
		list = append(list, fmt.Sprintf("error %s %s: %s", diag.Get("code").Text(), where, diag.Get("message").Text()))
	}
	return list
}

// WhyNothing says why a contract that was compiled with that approval serves
// nothing.
func WhyNothing(d *air.Document, approve string) string {
	rows := Inspect(d)
	if len(rows) == 0 {
		return noOperations(func(yield func(code, message string)) {
			for _, diag := range d.Tree().Get("diagnostics").Elems() {
				yield(diag.Get("code").Text(), diag.Get("message").Text())
			}
		})
	}
	reads, approved := 0, 0
	for _, r := range rows {
		if r.Effect == "read" {
			reads++
		}
		if r.State == "approved" {
			approved++
		}
	}
	switch {
	case approve == "reads" && reads == 0:
		return fmt.Sprintf("none of the %d operations only reads; --approve all serves them too", len(rows))
	case approved > 0:
		return fmt.Sprintf("the exposure profile leaves all of the %d approved operations out", approved)
	}
	return fmt.Sprintf("%s %s is not served (%s), and so is none of the %d operations", rows[0].Method, rows[0].Path, rows[0].Why, len(rows))
}

// WhyNone says why a description has no operations.
func (r *Result) WhyNone() string {
	return noOperations(func(yield func(code, message string)) {
		for _, diag := range r.Diagnostics {
			yield(diag.Code, diag.Message)
		}
	})
}

func noOperations(each func(yield func(code, message string))) string {
	why := "none of its operations can be read"
	each(func(code, message string) {
		if code == "source/no_operations" {
			why = message
		}
	})
	return why
}
