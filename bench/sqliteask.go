package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store"
)

// An asker makes the calls of a storeRun. It keeps its first error.
type asker struct {
	ctx  context.Context
	db   *store.DB
	bare *sql.DB
	doc  *air.Document
	err  error
}

const ticketColumns = "id, number, subject, status, priority, score, created_at, body"

// pairs are the calls with the statements that they amount to.
func (q *asker) pairs(n int) []pairing {
	const all = "SELECT " + ticketColumns + " FROM tickets WHERE id > ? ORDER BY id LIMIT 51"
	const open = "SELECT " + ticketColumns + " FROM tickets WHERE status = 'open' AND id > ? ORDER BY id LIMIT 51"
	last := n - 50
	return []pairing{
		{"get by key", "statement", q.rows("SELECT "+ticketColumns+" FROM tickets WHERE id = ?", func(i int) any { return 1 + i*7919%n }),
			q.get(func(i int) string { return fmt.Sprint(1 + i*7919%n) })},
		{"page of 50, first", "statement", q.rows(all, func(int) any { return 0 }), q.page("", 0)},
		{"page of 50, middle", "statement", q.rows(all, func(int) any { return n / 2 }), q.page("", n/2)},
		{"page of 50, last", "statement", q.rows(all, func(int) any { return last }), q.page("", last)},
		{"filtered page of 50, first", "statement", q.rows(open, func(int) any { return 0 }), q.page("open", 0)},
		{"filtered page of 50, last", "statement", q.rows(open, func(int) any { return n - 4*50 }), q.page("open", n-4*50)},
		{"page of 50, last beside first", "first page", q.page("", 0), q.page("", last)},
		{"create", "statement", q.insert(), q.create()},
	}
}

// rows runs a prepared statement and reads every row, as a program would. It
// listens to no context, which would cost it a goroutine.
func (q *asker) rows(query string, arg func(i int) any) func(int) error {
	st, err := q.bare.PrepareContext(q.ctx, query)
	q.err = errors.Join(q.err, err)
	return func(i int) error {
		rows, err := st.QueryContext(context.Background(), arg(i))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			var priority sql.NullInt64
			var score sql.NullFloat64
			var number, subject, status, created string
			var body sql.NullString
			if err := rows.Scan(&id, &number, &subject, &status, &priority, &score, &created, &body); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

func (q *asker) insert() func(int) error {
	st, err := q.bare.PrepareContext(q.ctx, "INSERT INTO tickets (number, subject, status, created_at) VALUES (?, 'A subject', 'open', '2026-01-01')")
	q.err = errors.Join(q.err, err)
	n := 0
	return func(int) error {
		n++
		_, err := st.ExecContext(context.Background(), fmt.Sprintf("X-%d", n))
		return err
	}
}

func (q *asker) create() func(int) error {
	req := q.request("tickets.create", "", "", 0)
	n := 0
	return func(int) error {
		n++
		req.Body = fmt.Appendf(nil, `{"number":"X-%d","subject":"A subject","status":"open","created_at":"2026-01-01"}`, n)
		return q.ask(req)
	}
}

func (q *asker) get(key func(i int) string) func(int) error {
	req := q.request("tickets.get", "1", "", 0)
	return func(i int) error {
		req.Params.Path[0].Value = json.RawMessage(key(i))
		return q.ask(req)
	}
}

// page asks for the page after an id; the cursor comes from the page before.
func (q *asker) page(status string, after int) func(int) error {
	req := q.request("tickets.list", "", "", 50)
	if status != "" {
		req.Params.Query = provider.Object{{Name: "status", Value: json.RawMessage(`["` + status + `"]`)}}
	}
	if after > 0 {
		before := *req
		before.Page = &provider.Page{Size: 1}
		before.Params.Query = append(provider.Object{{Name: "id[gte]", Value: fmt.Append(nil, after)}}, req.Params.Query...)
		res, err := q.db.Invoke(q.ctx, &before)
		switch {
		case err != nil:
			q.err = errors.Join(q.err, err)
			return nil
		case !res.OK || res.NextCursor == nil:
			q.err = errors.Join(q.err, fmt.Errorf("no page after %d: %+v", after, res))
			return nil
		}
		req.Page.Cursor = res.NextCursor
	}
	return func(int) error { return q.ask(req) }
}

// request builds a request for an operation of the derived contract.
func (q *asker) request(id, key, body string, size int) *provider.Request {
	req := &provider.Request{RequestID: "r1"}
	if q.doc == nil && q.err == nil {
		text, err := q.db.Contract()
		if err == nil {
			q.doc, err = air.Parse("tickets.db", text)
		}
		q.err = errors.Join(q.err, err)
	}
	if q.err != nil {
		return req
	}
	for _, o := range q.doc.Operations {
		if o.ID == "tickets."+id {
			req.OperationID, req.Kind, req.Action, req.Method, req.PathTemplate = o.ID, provider.Kind(o.Kind()), o.Action, o.Method, o.Path
		}
	}
	if req.OperationID == "" {
		q.err = fmt.Errorf("the derived contract has no operation tickets.%s", id)
		return req
	}
	if key != "" {
		req.Params.Path = provider.Object{{Name: "id", Value: json.RawMessage(key)}}
	}
	if body != "" {
		req.Body = json.RawMessage(body)
	}
	if size > 0 {
		req.Page = &provider.Page{Size: size}
	}
	return req
}

// ask makes a call that must succeed.
func (q *asker) ask(req *provider.Request) error {
	res, err := q.db.Invoke(q.ctx, req)
	if err == nil && !res.OK {
		err = fmt.Errorf("%s: %s: %v", req.OperationID, res.Error.Code, *res.Error.Message)
	}
	return err
}
