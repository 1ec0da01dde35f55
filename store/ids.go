package store

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anvil-sim/anvil/internal/pattern"
	"github.com/anvil-sim/anvil/store/fixture"
)

// How new rows get ids. The last rows of the table show the pattern:
//
//	41, 42               the next whole number
//	T-41, ENG-0007       the same letters and the next number, zeros kept
//	UUID, ULID           of the same version and case, from the seed; the time in
//	                     them is the virtual clock's
//	1503435956.000247    a time: now, or a second after the last one
//	cus_9s6XK, C024BE91L the same beginning, then as many letters and digits
//
// An empty table begins with 1, or with a UUID where the id is text.

// idSample is how many of the last rows are looked at.
const idSample = 20

// A moment is what a call takes its times and chances from.
type moment struct {
	now  time.Time
	rand *rand.Rand
}

// momentOf is the moment of a call: equal seeds and positions give equal ones.
func momentOf(base time.Time, seed uint32, call int64) moment {
	return moment{base.Add(time.Duration(call) * time.Second).UTC(), rand.New(rand.NewPCG(uint64(seed)^0x616e76696c, uint64(call)))}
}

// giveIDs fills the columns that name a row and were not given: the key, and
// columns of a unique set whose other columns are known, as a number within a
// project is.
func (w *change) giveIDs(ctx context.Context, c *conn) error {
	for _, set := range w.table.unique {
		var gap *column
		var known []filter
		gaps := 0
		for _, col := range set {
			switch v, given := w.value(col); {
			case given && v != nil:
				known = append(known, filter{col: col, vals: []driver.Value{v}})
			default:
				gap = col
				gaps++
			}
		}
		if gaps != 1 || gap.auto || gap.generated || gap.dflt != "" {
			continue
		}
		if _, given := w.value(gap); given || slices.ContainsFunc(w.table.fks, func(fk foreignKey) bool { return slices.Contains(fk.cols, gap) }) {
			continue
		}
		v, err := w.nextID(ctx, c, gap, known)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		w.cols, w.vals = append(w.cols, gap), append(w.vals, v)
		w.generated = append(w.generated, gap.name)
	}
	return nil
}

// nextID continues the pattern of a column, within the rows that share known
// values; nil where there is none to continue. Rows of one parent may have a
// pattern of their own, as the issues of a project have.
func (w *change) nextID(ctx context.Context, c *conn, col *column, known []filter) (driver.Value, error) {
	isKey := slices.Contains(w.table.key, col)
	var all []driver.Value
	for i, within := range w.circles(known) {
		sample, err := w.sample(ctx, c, col, within)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = sample
		}
		if v, err := w.continued(ctx, c, col, known, sample); v != nil || err != nil {
			return v, err
		}
	}
	switch {
	case len(all) == 0 && (isKey || col.required() || len(known) > 0) && col.class != classString && col.class != classBlob:
		return int64(1), nil
	case isKey && col.class == classString && !hasText(all) && col.soundsLikeID():
		return w.at.uuid(4), nil
	case isKey:
		return w.at.token(all), nil
	}
	return nil, nil // an address or a name, which nobody can guess
}

// look runs a statement of one column that an id takes, with [where.count] in it, and
// counts its rows among those that the change looked at.
func (w *change) look(ctx context.Context, c *conn, sql string, args []driver.Value, row func([]driver.Value) error) error {
	err := c.query(ctx, sql, args, 1, row)
	w.how.rows += c.raw.Visited()
	return err
}

func hasText(vals []driver.Value) bool {
	return slices.ContainsFunc(vals, func(v driver.Value) bool { s, ok := v.(string); return ok && s != "" })
}

// circles are the rows whose pattern is looked at, in turn: all that share the
// known values, then those of each parent.
func (w *change) circles(known []filter) [][]filter {
	out := [][]filter{known}
	for _, fk := range w.table.fks {
		if len(fk.cols) != 1 || slices.ContainsFunc(known, func(f filter) bool { return f.col == fk.cols[0] }) {
			continue
		}
		if v, ok := w.value(fk.cols[0]); ok && v != nil {
			out = append(out, append(slices.Clone(known), filter{col: fk.cols[0], vals: []driver.Value{v}}))
		}
	}
	return out
}

