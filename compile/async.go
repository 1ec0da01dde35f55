package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/media"
)

// An async says where the progress of a long-running operation is to be asked.
type async struct {
	status            *operation
	jobField, param   string // field of the answer; parameter of the status operation
	stateField        string
	terminal, pending []string
	interval          int // seconds between polls; 0 when nothing says
}

// longRuns reports whether an operation answers before it is done: a mutation
// with 202 among its success statuses.
func longRuns(o *operation) bool {
	return o.effect.kind == "mutation" && slices.Contains(o.statuses, 202)
}

// asyncContracts finds, for each long-running operation, the one to poll.
func (c *compiler) asyncContracts() error {
	byKey := map[string]*operation{}
	items := map[string]*operation{} // GETs that end in a parameter, by the path with the parameter's name cut off
	byParam := map[string]*operation{}
	for _, o := range c.ops {
		byKey[o.id], byKey[o.src.ID] = o, o
		last := lastOf(segments(o.src.Path))
		if o.src.Method != "get" || !isParam(last) || !strings.HasPrefix(last, "{") || c.stateIn(o) == "" {
			continue
		}
		items[strings.TrimSuffix(o.src.Path, last)] = o
		if names := templateNames(o.src.Path); len(names) == 1 {
			byParam[air.SnakeCase(names[0])] = o
		}
	}
	for _, o := range c.ops {
		stated := o.override.stated("async")
		if !longRuns(o) && stated == nil || stated.Is(canon.String) {
			continue
		}
		o.longRunning = true
		if stated != nil {
			if err := o.statedAsync(c, stated, byKey); err != nil {
				return err
			}
			continue
		}
		if o.async = c.statusOf(o, items[strings.TrimSuffix(o.src.Path, "/")+"/"], byParam); o.async == nil {
			c.note(o, api.Info, "async/status_unknown", "it may answer 202 before it is done, and nothing tells what to ask for its progress")
			continue
		}
		if s := o.async.status; s.effect.action == "get" && s.effect.method != "manifest" {
			s.effect.action = "poll"
		}
	}
	return nil
}

// statedAsync takes what a manifest states.
func (o *operation) statedAsync(c *compiler, t *api.Value, byKey map[string]*operation) error {
	where := fmt.Sprintf("%s: operations.%s.async", c.opts.Manifest.Path, o.override.Key)
	for _, key := range []string{"status_operation", "job_id_field", "status_param"} {
		if t.Get(key).Text() == "" {
			return fmt.Errorf("%s.%s: missing, want status_operation, job_id_field and status_param", where, key)
		}
	}
	name := t.Get("status_operation").Text()
	if byKey[name] == nil {
		return fmt.Errorf("%s.status_operation: %w", where, unknown("operation", name, slices.Sorted(maps.Keys(byKey))))
	}
	o.async = &async{
		status: byKey[name], jobField: t.Get("job_id_field").Text(), param: t.Get("status_param").Text(), stateField: t.Get("state_field").Text(),
		terminal: texts(t.Get("terminal_states")), pending: texts(t.Get("pending_states")), interval: int(t.Get("poll_interval_seconds").Float()),
	}
	return nil
}

// statusOf is the operation that reads what a long-running one made: the item of
// the collection that it was sent to, or the one whose only parameter its answer
// names.
func (c *compiler) statusOf(o, item *operation, byParam map[string]*operation) *async {
	if item != nil {
		names := templateNames(item.src.Path)
		param := names[len(names)-1]
		for _, field := range []string{param, air.SnakeCase(param), "id", "uuid", "name"} {
			if c.schemas.at(o.output, field) != nil {
				return c.asyncBy(item, field, param)
			}
		}
	}
	for _, m := range c.schemas.properties(o.output) {
		s := byParam[air.SnakeCase(m.Key)]
		if s != nil && s.src.Path != o.src.Path && !strings.Contains(o.src.Path, "{"+templateNames(s.src.Path)[0]+"}") {
			return c.asyncBy(s, m.Key, templateNames(s.src.Path)[0])
		}
	}
	return nil
}

