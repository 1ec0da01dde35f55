package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/anvil-sim/anvil/store/fixture"
)

// Forms of times that are no Go layouts.
const (
	formEpoch      = "epoch"    // whole seconds
	formEpochMilli = "epoch-ms" // whole milliseconds
	formEpochText  = "epoch.us" // 1503435956.000247, as text
)

// timeForms are the spellings of times that are told apart, as Go layouts. A
// text is of a form when it is spelled back the same.
var timeForms = []string{
	"2006-01-02", "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000000Z",
	"2006-01-02T15:04:05-07:00", "2006-01-02T15:04:05.000-07:00", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05.000-0700",
	"2006-01-02T15:04:05", "2006-01-02T15:04:05.000", "2006-01-02 15:04:05", "2006-01-02 15:04:05.000", "2006-01-02 15:04",
	"2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05Z", time.RFC3339Nano,
}

// formOf finds the form of a stored time, "" when it is none.
func formOf(v driver.Value) string {
	switch v := v.(type) {
	case int64:
		switch {
		case v >= 1e8 && v < 1e11:
			return formEpoch
		case v >= 1e11 && v < 1e14:
			return formEpochMilli
		}
	case string:
		if len(v) < 10 || len(v) > 40 || v[0] < '0' || v[0] > '9' {
			return ""
		}
		for _, form := range timeForms {
			if t, err := time.Parse(form, v); err == nil && t.Format(form) == v {
				return form
			}
		}
		if whole, frac, ok := strings.Cut(v, "."); ok && len(whole) == 10 && len(frac) == 6 {
			if _, err := strconv.ParseFloat(v, 64); err == nil {
				return formEpochText
			}
		}
	}
	return ""
}

// readTime reads a stored time or one that a client sent.
func readTime(v driver.Value) (time.Time, bool) {
	switch form := formOf(v); form {
	case "":
		return time.Time{}, false
	case formEpoch:
		return time.Unix(v.(int64), 0).UTC(), true
	case formEpochMilli:
		return time.UnixMilli(v.(int64)).UTC(), true
	case formEpochText:
		whole, frac, _ := strings.Cut(v.(string), ".")
		sec, _ := strconv.ParseInt(whole, 10, 64)
		us, _ := strconv.ParseInt(frac, 10, 64)
		return time.Unix(sec, us*1000).UTC(), true
	default:
		t, err := time.Parse(form, v.(string))
		return t, err == nil
	}
}

// timeText is the layout in which a stored time is served: RFC 3339 with the
// fraction and the offset that it has.
func timeText(s string) string {
	_, rest, frac := strings.Cut(s, ".")
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	layout := "2006-01-02T15:04:05"
	if frac && digits > 0 {
		layout += "." + strings.Repeat("0", min(digits, 9))
	}
	return layout + "Z07:00"
}

// spell writes a time in a form.
func spell(t time.Time, form string) driver.Value {
	switch form {
	case formEpoch:
		return t.Unix()
	case formEpochMilli:
		return t.UnixMilli()
	case formEpochText:
		return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
	}
	return t.UTC().Format(form)
}

// clientTime reads a time of a request: any of the forms, or a number of seconds
// or milliseconds.
func clientTime(v driver.Value) (time.Time, bool) {
	if s, ok := v.(string); ok {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			v = n
		} else if len(s) > 10 && strings.Contains(s[10:], " ") && strings.Contains(s, "T") {
			v = strings.Replace(s, " ", "+", 1) // a plus that a query made a space
		}
	}
	if f, ok := v.(float64); ok && f >= 1e8 && f < 1e11 {
		sec, frac := math.Modf(f)
		return time.Unix(int64(sec), int64(math.Round(frac*1e6))*1000).UTC(), true
	}
	return readTime(v)
}

// timeNames are the normal names of columns that hold times, besides those that
// end in a way which says so.
var timeNames = map[string]bool{"created": true, "updated": true, "modified": true, "date": true, "time": true, "timestamp": true,
	"ts": true, "due": true, "start": true, "end": true, "closed": true, "resolved": true, "deleted": true}

// mayBeTime tells whether a column's name or declared type speaks of a time.
func (c *column) mayBeTime() bool {
	decl := strings.ToLower(c.decl)
	if strings.Contains(decl, "date") || strings.Contains(decl, "time") || timeNames[c.norm] {
		return true
	}
	for _, end := range []string{"_at", "At", "_on", "On", "_date", "Date", "_time", "Time", "_ts", "DateTime"} {
		if strings.HasSuffix(c.name, end) {
			return true
		}
	}
	return false
}

// timeSample bounds the rows that are looked at for the form of a column's times.
const timeSample = 200

// readTimes finds the columns that hold times and their form, from the first
// rows.
func (t *table) readTimes(ctx context.Context, c *conn) error {
	for _, col := range t.cols {
		if !col.mayBeTime() || col.class == classBoolean || col.class == classBlob || col.class == classJSON {
			continue
		}
		name := fixture.Quote(col.name)
		sql := "SELECT +v FROM (SELECT t." + name + " AS v FROM " + fixture.Quote(t.name) + " AS t LIMIT ?) WHERE v IS NOT NULL LIMIT 1"
		seen := false
		err := c.query(ctx, sql, []driver.Value{int64(timeSample)}, 1, func(v []driver.Value) error {
			seen, col.form = true, formOf(v[0])
			return nil
		})
		if err != nil {
			return err
		}
		if !seen {
			col.form = col.usualForm()
		}
	}
	return nil
}

// usualForm is the form of times in a column that has none yet, "" where its
// name alone does not say enough.
func (c *column) usualForm() string {
	switch decl := strings.ToLower(c.decl); {
	case decl == "date":
		return "2006-01-02"
	case strings.Contains(decl, "timestamp") || strings.Contains(decl, "datetime"):
		return "2006-01-02T15:04:05Z"
	case timeNames[c.norm] && c.norm != "ts":
		return ""
	case c.class == classInteger:
		return formEpoch
	case c.class == classString:
		return "2006-01-02T15:04:05Z"
	}
	return ""
}
