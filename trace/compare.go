package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A comparer finds the differences of two parsed entries.
type comparer struct {
	pats      *patterns
	opts      *DiffOptions // nil compares everything exactly
	names     *renamer     // nil without --rename
	outside   bool         // under --only, and at no path that it names yet
	left      int          // differences outside --only
	key       string       // the object key that leads here
	bytes     bool         // spelling and key order count
	idA, idB  string       // request ids that stand for each other, "" when they must agree
	room      int          // findings that may be kept still; negative: any number
	count     int
	findings  []Finding
	ignored   []int
	tolerated []int
	note      string // of the next finding
	path      []byte
}

func (c *comparer) add(kind FindingKind, old, new *canon.Value) {
	c.count++
	if c.room == 0 {
		return
	}
	c.room--
	f := Finding{Kind: kind, Path: string(c.path), Note: c.note}
	if old != nil {
		f.Old = json.RawMessage(old.AppendJSON(nil))
	}
	if new != nil {
		f.New = json.RawMessage(new.AppendJSON(nil))
	}
	c.findings = append(c.findings, f)
}

// differ reports whether two values differ, without patterns.
func (c *comparer) differ(a, b *canon.Value) bool {
	if a == nil || b == nil {
		return a != b
	}
	sub := comparer{pats: c.pats, bytes: c.bytes, idA: c.idA, idB: c.idB}
	sub.values(a, b, state{})
	return sub.count > 0
}

// child compares two values one segment further; a nil one is not there.
func (c *comparer) child(name string, a, b *canon.Value, s state) { c.under(name, name, a, b, s) }

// under compares two values one segment further. key is the object key that
// leads to them, through arrays.
func (c *comparer) under(name, key string, a, b *canon.Value, s state) {
	if p := c.pats.match(s); p >= 0 {
		if c.differ(a, b) {
			c.ignored[p]++
		}
		return
	}
	if c.outside {
		if done, back := c.enterOnly(a, b, s); done {
			return
		} else if back {
			defer func() { c.outside = true }()
		}
	}
	n, before := len(c.path), c.key
	c.path, c.key = appendPointer(c.path, name), key
	switch {
	case a == nil:
		c.add(ValueAdded, nil, b)
	case b == nil:
		c.add(ValueRemoved, a, nil)
	default:
		c.values(a, b, s)
	}
	c.path, c.key = c.path[:n], before
}

func (c *comparer) values(a, b *canon.Value, s state) {
	if a.Kind() != b.Kind() {
		c.add(ValueChanged, a, b)
		return
	}
	switch a.Kind() {
	case canon.Object:
		c.objects(a, b, s)
	case canon.Array:
		c.arrays(a, b, s)
	case canon.Number:
		c.numbers(a, b, s)
	case canon.String:
		c.strings(a, b, s)
	case canon.Bool:
		if a.True() != b.True() {
			c.add(ValueChanged, a, b)
		}
	}
}

func (c *comparer) strings(a, b *canon.Value, s state) {
	x, y := a.Text(), b.Text()
	if c.idA != "" && x == c.idA && y == c.idB || c.renamed(x, y, a, b, s) || x == y {
		return
	}
	c.add(ValueChanged, a, b)
}

func (c *comparer) numbers(a, b *canon.Value, s state) {
	x, y := a.Text(), b.Text()
	if c.renamed(x, y, a, b, s) {
		return
	}
	switch {
	case x == y:
	case c.near(x, y, s):
	case canon.NumberKey(x) != canon.NumberKey(y):
		c.add(ValueChanged, a, b)
	case c.bytes:
		c.add(ValueRespelled, a, b)
	}
}

