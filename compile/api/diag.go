package api

import "fmt"

// Levels of a diagnostic.
const (
	Error   = "error"
	Warning = "warning"
	Info    = "info"
)

// A Diagnostic tells of one decision that a reviewer should know of.
type Diagnostic struct {
	Level     string // error, warning or info
	Code      string // stable: group/name
	Message   string
	Operation string // the id of the operation, "" for the whole description
	Path      string // file#pointer or file:line in the description, "" when it has no place
}

// Diagnostics collects them. The zero value is ready.
type Diagnostics struct {
	List []Diagnostic
	seen map[Diagnostic]bool
}

// Add keeps a diagnostic; the same one is kept once.
func (d *Diagnostics) Add(diag Diagnostic) {
	if d.seen == nil {
		d.seen = map[Diagnostic]bool{}
	}
	if !d.seen[diag] {
		d.seen[diag] = true
		d.List = append(d.List, diag)
	}
}

// Addf keeps a diagnostic with a place in the description.
func (d *Diagnostics) Addf(level, code, path, format string, args ...any) {
	d.Add(Diagnostic{Level: level, Code: code, Path: path, Message: fmt.Sprintf(format, args...)})
}
