package compile_test

import (
	"testing"

	"github.com/anvil-sim/anvil/compile"
)

// TestOData reads the mark of Microsoft's converter on an action, and keeps the
// parameter styles that only paths have.
func TestODataActionAndPathStyles(t *testing.T) {
	const spec = `
openapi: 3.0.3
info: {title: graph, version: '1'}
paths:
  /items/{id}/copy:
    post:
      operationId: copyItem
      x-ms-docs-operation-type: action
      parameters: [{name: id, in: path, required: true, style: matrix, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {DestinationId: {type: string}}}}}}
      responses: {'200': {description: ok}}
  /items:
    post:
      operationId: createItem
      requestBody: {content: {application/json: {schema: {type: object, properties: {Name: {type: string}}}}}}
      responses: {'201': {description: ok}}
`
	r, err := compile.CompileText("spec.yaml", []byte(spec), &compile.Options{Approve: "all"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := r.Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range doc.Operations {
		action := o.Path == "/items/{id}/copy"
		if o.Body == nil || o.Body.AnyCase != action {
			t.Errorf("%s: fields in any case: %v, want %v", o.ID, o.Body != nil && o.Body.AnyCase, action)
		}
		if action && o.Params[0].Style != "matrix" {
			t.Errorf("%s: style %q, want matrix", o.ID, o.Params[0].Style)
		}
	}
}
