package air_test

import (
	"fmt"
	"log"

	"github.com/anvil-sim/anvil/air"
)

func ExampleLoad() {
	d, err := air.Load("testdata/digests/trace-sparse-air.yaml")
	if err != nil {
		log.Fatal(err)
	}
	served, err := d.Served("")
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range served[:3] {
		fmt.Println(o.ID, o.Kind(), o.Method, o.Path)
	}
	// Output:
	// helpdesk.tickets.list list get /v1/tickets
	// helpdesk.tickets.get read get /v1/tickets/{ticket_id}
	// helpdesk.tickets.create create post /v1/tickets
}

func ExampleParse() {
	_, err := air.Parse("air.yaml", []byte(`
service:
  id: shop
  version: 2.0
  source: {kind: opanapi}
`))
	fmt.Println(err)
	// Output:
	// air.yaml: 2 faults
	//   line 4: service.version: 2.0, want a string (put it in quotes)
	//   line 5: service.source.kind: "opanapi", want openapi, swagger, wsdl, protobuf, graphql, discovery, postman, odata, har or mcp (did you mean openapi?)
}