// soundsLikeID tells whether a key's name or type is that of an id made by a
// program, and no code or name that a person chose.
func (c *column) soundsLikeID() bool {
	return strings.HasSuffix(c.norm, "id") || strings.EqualFold(c.decl, "uuid")
}

// sample reads the column in the last rows. A NULL among them shows that the
// column need not have a value.
func (w *change) sample(ctx context.Context, c *conn, col *column, within []filter) (vals []driver.Value, err error) {
	var where where
	where.count(c)
	where.add(within...)
	order := w.table.rowid
	if order == "" {
		order = fixture.Quote(w.table.key[len(w.table.key)-1].name)
	}
	sql := "SELECT +t." + fixture.Quote(col.name) + " FROM " + fixture.Quote(w.table.name) + " AS t" + where.sql + " ORDER BY t." + order + " DESC LIMIT ?"
	null := false
	err = w.look(ctx, c, sql, append(where.args, int64(idSample)), func(v []driver.Value) error {
		null = null || v[0] == nil
		vals = append(vals, v[0])
		return nil
	})
	if null && !slices.Contains(w.table.key, col) {
		return nil, err
	}
	return vals, err
}

func (w *change) continued(ctx context.Context, c *conn, col *column, known []filter, sample []driver.Value) (driver.Value, error) {
	texts := make([]string, 0, len(sample))
	for _, v := range sample {
		switch v := v.(type) {
		case int64:
			return w.highest(ctx, c, col, known, "", 0)
		case string:
			texts = append(texts, v)
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	if m := uuidText().FindStringSubmatch(texts[0]); m != nil && allMatch(uuidText(), texts) {
		id := w.at.uuid(m[1][0])
		if strings.ToUpper(texts[0]) == texts[0] && strings.ToLower(texts[0]) != texts[0] {
			id = strings.ToUpper(id)
		}
		return id, nil
	}
	if allMatch(ulidText(), texts) {
		return w.at.ulid(), nil
	}
	if formOf(texts[0]) == formEpochText {
		return w.laterThan(ctx, c, col)
	}
	if m := numbered().FindStringSubmatch(texts[0]); m != nil && sharePrefix(m[1], texts) {
		width := 0
		if strings.HasPrefix(m[2], "0") {
			width = len(m[2])
		}
		return w.highest(ctx, c, col, known, m[1], width)
	}
	return nil, nil
}

// laterThan is an id that is a time: now, or a second after the last one.
func (w *change) laterThan(ctx context.Context, c *conn, col *column) (driver.Value, error) {
	at := w.at.now
	var where where
	where.count(c)
	sql := "SELECT max(t." + fixture.Quote(col.name) + ") FROM " + fixture.Quote(w.table.name) + " AS t" + where.sql
	err := w.look(ctx, c, sql, nil, func(v []driver.Value) error {
		if last, ok := readTime(v[0]); ok && !at.After(last) {
			at = last.Add(time.Second)
		}
		return nil
	})
	return spell(at, formEpochText), err
}

var (
	uuidText = pattern.Of(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-([0-9A-Fa-f])[0-9A-Fa-f]{3}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`)
	ulidText = pattern.Of(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	numbered = pattern.Of(`^(.*?)([0-9]{1,15})$`)
)

func allMatch(re *regexp.Regexp, texts []string) bool {
	for _, s := range texts {
		if !re.MatchString(s) {
			return false
		}
	}
	return true
}

// sharePrefix tells whether every text is the prefix and a number.
func sharePrefix(prefix string, texts []string) bool {
	for _, s := range texts {
		rest, ok := strings.CutPrefix(s, prefix)
		if _, err := strconv.ParseUint(rest, 10, 63); !ok || err != nil {
			return false
		}
	}
	return true
}

// highest is the id after the highest one of the pattern.
func (w *change) highest(ctx context.Context, c *conn, col *column, known []filter, prefix string, width int) (driver.Value, error) {
	name := "t." + fixture.Quote(col.name)
	number := name
	var where where
	where.add(known...)
	isText := prefix != "" || width > 0 || col.affinity == affText
	if isText {
		number = "CAST(substr(" + name + ",?) AS INTEGER)"
		where.args = append([]driver.Value{int64(len([]rune(prefix)) + 1)}, where.args...)
		where.and("substr("+name+",1,?) = ?", int64(len([]rune(prefix))), prefix)
		where.and("typeof(" + name + ") = 'text'")
		// What follows is digits alone: T-41 does not continue T-4x.
		where.and("substr("+name+",?) NOT GLOB '*[^0-9]*'", int64(len([]rune(prefix))+1))
	}
	key := keyOfNumber(col, prefix, width, known)
	top, found, err := int64(0), false, error(nil)
	if isText {
		top, found, err = w.numbers.find(ctx, c, key, known)
		if w.how.rows += c.raw.Visited(); err != nil {
			return nil, err
		}
	}
	if !found {
		top, err = w.scanHighest(ctx, c, number, where)
	}
	if err != nil || top == math.MaxInt64 {
		return nil, err
	}
	if !isText {
		return top + 1, nil
	}
	id := fmt.Sprintf("%s%0*d", prefix, width, top+1)
	w.claims = append(w.claims, claim{key, givenID{top + 1, id}})
	return id, nil
}

// scanHighest is the largest number that an expression gives, 0 without rows.
func (w *change) scanHighest(ctx context.Context, c *conn, number string, where where) (top int64, err error) {
	where.count(c)
	sql := "SELECT max(" + number + ") FROM " + fixture.Quote(w.table.name) + " AS t" + where.sql
	err = w.look(ctx, c, sql, where.args, func(v []driver.Value) error {
		switch v := v[0].(type) {
		case int64:
			top = v
		case float64:
			if top = math.MaxInt64; v < 1<<63 {
				top = int64(v)
			}
		}
		return nil
	})
	return top, err
}

// uuid makes a UUID of a version: 7 has the time in it, any other is chance.
func (m moment) uuid(version byte) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], m.rand.Uint64())
	binary.BigEndian.PutUint64(b[8:], m.rand.Uint64())
	if version >= '0' {
		version -= '0'
	}
	if version == 7 {
		var ms [8]byte
		binary.BigEndian.PutUint64(ms[:], uint64(m.now.UnixMilli()))
		copy(b[:6], ms[2:])
	} else if version == 0 || version > 8 {
		version = 4
	}
	b[6] = b[6]&0x0F | version<<4
	b[8] = b[8]&0x3F | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ulid makes a ULID: 48 bits of time, 80 of chance, in Crockford's base 32.
func (m moment) ulid() string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var out [26]byte
	ms := uint64(m.now.UnixMilli())
	for i := 9; i >= 0; i-- {
		out[i] = digits[ms&31]
		ms >>= 5
	}
	for i := 10; i < len(out); i++ {
		out[i] = digits[m.rand.IntN(len(digits))]
	}
	return string(out[:])
}

func sameLength(texts []string) bool {
	for _, s := range texts {
		if len(s) != len(texts[0]) {
			return false
		}
	}
	return true
}

// token makes a text like the others: their common beginning, then as many
// characters of the kinds that theirs are of. Nil where they are of different
// lengths or have no digits: words, and no ids.
func (m moment) token(vals []driver.Value) driver.Value {
	var texts []string
	for _, v := range vals {
		if s, ok := v.(string); ok {
			texts = append(texts, s)
		}
	}
	if len(texts) < 2 {
		return nil
	}
	head := texts[0]
	for _, s := range texts[1:] {
		for !strings.HasPrefix(s, head) {
			head = head[:len(head)-1]
		}
	}
	if i := strings.LastIndexAny(head, "_-:."); i >= 0 {
		head = head[:i+1]
	} else {
		head = head[:min(len(head), 1)]
	}
	alphabet := ""
	for _, kind := range []string{"0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"} {
		for _, s := range texts {
			if strings.ContainsAny(s[min(len(head), len(s)):], kind) {
				alphabet += kind
				break
			}
		}
	}
	n := len(texts[0]) - len(head)
	if !strings.ContainsAny(alphabet, "0") || n < 4 || !sameLength(texts) {
		return nil
	}
	out := []byte(head)
	for range n {
		out = append(out, alphabet[m.rand.IntN(len(alphabet))])
	}
	return string(out)
}