func (c *compiler) asyncBy(status *operation, field, param string) *async {
	a := &async{status: status, jobField: field, param: param, stateField: c.stateIn(status)}
	for _, e := range c.schemas.deref(c.schemas.at(status.output, a.stateField)).Get("enum").Elems() {
		if pendingStates[air.SnakeCase(e.Text())] {
			a.pending = append(a.pending, e.Text())
		} else if e.Is(canon.String) {
			a.terminal = append(a.terminal, e.Text())
		}
	}
	return a
}

var (
	stateFields   = strings.Fields("status state processing_status job_status task_status phase")
	pendingStates = wordSet("pending queued waiting enqueued scheduled created started running active in_progress processing cancel_requested requested submitted accepted preparing")
)

// stateIn is the field of an answer that says how far something is.
func (c *compiler) stateIn(o *operation) string {
	for _, name := range stateFields {
		for _, m := range c.schemas.properties(o.output) {
			if air.SnakeCase(m.Key) == name && c.schemas.typ(m.Value) == "string" {
				return m.Key
			}
		}
	}
	return ""
}

func (a *async) value() *api.Value {
	b := builder{}
	b.set("statusOperationId", a.status.id)
	b.set("jobIdField", a.jobField)
	b.set("statusJobIdParam", a.param)
	if a.stateField != "" {
		b.set("stateField", a.stateField)
	}
	b.set("terminalStates", a.terminal)
	b.set("pendingStates", a.pending)
	if a.interval > 0 {
		b.set("pollIntervalSeconds", a.interval)
	}
	return b.object()
}

// queryLanguages are names of inputs that hold a query in a language of its own.
var queryLanguages = wordSet("sql jql soql sosl cql kql gaql nrql fql promql")

// archetype says what kind of use an operation is; "" for a plain read.
func (c *compiler) archetype(o *operation) string {
	switch {
	case o.longRunning:
		return "long_running"
	case c.takesQuery(o):
		return "query_passthrough"
	case c.carriesFile(o):
		return "file_transfer"
	case o.effect.kind == "mutation" && inBulk(o.src):
		return "bulk"
	case o.effect.kind == "mutation":
		return "transaction"
	case o.effect.action == "list" || o.effect.action == "search":
		return "search"
	}
	return ""
}

func (c *compiler) takesQuery(o *operation) bool {
	for _, p := range o.src.Params {
		if queryLanguages[strings.ToLower(p.Name)] {
			return true
		}
	}
	for _, m := range c.bodyInputs(o) {
		if queryLanguages[strings.ToLower(m.name)] {
			return true
		}
	}
	return false
}

// carriesFile reports whether an operation sends or answers the bytes of a file.
func (c *compiler) carriesFile(o *operation) bool {
	if o.body != nil {
		switch media.Type(o.body.Type) {
		case "application/octet-stream":
			return true
		case "multipart/form-data":
			for _, m := range c.schemas.properties(o.body.Schema) {
				if c.schemas.deref(m.Value).Get("format").Text() == "binary" {
					return true
				}
			}
		}
	}
	return o.binary
}

func inBulk(o *api.Operation) bool {
	last := words(lastOf(literals(o.Path)))
	return slices.Contains(words(o.ID), "bulk") || slices.Contains(last, "bulk") || slices.Contains(last, "batch")
}

// charsPerToken is the usual rule of thumb for English and JSON.
const charsPerToken = 4

// disclosureCost estimates what an operation costs an agent that is shown it as
// a tool: its name, text and inputs. What its answers cost is not measured: a
// measure would take the place of the vendor's own page size.
func disclosureCost(o *operation, text string, input *api.Value, sizes map[*api.Value]int) *api.Value {
	chars := len(o.tool) + len(text) + size(input, sizes)
	return object("toolTokens", (chars+charsPerToken-1)/charsPerToken, "responseItemTokens", 0, "responseTokens", 0,
		"charsPerToken", charsPerToken, "estimator", "chars_per_token")
}
