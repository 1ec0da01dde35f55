package air_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/google/go-cmp/cmp"
)

// contract is a small contract whose operation has extra lines; every line of
// extra is indented by four.
func contract(extra string) string {
	return `service: {id: svc, version: "1", source: {kind: openapi}}
operations:
  - id: svc.pets.get
    canonicalName: pets_get
    displayName: pets.get
    sourceRef: {kind: openapi, path: "/pets/{id}", method: get}
    retries: {mode: safe}
    confirmation: {}
    cli: {command: pets get}
    mcp: {toolName: svc_pets_get}
    skill: {}
    state: approved
` + extra
}

const rest = `    effect: {kind: read}
    input: {}
    idempotency: {mode: none}
    auth: {type: none}
`

func TestFaults(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"not an object", "- a\n", "c.yaml:1: an array, want an object"},
		{"a scalar", "hello\n", `c.yaml:1: "hello", want an object`},
		{"enum", contract(strings.Replace(rest, "read", "raed", 1)),
			`c.yaml:13: operations[0].effect.kind: "raed", want read or mutation (did you mean read?)`},
		{"no near enum", contract(strings.Replace(rest, "read", "walk", 1)),
			`c.yaml:13: operations[0].effect.kind: "walk", want read or mutation`},
		{"missing", contract(strings.Replace(rest, "    auth: {type: none}\n", "", 1)),
			`c.yaml:3: operations[0].auth: missing, want an object`},
		{"misspelt key", contract(strings.Replace(rest, "auth:", "auht:", 1)),
			`c.yaml:3: operations[0].auth: missing, want an object ("auht" is not a known key; did you mean auth?)`},
		{"null", contract(strings.Replace(rest, "{kind: read}", "~", 1)),
			`c.yaml:13: operations[0].effect: null, want an object (or leave the key out)`},
		{"number for text", strings.Replace(contract(rest), `"1"`, "1.0", 1),
			`c.yaml:1: service.version: 1.0, want a string (put it in quotes)`},
		{"service id", strings.Replace(contract(rest), "id: svc,", "id: Svc_,", 1),
			`c.yaml:1: service.id: "Svc_", want lower-case letters, digits, _ and -, beginning with a letter and ending with a letter or digit`},
		{"empty service id", strings.Replace(contract(rest), "id: svc,", `id: "",`, 1),
			`c.yaml:1: service.id: "", want a string of 1 to 64 characters`},
		{"integer", contract(rest + "    pagination: {style: page, maxPageSize: 1.5}\n"),
			`c.yaml:17: operations[0].pagination.maxPageSize: 1.5, want an integer of at least 1`},
		{"bound", contract(strings.Replace(rest, "auth:", "disclosureCost: {toolTokens: 1, estimator: e, charsPerToken: 0}\n    auth:", 1)),
			`c.yaml:16: operations[0].disclosureCost.charsPerToken: 0, want a number above 0`},
		{"status", contract(rest + "    output:\n      successStatuses:\n        - 200\n        - 302\n"),
			`c.yaml:20: operations[0].output.successStatuses[1]: 302, want an integer from 200 to 299`},
		{"uri", contract(strings.Replace(rest, "{type: none}", "{type: none, issuer: example.com}", 1)),
			`c.yaml:16: operations[0].auth.issuer: "example.com", want an absolute URI`},
		{"credential profile", contract(strings.Replace(rest, "{type: none}", "{type: none, credentialProfile: a-b}", 1)),
			`c.yaml:16: operations[0].auth.credentialProfile: "a-b", want lower-case letters, digits and _, beginning with a letter and ending with a letter or digit`},
		{"unknown binding", strings.Replace(contract(rest), "method: get}", "method: get, binding: {protocol: soup}}", 1),
			`c.yaml:6: operations[0].sourceRef.binding.protocol: "soup", want soap, graphql, graphql_sse, grpc or queue_request_reply (did you mean soap?)`},
		{"no binding protocol", strings.Replace(contract(rest), "method: get}", "method: get, binding: {}}", 1),
			`c.yaml:6: operations[0].sourceRef.binding.protocol: missing, want soap, graphql, graphql_sse, grpc or queue_request_reply`},
		{"closed binding", queue("extra: 1, "),
			`c.yaml:6: operations[0].sourceRef.binding.extra: unknown key, want protocol, legacyBindingContentHash, requestDestination, reply, requestSchemaRef, responseSchemaRef, timeoutMs or idempotency`},
		{"closed reply", strings.Replace(queue(""), "mode: reply_to", "mode: reply_to, x: 1", 1),
			`c.yaml:6: operations[0].sourceRef.binding.reply.x: unknown key, want mode, destination or correlationField`},
		{"content hash", strings.Replace(queue(""), "sha256:0", "sha256:X", 1),
			`c.yaml:6: operations[0].sourceRef.binding.legacyBindingContentHash: "sha256:X0000000000000000000000000000000000000000000000000000…", want sha256: and 64 lower-case hexadecimal digits`},
		{"claim without id", contract(rest + "    evidence: {claims: [{subject: s, predicate: p, source: spec, confidence: 1, relation: {type: supports, target: t}}]}\n"),
			`c.yaml:17: operations[0].evidence.claims[0]: a claim with a relation, want an id too`},
		{"empty projection", contract(rest + "    output: {agentProjection: {}}\n"),
			`c.yaml:17: operations[0].output.agentProjection: empty, want include, exclude or rename`},
		{"overlapping projection", contract(rest + "    output: {agentProjection: {include: [a], exclude: [a]}}\n"),
			`c.yaml:17: operations[0].output.agentProjection: "a" is in include and in exclude, want it in one`},
		{"one name for two", contract(rest + "    output: {agentProjection: {rename: {a: c, b: c}}}\n"),
			`c.yaml:17: operations[0].output.agentProjection: "a" and "b" are both renamed to "c", want different names`},
		{"async", contract(rest + "    asyncContract: {jobIdField: id, statusJobIdParam: id}\n"),
			`c.yaml:17: operations[0].asyncContract.statusOperationId: missing, want a string (or a webhook)`},
		{"supersedes", contract(rest) + "workflows: [{id: w, capabilityId: c, displayName: W, steps: [{operationId: a}], supersedes: [a, b]}]\n",
			`c.yaml:17: workflows[0].supersedes[1]: "b", want an operation of one of the workflow's own steps`},
		{"through an alias", strings.Replace(contract(rest), "{kind: read}", "&e {kind: raed}", 1) + "  - *e\n",
			"c.yaml: 14 faults\n  line 13: operations[0].effect.kind: \"raed\", want read or mutation (did you mean read?)\n"},
		{"several", contract("    effect: {kind: 1}\n    input: []\n    idempotency: {mode: none}\n    auth: {type: nope}\n"),
			"c.yaml: 3 faults\n" +
				"  line 13: operations[0].effect.kind: 1, want read or mutation\n" +
				"  line 14: operations[0].input: an array, want an object\n" +
				"  line 16: operations[0].auth.type: \"nope\", want none, api_key,"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := air.Parse("c.yaml", []byte(tt.src))
			if err == nil {
				t.Fatal("no error")
			}
			got := err.Error()
			if strings.HasSuffix(tt.want, ",") || strings.HasSuffix(tt.want, "\n") {
				got = got[:min(len(got), len(tt.want))]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func queue(extra string) string {
	return strings.Replace(contract(rest), "method: get}", "binding: {protocol: queue_request_reply, "+extra+
		"legacyBindingContentHash: 'sha256:"+strings.Repeat("0", 64)+"', requestDestination: q, reply: {mode: reply_to, correlationField: c}, "+
		"requestSchemaRef: a, responseSchemaRef: b, timeoutMs: 10, idempotency: {carrier: message_id}}}", 1)
}

func TestQueueBindingLoads(t *testing.T) {
	d, err := air.Parse("c.yaml", []byte(queue("")))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Operations[0].Protocol(); got != air.QueueBridge {
		t.Errorf("protocol %s", got)
	}
}

func TestManyFaults(t *testing.T) {
	src := contract(rest) + "diagnostics:\n" + strings.Repeat("  - {level: loud, code: a, message: b}\n", 70)
	_, err := air.Parse("c.yaml", []byte(src))
	var load *air.LoadError
	if !errors.As(err, &load) {
		t.Fatalf("error %v", err)
	}
	if len(load.Faults) != 50 || load.More != 20 || load.Path != "c.yaml" {
		t.Errorf("%d faults and %d more in %q", len(load.Faults), load.More, load.Path)
	}
	want := air.Fault{Line: 18, Key: "diagnostics[0].level", Msg: `"loud", want error, warning or info`}
	if load.Faults[0] != want {
		t.Errorf("first fault %+v, want %+v", load.Faults[0], want)
	}
	if !strings.HasPrefix(err.Error(), "c.yaml: 70 faults\n") || !strings.HasSuffix(err.Error(), "\n  and 20 more") {
		t.Errorf("error %.60s ... %s", err, err.Error()[len(err.Error())-20:])
	}
}

// TestJSONFaultLines: a check on a JSON document names its line too.
func TestJSONFaultLines(t *testing.T) {
	_, err := air.Parse("air.json", []byte("{\n  \"service\": {\"id\": \"svc\",\n    \"version\": 2,\n    \"source\": {\"kind\": \"openapi\"}}\n}\n"))
	want := "air.json:3: service.version: 2, want a string (put it in quotes)"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestNormalised: defaults are filled in, unknown keys dropped at every listed
// level, maps and untyped values kept whole, the order of keys kept.
func TestNormalised(t *testing.T) {
	src := `service: {source: {kind: har, x: 1}, x: {}, version: "1", id: svc}
x: 1
operations:
  - id: svc.a
    x: 1
    canonicalName: a
    displayName: A
    sourceRef: {kind: har, x: ~}
    effect: {x: 1, kind: read}
    input: {params: [{name: p, in: query, x: 1, example: {x: ~}, schema: {x: 1, type: [string, ~]}}], body: {x: 1}}
    idempotency: {mode: none}
    retries: {mode: none}
    confirmation: {x: 1}
    auth: {type: none, tls: {x: 1}}
    cli: {command: c}
    mcp: {toolName: t}
    skill: {}
schemas: {x: {y: ~}}
`
	want := `{"service":{"source":{"kind":"har"},"version":"1","id":"svc",` +
		`"auth":{"type":"none","scopes":[],"principal":"anonymous","secretSource":"none"},"servers":[]},` +
		`"operations":[{"id":"svc.a","canonicalName":"a","displayName":"A","sourceRef":{"kind":"har"},` +
		`"effect":{"kind":"read","action":"other","risk":"low","reversible":true},` +
		`"input":{"params":[{"name":"p","in":"query","example":{"x":null},"schema":{"x":1,"type":["string",null]},"required":false,"inferred":false}],` +
		`"body":{"contentType":"application/json","required":false,"schema":{},"projection":"whole","fields":[]}},` +
		`"idempotency":{"mode":"none","mechanism":"none","keyDerivation":"none"},` +
		`"retries":{"mode":"none","basis":"unproven","maxAttempts":1,"backoff":"none","baseDelayMs":200,"maxDelayMs":20000,"retryOn":[]},` +
		`"confirmation":{"required":false},"auth":{"type":"none","tls":{"x":1},"scopes":[],"principal":"service","secretSource":"env"},` +
		`"cli":{"command":"c","aliases":[]},"mcp":{"toolName":"t"},"skill":{"intentExamples":[]},` +
		`"description":"","tags":[],"output":{},"errors":[],"streaming":false,"longRunning":false,"deprecated":false,` +
		`"state":"generated","reviewNotes":[],"evidence":{"claims":[]}}],` +
		`"schemas":{"x":{"y":null}},"anvilVersion":"0.1.0","capabilities":[],"workflows":[],"diagnostics":[]}`
	d, err := air.Parse("c.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, d.Tree().String()); diff != "" {
		t.Errorf("normalised (-want +got):\n%s", diff)
	}
	again, err := air.FromTree("again", d.Tree())
	if err != nil {
		t.Fatal(err)
	}
	if again.Tree() != d.Tree() {
		t.Error("a normalised tree is copied, want it shared")
	}
	if d.ContractDigest() != again.ContractDigest() {
		t.Error("digests differ")
	}
}

// TestDiagnosticsOutsideDigest: what a compiler complained about is not part of
// the contract.
func TestDiagnosticsOutsideDigest(t *testing.T) {
	with, err := air.Parse("c", []byte(contract(rest)+"diagnostics: [{level: info, code: a, message: b}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	without, err := air.Parse("c", []byte(contract(rest)))
	if err != nil {
		t.Fatal(err)
	}
	if with.ContractDigest() != without.ContractDigest() {
		t.Error("diagnostics change the digest")
	}
}

func TestTypedForm(t *testing.T) {
	d, err := air.Parse("c.yaml", []byte(contract(strings.NewReplacer("{type: none}", "{type: api_key, scopes: [a, b], carrier: {in: header, name: X-Key}}").Replace(rest)+`    tags: [x]
    errors: [{code: not_found, upstream: {httpStatus: 404, code: GONE}, message: no}]
    pagination: {style: cursor, cursorParam: c, in: body, maxPageSize: 9}
    output: {schemaRef: Pet, successStatuses: [200, 204], headers: [ETag]}
    description: text
`)))
	if err != nil {
		t.Fatal(err)
	}
	o := d.Operations[0]
	got := fmt.Sprintf("%+v %+v %+v %v %v %v %v %+v", o.Auth.Scopes, *o.Auth.Carrier, o.Errors, o.SuccessStatuses, o.OutputHeaders, o.Tags, o.Description, *o.Pagination)
	want := "[a b] {In:header Name:X-Key Scheme:} [{Code:not_found HTTPStatus:404 UpstreamCode:GONE Message:no}] [200 204] [ETag] [x] text " +
		"{Style:cursor InBody:true CursorParam:c NextField: ItemsField: PageSizeParam: PagingField: MaxPageSize:9 DefaultPageSize:0}"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if d.Service.ID != "svc" || d.Service.HasProfile || o.Path != "/pets/{id}" || o.Method != "get" || o.OutputSchemaRef != "Pet" || d.Schemas == nil {
		t.Errorf("service %+v, operation %+v", d.Service, o)
	}
}
