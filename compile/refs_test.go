package compile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/canon"
)

// writeFiles writes files under a new directory.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const refSpec = `openapi: 3.0.3
info: {title: Pets, version: '1'}
paths:
  /pets:
    get:
      operationId: listPets
      responses:
        '200':
          description: ok
          content: {application/json: {schema: {$ref: REF}}}
`

// References are followed inside the import root and nowhere else; a reference
// that is not followed is a diagnostic, not the end.
func TestReferences(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("type: object"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, ref, code, schema string }{
		{"file", "'schemas/pet.yaml'", "", `{"type":"object","properties":{"tag":{"$ref":"#/components/schemas/Tag"}}}`},
		{"pointer into a file", "'schemas/all.yaml#/definitions/Pet'", "", `{"type":"object","properties":{"self":{"type":"object","properties":{}}}}`},
		{"escaped", "'schemas/all.yaml#/a~1b%20c'", "", `{"type":"string"}`},
		{"remote", "'https://example.com/pet.yaml'", "ref/remote", ""},
		{"remote without a scheme", "'//example.com/pet.yaml'", "ref/remote", ""},
		{"file URL", "'file:///etc/passwd'", "ref/remote", ""},
		{"absolute", "'/etc/passwd'", "ref/escape", ""},
		{"dots", "'../../../../../../../../etc/passwd'", "ref/escape", ""},
		{"encoded dots", "'%2e%2e/%2e%2e/%2e%2e/etc/passwd'", "ref/escape", ""},
		{"link", "'link.yaml'", "ref/escape", ""},
		{"not there", "'schemas/none.yaml'", "ref/missing", ""},
		{"leads nowhere", "'#/components/schemas/None'", "ref/unresolved", ""},
		{"not YAML", "'bad.yaml'", "ref/unreadable", ""},
		{"a folder", "'schemas'", "ref/unreadable", ""},
		{"cycle", "'cycle.yaml#/a'", "ref/cycle", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{
				"spec.yaml":         strings.Replace(refSpec, "REF", tt.ref, 1),
				"schemas/pet.yaml":  "type: object\nproperties:\n  tag: {$ref: 'all.yaml#/definitions/Tag'}\n",
				"schemas/all.yaml":  "definitions:\n  Pet: {type: object, properties: {self: {$ref: '#/definitions/Pet'}}}\n  Tag: {type: string}\na/b c: {type: string}\n",
				"cycle.yaml":        "a: {$ref: '#/b'}\nb: {$ref: '#/a'}\n",
				"bad.yaml":          "a: [",
				"schemas/deep/x.md": "x",
			})
			if err := os.Symlink(outside, filepath.Join(dir, "link.yaml")); err != nil {
				t.Fatal(err)
			}
			r, err := compile.Compile(filepath.Join(dir, "spec.yaml"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if tt.code != "" && !hasCode(r.Diagnostics, tt.code) {
				t.Errorf("no diagnostic %s in %v", tt.code, r.Diagnostics)
			}
			if tt.code == "" && len(r.Diagnostics) > 0 {
				t.Errorf("diagnostics %v", r.Diagnostics)
			}
			doc, err := r.Document()
			if err != nil {
				t.Fatal(err)
			}
			o := doc.Operations[0]
			if tt.schema == "" {
				return
			}
			if got := doc.Schemas.Get(o.OutputSchemaRef).String(); got != tt.schema {
				t.Errorf("got %s, want %s", got, tt.schema)
			}
		})
	}
}

// A wider root lets a description be read that refers to its neighbours.
func TestImportRoot(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"api/spec.yaml":    strings.Replace(refSpec, "REF", "'../shared/pet.yaml'", 1),
		"shared/pet.yaml":  "type: object\nproperties: {id: {type: string}}\n",
		"shared/other.txt": "x",
	})
	spec := filepath.Join(dir, "api", "spec.yaml")
	r, err := compile.Compile(spec, nil)
	if err != nil || !hasCode(r.Diagnostics, "ref/escape") {
		t.Errorf("without a root: %v, %v", err, r)
	}
	r, err = compile.Compile(spec, &compile.Options{Root: dir})
	if err != nil || len(r.Diagnostics) > 0 || len(r.Sources) != 2 {
		t.Fatalf("with a root: %v, %v", err, r)
	}
	if _, err := compile.Compile(spec, &compile.Options{Root: filepath.Join(dir, "shared")}); err == nil {
		t.Error("a description outside its root was read")
	}
}

// A schema of OpenAPI 3.1 and of Swagger 2.0 is spelled as 3.0 spells it.
func TestSchemaSpelling(t *testing.T) {
	tests := []struct{ version, in, want string }{
		{"openapi: 3.1.0", "{type: [string, 'null']}", `{"type":"string","nullable":true}`},
		{"openapi: 3.1.0", "{type: [string, integer, 'null']}", `{"type":["string","integer","null"],"example":"example"}`},
		{"openapi: 3.0.3", "{type: string, nullable: true}", `{"type":"string","nullable":true}`},
		{"openapi: 3.1.0", "{$ref: '#/components/schemas/B', description: x}", `{"$ref":"#/components/schemas/B"}`},
		{"openapi: 3.1.0", "{$ref: '#/components/schemas/B', maxLength: 3}", `{"allOf":[{"$ref":"#/components/schemas/B"},{"maxLength":3}],"example":"exa"}`},
		{"openapi: 3.0.3", "{$ref: '#/components/schemas/B', maxLength: 3}", `{"$ref":"#/components/schemas/B"}`},
		{"openapi: 3.0.3", "{example: {$ref: '#/components/schemas/B'}, enum: [{$ref: x}]}", `{"example":{"$ref":"#/components/schemas/B"},"enum":[{"$ref":"x"}]}`},
		{"openapi: 3.0.3", "{properties: {$ref: {type: string}}}", `{"properties":{"$ref":{"type":"string"}}}`},
		{"openapi: 3.0.3", "{items: {$ref: '#/components/schemas/C'}}", `{"items":{"$ref":"#/components/schemas/B"},"example":["example"]}`},
		{"swagger: '2.0'", "{items: [{$ref: '#/definitions/B'}, {type: integer}]}", `{"anyOf":[{"$ref":"#/components/schemas/B"},{"type":"integer"}]}`},
		{"swagger: '2.0'", "{type: array, items: [{type: integer}]}", `{"type":"array","items":[{"type":"integer"}]}`},
		{"openapi: 3.0.3", "{discriminator: {propertyName: k, mapping: {b: '#/components/schemas/B', c: B}}}", `{"discriminator":{"propertyName":"k","mapping":{"b":"#/components/schemas/B","c":"B"}}}`},
		{"openapi: 3.0.3", "{properties: {a: 7}}", `{"properties":{"a":{}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			table, names := "components:\n  schemas:", "#/components/schemas/"
			if strings.HasPrefix(tt.version, "swagger") {
				table, names = "definitions:", "#/definitions/"
			}
			doc, _ := compiled(t, tt.version+"\ninfo: {title: X, version: '1'}\npaths: {}\n"+table+"\n    A: {properties: {a: "+tt.in+"}}\n    B: {type: string}\n    C: {$ref: '"+names+"B'}\n", nil)
			if got := doc.Schemas.Get("A").Get("properties").Get("a").String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A branch of a choice keeps the name that a discriminator knows it by when it
// is written out, and only there.
func TestBranchesKeepTheirNames(t *testing.T) {
	doc, _ := compiled(t, `openapi: 3.0.3
info: {title: X, version: '1'}
paths:
  /pets:
    post:
      operationId: addPet
      requestBody:
        content:
          application/json:
            schema:
              oneOf: [{$ref: '#/components/schemas/Cat'}, {type: object}]
              discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat'}}
      responses: {'204': {description: ok}}
    put:
      operationId: putPet
      requestBody: {content: {application/json: {schema: {oneOf: [{$ref: '#/components/schemas/Cat'}]}}}}
      responses: {'204': {description: ok}}
components:
  schemas:
    Cat: {type: object, properties: {lives: {type: integer}}}
`, nil)
	cat := `{"type":"object","properties":{"lives":{"type":"integer"}}`
	for key, want := range map[string]string{
		"POST /pets": `[` + cat + `,"x-anvil-schema":"Cat"},{"type":"object"}]`,
		"PUT /pets":  `[` + cat + `}]`,
	} {
		if got := findOperation(doc, key).Body.Schema.Get("oneOf").String(); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

func TestSwagger(t *testing.T) {
	doc, diags := compiled(t, `swagger: '2.0'
info: {title: Pets, version: 1.0}
host: pets.example
basePath: /v2
schemes: [https, http]
consumes: [application/json]
produces: [application/json]
securityDefinitions:
  b: {type: basic}
  o: {type: oauth2, flow: application, tokenUrl: 'https://id.example/t', scopes: {read: r}}
security: [{o: [read]}]
paths:
  /pets/{id}:
    parameters:
      - {name: id, in: path, required: true, type: integer, format: int64}
      - {name: X-Trace, in: header, type: string, x-nullable: true}
    get:
      operationId: getPet
      parameters: [{name: tags, in: query, type: array, items: {type: string}, collectionFormat: multi}, {name: ids, in: query, type: array, items: {type: integer}, collectionFormat: pipes}]
      responses: {'200': {description: ok, schema: {$ref: '#/definitions/Pet'}, examples: {application/json: {name: Rex}}, headers: {X-Rate: {type: integer}}}}
    put:
      operationId: putPet
      security: [{b: []}]
      parameters: [{name: body, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}]
      responses: {'204': {description: ok}}
    post:
      operationId: upload
      consumes: [multipart/form-data]
      parameters: [{name: file, in: formData, required: true, type: file}, {name: note, in: formData, type: string, description: a note}]
      responses: {default: {description: any}}
definitions:
  Pet: {type: object, required: [name], properties: {name: {type: string}, kind: {type: string, x-nullable: true}}}
`, nil)
	if got := strings.Join(doc.Service.Servers, " "); got != "https://pets.example/v2 http://pets.example/v2" || doc.Service.Version != "1.0" {
		t.Errorf("servers %s, version %s", got, doc.Service.Version)
	}
	get, put, post := doc.Operations[0], doc.Operations[1], doc.Operations[2]
	if got := get.Tree().Get("input").Get("params").String(); got != `[{"name":"id","in":"path","required":true,"schema":{"type":"integer","format":"int64"},"inferred":false},`+
		`{"name":"X-Trace","in":"header","required":false,"schema":{"type":"string","x-nullable":true,"nullable":true},"inferred":false},`+
		`{"name":"tags","in":"query","required":false,"schema":{"type":"array","items":{"type":"string"}},"inferred":false,"style":"form","explode":true},`+
		`{"name":"ids","in":"query","required":false,"schema":{"type":"array","items":{"type":"integer"}},"inferred":false,"style":"pipeDelimited","explode":false}]` {
		t.Errorf("params %s", got)
	}
	if get.Auth.Type != "oauth2_client_credentials" || put.Auth.Type != "basic" || get.OutputHeaders[0] != "X-Rate" {
		t.Errorf("auth %s, %s, headers %v", get.Auth.Type, put.Auth.Type, get.OutputHeaders)
	}
	if got := get.OutputSchema.Get("example").String(); got != `{"name":"Rex"}` {
		t.Errorf("example %s", got)
	}
	if put.Body == nil || put.Body.Whole || len(put.Body.Fields) != 2 || !put.Body.Fields[0].Required || !put.Body.Required {
		t.Errorf("body %+v", put.Body)
	}
	if b := post.Body; b == nil || b.ContentType != "multipart/form-data" || len(b.Fields) != 2 || b.Fields[0].Schema.String() != `{"type":"string","format":"binary"}` {
		t.Errorf("form %+v", b)
	}
	if !hasCode(diags, "response/default") {
		t.Errorf("diagnostics %v", diags)
	}
}

// What is refused as a whole says why.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "empty file",
		"hello":                                "neither openapi nor swagger stands at the top",
		"openapi: 4.0.0\npaths: {}":            "found \"4.0.0\", want swagger 2.0 or openapi 3.0 or 3.1",
		"swagger: '1.2'\npaths: {}":            "want swagger 2.0",
		"openapi: 3.0.0\ninfo: {title: x}":     "no paths, so no operations",
		"anvilVersion: 0.1.0\nservice: {}":     "neither openapi nor swagger",
		"openapi: 3.0.0\npaths: &a [*a]":       "",
		"{\"openapi\": \"3.0.0\", \"paths\": ": "not JSON",
	} {
		_, err := compile.CompileText("x.json", []byte(text), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// An operation that is odd costs a diagnostic and no more.
func TestOddOperations(t *testing.T) {
	doc, diags := compiled(t, `openapi: 3.0.0
info: {title: The 3 Odd APIs v2, version: 2}
paths:
  x-note: hi
  relative: {get: {operationId: a, responses: {'200': {description: ok}}}}
  /a/{id}: {get: {operationId: a, responses: {200: {description: ok}}}}
  /b/{broken: {get: {responses: {'200': {description: ok}}}}
  /c: {get: 7, post: {operationId: c, parameters: [{in: query}, {in: soup, name: x}, {in: path, name: nope, schema: {}}, {in: header, name: Accept, schema: {type: string}}, 5, {name: m, in: path, style: matrix}]}}
`, &compile.Options{Approve: "all"})
	var got []string
	for _, o := range doc.Operations {
		got = append(got, o.ID+" "+o.Path+" "+o.State)
	}
	want := "odd.get_relative /relative approved; odd.get_a_by_id /a/{id} approved; odd.get_b_by_broken /b/{broken blocked; odd.c /c approved"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got %s\nwant %s", s, want)
	}
	for _, code := range []string{"path/relative", "name/duplicate", "param/undeclared", "path/template", "operation/unreadable", "param/name", "param/in", "param/not_in_path", "response/no_success"} {
		if !hasCode(diags, code) {
			t.Errorf("no diagnostic %s", code)
		}
	}
	if p := doc.Operations[1].Params; len(p) != 1 || p[0].Name != "id" || !p[0].Required {
		t.Errorf("inferred parameter %+v", p)
	}
	if got := canon.Digest(doc.Tree()); len(got) != 64 {
		t.Error(got)
	}
}
