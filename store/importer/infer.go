package importer

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/pattern"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// A column is what the rows say about one column.
type column struct {
	name  string
	seen  int // rows with a value
	ints  int
	reals int
	// exact counts numbers that neither an integer nor a real holds exactly
	exact     int
	bools     int
	dates     int
	times     int
	texts     int // all of text kind, dates too
	nested    int
	blobs     int
	decl      string          // the type that was chosen or asked for
	distinct  map[uint64]bool // of a column that may be the key, else nil
	duplicate bool
}

// A guess collects what the rows of a table say.
type guess struct {
	columns []*column
	byName  map[string]int // lower-case
	rows    int
}

func newGuess(names []string) *guess {
	g := &guess{byName: map[string]int{}}
	for _, n := range names {
		g.at(n)
	}
	return g
}

// at finds or adds the column of a name.
func (g *guess) at(name string) *column {
	low := strings.ToLower(name)
	i, ok := g.byName[low]
	if !ok {
		i = len(g.columns)
		g.byName[low] = i
		g.columns = append(g.columns, &column{name: name})
	}
	return g.columns[i]
}

// see takes a row.
func (g *guess) see(r *row, candidates func(column string, position int) bool) {
	for i, c := range r.cells {
		var col *column
		if r.names != nil {
			col = g.at(r.names[i])
		} else {
			col = g.columns[i]
		}
		if g.rows == 0 && candidates(col.name, i) {
			col.distinct = map[uint64]bool{}
		}
		col.see(c)
	}
	g.rows++
}

func (c *column) see(v cell) {
	if v.kind == null {
		return
	}
	c.seen++
	c.unique(v)
	switch v.kind {
	case boolean:
		c.bools++
	case nested:
		c.nested++
	case blobbed:
		c.blobs++
	case number:
		c.number(v.text)
	case raw:
		c.texts++
	case text:
		c.text(v.text)
	case plain, quoted:
		switch low := strings.ToLower(v.text); {
		case canon.IsNumber(v.text):
			c.number(v.text)
		case low == "true" || low == "false":
			c.bools++
		default:
			c.text(v.text)
		}
	}
}

func (c *column) number(s string) {
	switch {
	case isInteger(s):
		c.ints++
	case heldByReal(s):
		c.reals++
	default:
		c.exact++
	}
}

var (
	datePattern = pattern.Of(`^\d{4}-\d\d-\d\d$`)
	timePattern = pattern.Of(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$`)
)

func (c *column) text(s string) {
	c.texts++
	if len(s) < 10 || s[4] != '-' {
		return
	}
	switch {
	case len(s) == 10 && datePattern().MatchString(s):
		c.dates++
	case timePattern().MatchString(s):
		c.times++
	}
}

// unique watches whether all values of a candidate for the key differ. Hashes
// are compared: a collision, one in billions, only costs the key.
func (c *column) unique(v cell) {
	if c.distinct == nil || c.duplicate {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(v.text))
	if c.distinct[h.Sum64()] {
		c.duplicate, c.distinct = true, nil
		return
	}
	c.distinct[h.Sum64()] = true
}

// isInteger tells whether a JSON number is a whole one that SQLite holds, spelled
// plainly.
func isInteger(s string) bool {
	if strings.ContainsAny(s, ".eE") || s == "-0" {
		return false
	}
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

// heldByReal tells whether a double holds a decimal number as it is meant: its
// shortest spelling is the same number.
func heldByReal(s string) bool {
	const always = 15 // decimal digits that a double always keeps
	if len(s) <= always && !strings.ContainsAny(s, "eE") {
		return true
	}
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && canon.NumberKey(strconv.FormatFloat(f, 'g', -1, 64)) == canon.NumberKey(s)
}

// choose picks the declared type of a column from what was seen in it.
func (c *column) choose(src source) string {
	n := c.seen
	numbers := c.ints + c.reals
	switch {
	case n == 0:
		return "TEXT"
	case c.bools == n:
		return "BOOLEAN"
	case c.ints == n:
		return "INTEGER"
	case numbers == n:
		return "REAL"
	case c.dates == n:
		return "DATE"
	case c.dates+c.times == n:
		return "DATETIME"
	case c.texts == n || src == untyped || c.exact > 0:
		return "TEXT"
	case c.blobs == n:
		return "BLOB"
	case c.nested > 0 || c.bools > 0:
		return "JSON"
	}
	return "ANY" // texts and numbers side by side, each kept as it is
}

// keyNames are the names that a key usually has, best first, for a table whose
// singular is noun.
func keyNames(noun string) []string {
	return []string{"id", noun + "id", "gid", "uuid", "guid", "key", "uid", "code", "sid"}
}

// candidate tells whether a column may be the table's key by name or place.
func candidate(tableName string) func(column string, position int) bool {
	noun := naming.Plain(tableName)
	names := append(keyNames(naming.Singular(noun)), noun+"id")
	return func(column string, position int) bool {
		if position == 0 {
			return true
		}
		plain := naming.Plain(column)
		for _, n := range names {
			if n == plain {
				return true
			}
		}
		return false
	}
}

// key picks the primary key: the column with the best name whose values are
// there in every row and all differ; else the first column if it is like that
// and its values look like names or dates and not like measures. "" for none.
func (g *guess) key(tableName string) string {
	noun := naming.Plain(tableName)
	fits := func(c *column) bool {
		return g.rows > 0 && c.seen == g.rows && c.distinct != nil && !c.duplicate && len(c.distinct) == g.rows
	}
	for _, n := range append(keyNames(naming.Singular(noun)), noun+"id") {
		for _, c := range g.columns {
			if naming.Plain(c.name) == n && fits(c) && keyType(c.decl) {
				return c.name
			}
		}
	}
	if len(g.columns) > 0 && g.rows > 1 {
		if c := g.columns[0]; fits(c) && keyType(c.decl) && c.decl != "INTEGER" {
			return c.name
		}
	}
	return ""
}

func keyType(decl string) bool {
	switch decl {
	case "INTEGER", "TEXT", "DATE", "DATETIME":
		return true
	}
	return false
}
