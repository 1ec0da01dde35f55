package compile_test

import (
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
)

const jobs = `openapi: 3.0.3
info: {title: Jobs API, version: '1'}
paths:
  /exports:
    get: {operationId: listExports, parameters: [{name: sql, in: query, schema: {type: string}}], responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Job'}}}}}}}
    post: {operationId: startExport, responses: {'202': {description: begun, content: {application/json: {schema: {$ref: '#/components/schemas/Job'}}}}}}
  /exports/{export_id}:
    get: {operationId: getExport, parameters: [{name: export_id, in: path, required: true, schema: {type: string}}], responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Job'}}}}}}
  /tasks/{taskId}:
    get: {operationId: getTask, parameters: [{name: taskId, in: path, required: true, schema: {type: string}}], responses: {'200': {description: ok, content: {application/json: {schema: {properties: {state: {type: string}}}}}}}}
  /reindex:
    post: {operationId: reindex, responses: {'202': {description: begun, content: {application/json: {schema: {properties: {taskId: {type: string}}}}}}}}
  /ping:
    post: {operationId: ping, responses: {'202': {description: taken}}}
  /things/bulk:
    post: {operationId: saveThings, responses: {'200': {description: ok}}}
  /files:
    post: {operationId: sendFile, requestBody: {content: {multipart/form-data: {schema: {properties: {file: {type: string, format: binary}}}}}}, responses: {'201': {description: ok}}}
components:
  schemas:
    Job: {type: object, properties: {id: {type: string}, status: {type: string, enum: [queued, running, done, failed]}}}
`

// A mutation that answers 202 is long-running; what reads its progress is the
// item of its collection, or what its answer names.
func TestAsync(t *testing.T) {
	doc, diags := compiled(t, jobs, nil)
	byID := map[string]*air.Operation{}
	for _, o := range doc.Operations {
		byID[o.ID] = o
	}
	for id, want := range map[string]struct{ archetype, async string }{
		"jobs.start_export": {"long_running", `{"statusOperationId":"jobs.get_export","jobIdField":"id","statusJobIdParam":"export_id","stateField":"status","terminalStates":["done","failed"],"pendingStates":["queued","running"]}`},
		"jobs.reindex":      {"long_running", `{"statusOperationId":"jobs.get_task","jobIdField":"taskId","statusJobIdParam":"taskId","stateField":"state","terminalStates":[],"pendingStates":[]}`},
		"jobs.ping":         {"long_running", ""},
		"jobs.save_things":  {"bulk", ""},
		"jobs.send_file":    {"file_transfer", ""},
		"jobs.list_exports": {"query_passthrough", ""},
		"jobs.get_task":     {"", ""},
	} {
		tree := byID[id].Tree()
		async := ""
		if a := tree.Get("asyncContract"); a != nil {
			async = a.String()
		}
		if got := tree.Get("archetype").Text(); got != want.archetype || async != want.async {
			t.Errorf("%s: %q %s, want %q %s", id, got, async, want.archetype, want.async)
		}
	}
	if !hasCode(diags, "async/status_unknown") || byID["jobs.get_export"].Action != "poll" {
		t.Errorf("%s, %v", byID["jobs.get_export"].Action, diags)
	}
	cost := byID["jobs.get_export"].Tree().Get("disclosureCost")
	if n := cost.Get("toolTokens").Float(); n < 20 || n > 200 || cost.Get("responseItemTokens").Float() != 0 {
		t.Errorf("cost %s", cost)
	}
}

func TestAsyncStated(t *testing.T) {
	tests := []struct{ manifest, want string }{
		{"{operations: {startExport: {async: none}}}", ""},
		{"{operations: {ping: {async: {status_operation: getTask, job_id_field: id, status_param: taskId, poll_interval_seconds: 5, terminal_states: [ok]}}}}",
			`{"statusOperationId":"jobs.get_task","jobIdField":"id","statusJobIdParam":"taskId","terminalStates":["ok"],"pendingStates":[],"pollIntervalSeconds":5}`},
		{"{operations: {ping: {async: {status_operation: getTusk, job_id_field: id, status_param: taskId}}}}", `anvil.yaml: operations.ping.async.status_operation: unknown operation "getTusk" (did you mean getTask?)`},
		{"{operations: {ping: {async: {status_operation: getTask}}}}", "anvil.yaml: operations.ping.async.job_id_field: missing, want status_operation, job_id_field and status_param"},
	}
	for _, tt := range tests {
		m, err := compile.ParseManifest("anvil.yaml", []byte(tt.manifest))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		r, err := compile.CompileText("jobs.yaml", []byte(jobs), &compile.Options{Manifest: m})
		if err != nil {
			got = err.Error()
		} else {
			for _, o := range r.Tree.Get("operations").Elems() {
				if a := o.Get("asyncContract"); a != nil && o.Get("sourceRef").Get("operationId").Text() == m.Overrides[0].Key {
					got = a.String()
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.manifest, got, tt.want)
		}
	}
}

// A GET that answers to POST too takes its query as a form, and does what it
// does.
func TestMethods(t *testing.T) {
	for _, manifest := range []string{"{service: {methods: [post]}}", "{operations: {health: {methods: [post]}, getOrder: {methods: [post], state: blocked}}}"} {
		m, err := compile.ParseManifest("anvil.yaml", []byte(manifest))
		if err != nil {
			t.Fatal(err)
		}
		doc, _ := compiled(t, shop, &compile.Options{Manifest: m, Approve: "all"})
		byID := map[string]*air.Operation{}
		for _, o := range doc.Operations {
			byID[o.ID] = o
		}
		get, post := byID["shop.get_order"], byID["shop.get_order_by_post"]
		if post == nil || post.Method != "post" || post.EffectKind != "read" || post.State != get.State || post.Path != get.Path || len(post.Params) != len(get.Params) {
			t.Fatalf("%s: %+v", manifest, post)
		}
		list := byID["shop.list_orders_by_post"]
		if byID["shop.create_order"] == nil || list != nil {
			t.Errorf("%s: POST /orders is createOrder alone", manifest)
		}
	}
	m, err := compile.ParseManifest("anvil.yaml", []byte("{operations: {listOrders: {methods: [post]}, createOrder: {methods: [post]}}}"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = compile.CompileText("shop.yaml", []byte(shop), &compile.Options{Manifest: m})
	if want := "anvil.yaml: operations.listOrders.methods: POST /orders is an operation of its own\n" +
		"anvil.yaml: operations.createOrder.methods: POST /orders is no GET; only a GET can answer to POST too"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := compile.ParseManifest("anvil.yaml", []byte("{service: {methods: [put]}}")); err == nil {
		t.Error("put was taken")
	}
}
