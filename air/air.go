// Package air is the contract model: an AIR document loaded, checked, filled
// with its defaults, and the rules that are derived from it.
//
// [Load] reads a bundle or a file, [Parse] its text, [FromTree] a tree. What a
// document may hold is stated once, in fields.txt. YAML is YAML 1.2 with the
// core schema (0777 is 777; yes, dates and 1_000 are text) and without merge
// keys; the YAML that programs write is read by a reader of its own, all other
// YAML by the library, with the same result.
//
// A [Document] is read-only and answers any number of goroutines; digests and
// resolved schemas are worked out when they are first asked for. So are the trees
// of the schemas of a large JSON text, which is checked whole when it is parsed.
package air

import "github.com/anvil-sim/anvil/internal/canon"

// Value is a JSON value of a contract whose shape the contract does not fix: a
// schema, an example. Key order is the document's.
type Value = canon.Value

// A Document is one contract. It is immutable once loaded; nothing in it may be
// changed, since parts of it are shared.
type Document struct {
	AnvilVersion string
	Service      Service
	Operations   []*Operation // in document order
	Capabilities []Capability
	Schemas      *Value // object: schema name to schema; never nil

	tree    *Value // the whole normalised document
	derived *derived
}

// A Service says whose API this is.
type Service struct {
	ID, Version, DisplayName string
	SourceKind               string   // openapi, swagger, wsdl, protobuf, graphql, discovery, postman, odata, har, mcp
	Exposed                  []string // service.source.profile.exposedOperations
	HasProfile               bool
	Servers                  []string // URLs
	// Records says what the built-in store shows of its records: "" for all
	// their fields, [RecordsDeclared] for those that the response declares.
	// Compiled contracts say so; it stands in no digest.
	Records string
}

// RecordsDeclared is the value of service.records of contracts that this module
// compiles from a description.
const RecordsDeclared = "declared"

// A Capability is a named part of the service.
type Capability struct {
	ID, DisplayName string
	OperationIDs    []string
}

// An Operation is one thing that the API does.
type Operation struct {
	ID, CanonicalName, DisplayName, Description string
	Tags                                        []string
	SourceKind                                  string
	Path                                        string // template, "" when the source gives none
	Method                                      string // lower case, "" when the source gives none
	Binding                                     *Value // sourceRef.binding, nil when absent
	EffectKind                                  string // read or mutation
	Action                                      string
	Resource                                    string // "" when absent
	Params                                      []*Param
	Body                                        *Body  // nil when the operation takes none
	OutputSchema                                *Value // output.schema, nil when absent
	OutputSchemaRef                             string
	SuccessStatuses                             []int    // declared exact 2xx, in order
	OutputHeaders                               []string // declared success response header names, as spelled
	Errors                                      []DeclaredError
	Idempotency                                 Idempotency
	ConfirmationRequired                        bool
	Auth                                        Auth
	Pagination                                  *Pagination // nil when absent
	ResponseItemTokens                          int64       // disclosureCost.responseItemTokens, 0 when unmeasured
	State                                       string
	ToolName                                    string

	tree     *Value // the normalised operation
	carrier  *Carrier
	response lazySchema
	item     lazySchema
}

// A Param is one declared parameter.
type Param struct {
	Name        string // wire name
	Key         string // agent key: how in-process calls and tools name it
	In          string // path, query, header, cookie, body
	Required    bool
	Schema      *Value
	Style       string // "" when the contract does not say
	Explode     *bool  // nil when the contract does not say
	Description string
}

// A Body is the declared request body.
type Body struct {
	ContentType string
	Required    bool
	Schema      *Value
	Whole       bool // projection whole: the body is one input under the key "body"
	Fields      []*Field
	AnyCase     bool // field names match in any letter case (an OData action body)
}

// A Field is one declared top-level field of a request body.
type Field struct {
	Name     string // wire name
	Key      string // agent key
	Required bool
	Schema   *Value
	Style    string // how a form spells it (deepObject: name[key]=value); "" when the contract does not say
	Explode  *bool  // nil when the contract does not say; false: a form spells all values in one text
}

// A DeclaredError maps an error code to the status and vendor code that the API
// answers with.
type DeclaredError struct {
	Code         string
	HTTPStatus   int    // 0 when the contract does not say
	UpstreamCode string // "" when the contract does not say
	Message      string
}

// Idempotency says whether and where a call carries an idempotency key.
type Idempotency struct {
	Mode, Mechanism, Key, KeyDerivation string
}

// Auth says what a caller needs.
type Auth struct {
	Type    string
	Scopes  []string
	Carrier *AuthCarrier // nil when the contract names none
}

// An AuthCarrier is where a credential travels.
type AuthCarrier struct {
	In, Name, Scheme string // In is header or query
}

// Pagination says how an operation pages.
type Pagination struct {
	Style                                                          string // cursor, page, offset, link
	InBody                                                         bool
	CursorParam, NextField, ItemsField, PageSizeParam, PagingField string // "" when absent
	MaxPageSize, DefaultPageSize                                   int    // 0 when absent
}

// A Carrier is where an operation's idempotency key travels.
type Carrier struct {
	In      string   // header, query, path or body
	Name    string   // wire name of the header, parameter or field
	Pointer []string // decoded JSON Pointer tokens when a body carrier is a pointer
}

// Tree is the whole operation, defaults filled in.
func (o *Operation) Tree() *Value { return o.tree }