func (c *comparer) objects(a, b *canon.Value, s state) {
	for _, m := range a.Members() {
		c.child(m.Key, m.Value, b.Get(m.Key), c.pats.name(s, m.Key))
	}
	for _, m := range b.Members() {
		if a.Get(m.Key) == nil {
			c.child(m.Key, nil, m.Value, c.pats.name(s, m.Key))
		}
	}
	if c.bytes {
		if x, y := commonKeys(a, b), commonKeys(b, a); !slices.Equal(x, y) {
			c.add(ValueReordered, stringList(x), stringList(y))
		}
	}
}

func commonKeys(a, b *canon.Value) (keys []string) {
	for _, m := range a.Members() {
		if b.Get(m.Key) != nil {
			keys = append(keys, m.Key)
		}
	}
	return keys
}

func stringList(list []string) *canon.Value {
	elems := make([]*canon.Value, len(list))
	for i, s := range list {
		elems[i] = canon.NewString(s)
	}
	return canon.NewArray(elems...)
}

// A parsed entry with what the report says of it.
func refOf(v *canon.Value, ln line) *Ref {
	r := &Ref{Index: ln.index, Line: ln.number, Offset: ln.offset, Tool: v.Get("tool").Text()}
	r.Seq, _ = parseSeq([]byte(v.Get("seq").Text()))
	if request := v.Get("request"); request.Get("method").Is(canon.String) {
		r.Target = request.Get("method").Text() + " " + request.Get("path").Text()
	}
	return r
}

// entryStages maps the keys of an entry to the stage that makes them.
var entryStages = map[string]Stage{
	"transport": StageRequest, "request": StageRequest,
	"schema": StageContract, "tool": StageContract, "operationId": StageContract, "normalized": StageContract, "validateValues": StageContract,
	"provider": StageProvider,
	"result":   StageShaping, "status": StageShaping, "response": StageShaping, "headers": StageShaping, "warnings": StageShaping,
}

var stageOrder = []Stage{StageOrder, StageRequest, StageContract, StageSeed, StageProvider, StageShaping}

func earlier(a, b Stage) int {
	return cmp.Compare(slices.Index(stageOrder, a), slices.Index(stageOrder, b))
}

// stageOf tells at which stage a pair of calls parts. keys are the entry's keys
// under which something was found. Without a provider the result is the
// built-in store's, or a gate's when it refuses.
func stageOf(a, b *canon.Value, keys []string) Stage {
	first := StageShaping
	for _, key := range keys {
		stage, ok := entryStages[key]
		if !ok {
			continue // seq, requestId and what later versions add follow from the rest
		}
		if key == "result" && a.Get("provider").Is(canon.Null) && b.Get("provider").Is(canon.Null) {
			stage = StageContract
			if a.Get("result").Get("ok").True() || b.Get("result").Get("ok").True() {
				stage = StageSeed
			}
		}
		if earlier(stage, first) < 0 {
			first = stage
		}
	}
	return first
}

// entries compares two entries key by key; keys are those with findings.
func (c *comparer) entries(a, b *canon.Value, start state) (keys []string) {
	visit := func(key string, x, y *canon.Value) {
		before := c.count
		c.child(key, x, y, c.pats.name(start, key))
		if c.count > before {
			keys = append(keys, key)
		}
	}
	for _, m := range a.Members() {
		visit(m.Key, m.Value, b.Get(m.Key))
	}
	for _, m := range b.Members() {
		if a.Get(m.Key) == nil {
			visit(m.Key, nil, m.Value)
		}
	}
	return keys
}

// spelling adds what only --bytes sees: the order of the entry's keys, and the
// rest that differs in no value, such as white space and escapes.
func (c *comparer) spelling(a, b *canon.Value, textA, textB []byte) {
	if x, y := commonKeys(a, b), commonKeys(b, a); !slices.Equal(x, y) {
		c.add(ValueReordered, stringList(x), stringList(y))
	}
	if c.count == 0 && !bytes.Equal(textA, textB) && !slices.ContainsFunc(c.ignored, func(n int) bool { return n > 0 }) {
		c.add(ValueRespelled, nil, nil)
	}
}
