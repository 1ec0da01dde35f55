package compile_test

import (
	"fmt"

	"github.com/anvil-sim/anvil/compile"
)

// A description that is compiled in memory, all of it approved.
func ExampleCompileText() {
	r, err := compile.CompileText("pets.yaml", []byte(`
openapi: 3.0.3
info: {title: Pet API, version: "1"}
paths:
  /pets:
    get:
      operationId: listPets
      parameters:
        - {name: cursor, in: query, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer, maximum: 50}}
      responses:
        "200":
          description: ok
          content:
            application/json:
              schema: {type: object, properties: {pets: {type: array, items: {type: object}}, next_cursor: {type: string}}}
    post: {operationId: createPet, responses: {"201": {description: made}}}
`), &compile.Options{Approve: "all"})
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := r.Document()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range compile.Inspect(doc) {
		fmt.Printf("%s: %s %s [%s]\n", row.ID, row.Effect, row.Action, row.Paging)
	}
	for _, d := range r.Diagnostics {
		fmt.Println(d.Level, d.Code, d.Operation)
	}
	// Output:
	// pet.list_pets: read list [cursor at=cursor size=limit items=pets next=next_cursor]
	// pet.create_pet: mutation create []
	// warning idempotency/unproven pet.create_pet
}
