package api_test

import (
	"testing"

	"github.com/anvil-sim/anvil/compile/api"
)

// What is no description is called by its name; what may be one is not.
func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		`<?xml version="1.0"?><definitions xmlns="http://schemas.xmlsoap.org/wsdl/">`: "a WSDL description",
		`<edmx:Edmx Version="4.0">`:                         "OData metadata",
		"<!DOCTYPE html><html>":                             "an HTML page",
		"<a/>":                                              "XML",
		"#%RAML 1.0\ntitle: x\n":                            "a RAML description",
		"FORMAT: 1A\n# Polls\n":                             "an API Blueprint",
		"SQLite format 3\x00...":                            "a SQLite database",
		"// pubs\nsyntax = \"proto3\";\npackage x;\n":       "a protobuf definition",
		"\"\"\"A thing.\"\"\"\ntype Query {\n  a: Int\n}\n": "a GraphQL schema",
		"scalar Date\n":                                     "a GraphQL schema",
		`{"info":{"_postman_id":"x"},"item":[]}`:            "a Postman collection",
		`{"log":{"entries":[]}}`:                            "a HAR file",
		"version: 2\ninteractions: []\n":                    "a recording",
		"kind: discovery#restDescription\n":                 "a Google Discovery document",
		`{"data":{"__schema":{}}}`:                          "the introspection of a GraphQL schema",
		"asyncapi: 3.0.0\n":                                 "an AsyncAPI description",
		"type: object\nschema: {a: 1}\n":                    "",
		"service: {id: x}\noperations: []\n":                "",
		"openapi: 3.1.0\ninfo: {title: 'type Query {'}\n":   "",
		"": "",
	} {
		if got := api.Foreign([]byte(text)); got != want {
			t.Errorf("%.40q: got %q, want %q", text, got, want)
		}
	}
}
