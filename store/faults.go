package store

import (
	"fmt"
	"slices"
	"strings"
)

// faults are what is wrong with a body, in its order, told all at once.
type faults struct {
	texts  []string
	fields []string
	cols   []*column // that the fields mean, nil for none
}

func (f *faults) add(field string, col *column, err error) {
	f.texts, f.fields, f.cols = append(f.texts, err.Error()), append(f.fields, field), append(f.cols, col)
}

// cut forgets all but the first n.
func (f *faults) cut(n int) { f.texts, f.fields, f.cols = f.texts[:n], f.fields[:n], f.cols[:n] }

// maxFaults bounds the faults of a body that are told.
const maxFaults = 20

func joinFaults(texts []string) string {
	if n := len(texts) - maxFaults; n > 0 {
		texts = append(texts[:maxFaults:maxFaults], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(texts, "; ")
}

// faulty refuses a body with faults. What then certainly lacks a value, without a look
// at any row, is told with them: a misspelled title, and that the title is missing.
func (w *change) faulty() error {
	if w.faults.texts == nil {
		return nil
	}
	texts := w.faults.texts
	gaps := slices.DeleteFunc(w.gaps(), w.awaits)
	if len(gaps) > 0 {
		texts = append(texts[:len(texts):len(texts)], w.gapText(gaps))
	}
	fields := w.faults.fields
	return because(invalid("%s", joinFaults(texts)), refusal{by: byBody, fields: fields[:min(len(fields), maxFaults)], columns: columnNames(gaps...)})
}

// missing refuses a row that lacks a value, once all is filled in that the store gives.
func (w *change) missing() error {
	gaps := w.gaps()
	if gaps == nil {
		return nil
	}
	return because(invalid("%s", w.gapText(gaps)), refusal{by: byNotNull, columns: columnNames(gaps...)})
}

func (w *change) gapText(gaps []*column) string {
	return nameList(gaps) + " must have a value in " + w.table.name
}

// gaps are the columns that must have a value and get none, in table order: null, or
// left out of a new or replaced row. A replaced row keeps its key.
func (w *change) gaps() (list []*column) {
	for _, c := range w.table.cols {
		v, given := w.value(c)
		out := w.verb == createRow || w.verb == replaceRow && w.resets(c)
		if c.required() && v == nil && (given || out) {
			list = append(list, c)
		}
	}
	return list
}

// awaits tells whether a column may still get a value: from a fault that is mended,
// another name of a parent, the extras, the clock, or an id that continues those there.
func (w *change) awaits(col *column) bool {
	isID := slices.ContainsFunc(w.table.unique, func(set []*column) bool { return slices.Contains(set, col) })
	made, touched := w.times(col)
	isForeign := slices.ContainsFunc(w.table.fks, func(fk foreignKey) bool { return slices.Contains(fk.cols, col) })
	return slices.Contains(w.faults.cols, col) || isID && !isForeign && w.verb == createRow ||
		len(w.extras) > 0 && w.target.extras() == col || made || touched ||
		slices.ContainsFunc(w.lookups, func(l lookup) bool { return l.own == col })
}
