package main

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
)

// callBytes is about how long a generated call is, its line break included.
const callBytes = 1000

// A variant says how a generated trace differs from the plain one.
type variant struct {
	changeEvery int  // every so many calls the answer differs in one value; 0 never
	timed       bool // the provider's timing differs in every call
	swapped     bool // the keys of every object stand the other way round
	dropEvery   int  // every so many calls one is left out; 0 none
	addEvery    int  // every so many calls one more is made; 0 none
	renumber    bool // calls are numbered as they stand, as a server does
}

// writeTrace writes a trace of a number of calls, which depends on nothing else.
func writeTrace(file string, calls int, v variant) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	seq, more := 0, 0
	put := func(content, number int) {
		if seq++; !v.renumber {
			seq = number
		}
		c := newCall(content)
		line = c.appendTo(line[:0], seq, v)
		_, _ = w.Write(line) // Flush tells
	}
	for i := 1; i <= calls; i++ {
		if v.dropEvery == 0 || i%v.dropEvery != v.dropEvery/2 {
			put(i, i)
		}
		if v.addEvery > 0 && i%v.addEvery == 0 {
			more++
			put(calls+more, calls+more)
		}
	}
	return w.Flush()
}

// A call is what one line of a generated trace says.
type call struct {
	content  int
	id       int
	found    bool
	list     bool
	status   string
	priority int
	title    []byte
}

// words make titles; some need an escape, some two bytes a letter.
var words = []string{"printer", "on", "the", "third", "floor", "jams", "when", "it", "prints", "Größe", `\"A4\"`, "again", "since", "monday", `line\nbreak`, "please"}

func newCall(content int) call {
	r := rand.New(rand.NewPCG(uint64(content), 1))
	c := call{content: content, id: r.IntN(100_000), found: r.IntN(10) > 0, list: r.IntN(3) > 0,
		status: []string{"open", "closed", "pending"}[r.IntN(3)], priority: 1 + r.IntN(5)}
	c.list = c.list && c.found
	for i := range 5 + r.IntN(8) {
		if i > 0 {
			c.title = append(c.title, ' ')
		}
		c.title = append(c.title, words[r.IntN(len(words))]...)
	}
	return c
}

func (c *call) appendTo(b []byte, seq int, v variant) []byte {
	b = append(b, `{"schema":"anvil.simulator.trace/v1","seq":`...)
	b = strconv.AppendInt(b, int64(seq), 10)
	b = append(b, `,"requestId":"r`...)
	b = strconv.AppendInt(b, int64(seq), 10)
	b = append(b, `","transport":"http",`...)
	if c.list {
		b = append(b, `"tool":"helpdesk_list_tickets","operationId":"helpdesk.tickets.list","request":{"method":"GET","path":"/v1/tickets","query":{"after":"`...)
		b = strconv.AppendInt(b, int64(c.id), 10)
		b = append(b, `","status":"`+c.status+`"},"headers":{"x-anvil-principal":"admin"},"body":null},"normalized":{"kind":"list","action":"list","resource":"ticket","params":{"path":{},"query":{"status":"`+c.status+`"},"header":{},"cookie":{}},"body":null,"page":{"cursor":null,"size":2},`...)
	} else {
		b = append(b, `"tool":"helpdesk_get_ticket","operationId":"helpdesk.tickets.get","request":{"method":"GET","path":"/v1/tickets/T-`...)
		b = strconv.AppendInt(b, int64(c.id), 10)
		b = append(b, `","query":{},"headers":{"x-anvil-principal":"admin"},"body":null},"normalized":{"kind":"read","action":"get","resource":"ticket","params":{"path":{"id":"T-`...)
		b = strconv.AppendInt(b, int64(c.id), 10)
		b = append(b, `"},"query":{},"header":{},"cookie":{}},"body":null,"page":null,`...)
	}
	b = append(b, `"principal":{"id":"admin","role":"admin","scopes":["tickets:read","tickets:write"]},"tenantId":null,"idempotencyKey":null},"provider":`...)
	b = c.appendAnswer(b, v)
	return append(b, "}\n"...)
}

func (c *call) appendAnswer(b []byte, v variant) []byte {
	priority := c.priority
	if v.changeEvery > 0 && c.content%v.changeEvery == 0 {
		priority += 10
	}
	ms := 1.5
	if v.timed {
		ms = float64(c.content*7919%9000) / 1000
	}
	meta := strconv.AppendFloat([]byte(`"meta":{"ms":`), ms, 'g', -1, 64)
	meta = append(meta, '}', '}')
	ticket := func(b []byte, priority int) []byte {
		if c.list {
			b = append(b, `{"items":[`...)
		}
		b = c.appendTicket(b, priority, v.swapped)
		if c.list {
			b = append(b, `],"next_cursor":"2"}`...)
		}
		return b
	}
	switch {
	case !c.found:
		b = append(b, `{"ok":false,"error":{"code":"not_found","upstreamCode":"TICKET_NOT_FOUND"},`...)
		b = append(append(b, meta...), `,"result":{"ok":false,"error":{"code":"not_found","message":"There is no ticket of this number."}},"status":404,"response":{"error":{"code":"TICKET_NOT_FOUND","message":"There is no ticket of this number.","title":"`...)
		return append(append(b, c.title...), `"}}`...)
	default:
		b = ticket(append(b, `{"ok":true,"result":`...), c.priority)
		b = append(append(b, ','), meta...)
		b = ticket(append(b, `,"result":{"ok":true,"result":`...), c.priority)
		b = ticket(append(b, `},"status":200,"response":`...), priority)
	}
	return b
}

func (c *call) appendTicket(b []byte, priority int, swapped bool) []byte {
	if swapped {
		b = strconv.AppendInt(append(b, `{"priority":`...), int64(priority), 10)
		b = append(append(b, `,"status":"`+c.status+`","title":"`...), c.title...)
		b = strconv.AppendInt(append(b, `","id":"T-`...), int64(c.id), 10)
		return append(b, `"}`...)
	}
	b = strconv.AppendInt(append(b, `{"id":"T-`...), int64(c.id), 10)
	b = append(append(b, `","title":"`...), c.title...)
	b = strconv.AppendInt(append(b, `","status":"`+c.status+`","priority":`...), int64(priority), 10)
	return append(b, '}')
}
