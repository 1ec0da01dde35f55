package store

import (
	"database/sql/driver"
	"strconv"
	"strings"
	"time"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/pattern"
)

// Times of a query are those of Jira's documentation of JQL ("Advanced search reference:
// fields", Created, and "functions"): a date, a span from now such as -7d or "4w 2d", or a
// function. Now is the virtual time of the call, in UTC, and a week begins on Sunday.

// A span is a length of calendar time.
type span struct {
	months, days int
	rest         time.Duration
}

// spanText is a span: years, Months, weeks, days, hours, minutes. The unit may be missing
// where a default is known.
var spanText = pattern.Of(`^[+-]?[0-9]{1,6}[yMwdhm]?(?: +[0-9]{1,6}[yMwdhm])*$`)

// parseSpan reads a span; unit stands in where the first number has none, 0 for no default.
func parseSpan(text string, unit byte) (s span, ok bool) {
	if !spanText().MatchString(text) {
		return s, false
	}
	sign := 1
	if text[0] == '-' {
		sign = -1
	}
	for _, part := range strings.Fields(strings.TrimLeft(text, "+-")) {
		u := unit
		if last := part[len(part)-1]; last > '9' {
			part, u = part[:len(part)-1], last
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return s, false
		}
		switch n *= sign; u {
		case 'y':
			s.months += 12 * n
		case 'M':
			s.months += n
		case 'w':
			s.days += 7 * n
		case 'd':
			s.days += n
		case 'h':
			s.rest += time.Duration(n) * time.Hour
		case 'm':
			s.rest += time.Duration(n) * time.Minute
		default:
			return s, false
		}
	}
	return s, true
}

// from is the time a span after t. A month later is the same day, or the month's last.
func (s span) from(t time.Time) time.Time {
	if s.months != 0 {
		year, month, day := t.Date()
		first := time.Date(year, month+time.Month(s.months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		t = first.AddDate(0, 0, min(day, first.AddDate(0, 1, -1).Day())-1)
	}
	return t.AddDate(0, 0, s.days).Add(s.rest)
}

// periods are the spans that begin and end at a place in the calendar.
var periods = map[string]struct {
	unit byte
	one  span
}{
	"day": {'d', span{days: 1}}, "week": {'w', span{days: 7}}, "month": {'M', span{months: 1}}, "year": {'y', span{months: 12}},
}

// startOf is the beginning of the period that t is in.
func startOf(t time.Time, unit byte) time.Time {
	year, month, day := t.UTC().Date()
	switch unit {
	case 'w':
		day -= int(t.UTC().Weekday())
	case 'M':
		day = 1
	case 'y':
		month, day = time.January, 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// jqlFunctions are the functions that can be answered, as Jira spells them.
var jqlFunctions = []string{"now", "currentUser", "startOfDay", "startOfWeek", "startOfMonth", "startOfYear", "endOfDay", "endOfWeek", "endOfMonth", "endOfYear"}

// call answers a function for a column, as JSON; no user gives no value at all.
func (p *jqlParser) call(col *column, v jqlValue) ([]byte, error) {
	name := ""
	for _, known := range jqlFunctions {
		if strings.EqualFold(known, v.text) {
			name = known
		}
	}
	switch {
	case name == "" && nearest(v.text, jqlFunctions) != "":
		return nil, p.failAt(v, "which is no function; did you mean %s()?", nearest(v.text, jqlFunctions))
	case name == "":
		return nil, p.failAt(v, "which is no function that the rows can answer; want %s()", strings.Join(jqlFunctions, "(), "))
	case len(v.args) > 1 || len(v.args) == 1 && (name == "now" || name == "currentUser"):
		return nil, p.failAt(v.args[len(v.args)-1], "too many arguments of %s()", name)
	case name == "currentUser" && p.r.req.Principal == nil:
		return []byte("[]"), nil
	case name == "currentUser":
		return quoteText(p.r.req.Principal.ID), nil
	case col.form == "" && !col.mayBeTime():
		return nil, p.failAt(v, "but %q of %s holds no times", col.name, col.table.name)
	case name == "now":
		return p.timeText(v, p.r.db.now(p.r.req))
	}
	return p.edge(v, name)
}

// edge answers startOfDay() and its like: the edge of the period that many further on. A
// length in another unit is added to the edge.
func (p *jqlParser) edge(v jqlValue, name string) ([]byte, error) {
	word, end := strings.CutPrefix(name, "endOf")
	if !end {
		word = strings.TrimPrefix(name, "startOf")
	}
	period := periods[strings.ToLower(word)]
	var more span
	if len(v.args) == 1 {
		var ok bool
		if more, ok = parseSpan(v.args[0].text, period.unit); !ok {
			return nil, p.failAt(v.args[0], "want a length such as -1, \"+2\" or 15d, in y M w d h m")
		}
	}
	at := span{months: more.months}.from(startOf(p.r.db.now(p.r.req), period.unit))
	if end {
		at = period.one.from(at).Add(-time.Millisecond)
	}
	more.months = 0
	return p.timeText(v, more.from(at))
}

// time reads a value that is compared with a column of times.
func (p *jqlParser) time(v jqlValue) ([]byte, error) {
	if whole := canon.IsNumber(v.text); v.quoted && (!whole || len(v.text) < 9) || !whole {
		if s, ok := parseSpan(v.text, 'm'); ok {
			return p.timeText(v, s.from(p.r.db.now(p.r.req)))
		}
	}
	var val driver.Value = v.text
	if !v.quoted && canon.IsNumber(v.text) {
		val, _ = parseNumber(v.text)
	} else if len(v.text) >= 10 {
		val = strings.ReplaceAll(v.text[:10], "/", "-") + v.text[10:]
	}
	at, ok := clientTime(val)
	if !ok {
		return nil, p.failAt(v, "want a time such as 2026-01-31, \"2026-01-31 09:00\", -7d, \"4w 2d\" or startOfDay()")
	}
	return p.timeText(v, at)
}

// timeText spells a time for the comparison, which spells it as the column does.
func (p *jqlParser) timeText(v jqlValue, at time.Time) ([]byte, error) {
	if at.Year() < 0 || at.Year() > 9999 {
		return nil, p.failAt(v, "which is a time beyond the years 0 to 9999")
	}
	return quoteText(at.UTC().Format("2006-01-02T15:04:05.000Z")), nil
}
