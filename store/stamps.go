package store

import (
	"database/sql/driver"
	"slices"
)

// Columns that say when a row was made and last changed, by their normal names.
var (
	createdNames = []string{"createdat", "created", "createdon", "createddate", "createdtime", "createddatetime", "creationdate",
		"creationtime", "datecreated", "insertedat", "createtime"}
	updatedNames = []string{"updatedat", "updated", "updatedon", "updateddate", "updatedtime", "modifiedat", "modified", "modifiedon",
		"modifieddate", "modifiedtime", "lastmodified", "lastmodifiedat", "lastmodifieddatetime", "lastupdated", "lastupdate",
		"dateupdated", "datemodified", "updatetime"}
)

// stamp writes the virtual time to the columns that say when a row was made and
// changed, unless the body gave them a value or the table has its own default.
func (w *change) stamp() {
	for _, col := range w.table.cols {
		made, touched := w.times(col)
		if !made && !touched {
			continue
		}
		if v, given := w.value(col); given && (v != nil || w.verb != createRow) {
			continue
		}
		switch {
		case w.verb == createRow && col.dflt == "", touched && w.verb != createRow:
			w.put(col, spell(w.at.now, col.form))
		case made && w.verb == replaceRow:
			w.kept = append(w.kept, col) // when a row was made is not the client's to reset
		}
	}
}

// times tells whether a column says when a row was made, or when it was changed.
func (w *change) times(col *column) (made, touched bool) {
	if col.form == "" || col.generated || slices.Contains(w.table.key, col) {
		return false, false
	}
	return slices.Contains(createdNames, col.norm), slices.Contains(updatedNames, col.norm)
}

// put writes a column whatever was written to it before.
func (w *change) put(col *column, v driver.Value) {
	for i, c := range w.cols {
		if c == col {
			w.vals[i] = v
			return
		}
	}
	w.cols, w.vals = append(w.cols, col), append(w.vals, v)
}
