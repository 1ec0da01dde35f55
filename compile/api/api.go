// Package api is an API description as the compiler sees it, whatever format it
// was written in: what the readers of the formats make and the semantic passes
// take.
//
// Schemas in it are JSON Schema in the flavour of OpenAPI. They refer to named
// ones as #/components/schemas/NAME and to nothing else.
package api

import "github.com/anvil-sim/anvil/internal/canon"

// A Value is a piece of a description.
type Value = canon.Value

// A Description is one API.
type Description struct {
	Kind                        string // the source's kind: openapi or swagger
	Title, Version, Description string
	Servers                     []Server
	Tags                        []Tag
	Operations                  []*Operation   // in the order of the file
	Schemas                     []canon.Member // named schemas
	Found                       int            // operations that the file holds, those that could not be read included
}

// A Server is where the API is to be found.
type Server struct{ URL, Description string }

// A Tag is a group of operations as the description declares it.
type Tag struct{ Name, Description string }

// An Operation is one method of one path.
type Operation struct {
	Method      string // lower case
	Path        string // template with {name}
	ID          string // the description's own name, "" when it gives none
	Pointer     string // JSON Pointer into the entry file
	Summary     string
	Description string
	Tags        []string
	Deprecated  bool
	Params      []Param
	Bodies      []Content // by content type, in the order of the file
	BodyNeeded  bool
	BodyText    string // description of the body
	Responses   []Response
	Security    []Requirement // alternatives; empty when none is declared
	Extensions  []canon.Member
}

// A Param is one declared parameter.
type Param struct {
	Name, In    string // In is path, query, header or cookie
	Required    bool
	Schema      *Value
	Description string
	Example     *Value
	Style       string // "" when the description does not say
	Explode     *bool
	JSON        bool // the value is JSON text (content: application/json)
	Deprecated  bool
}

// A Content is a body in one content type.
type Content struct {
	Type     string
	Schema   *Value // nil when there is none
	Examples []*Value
	Styles   map[string]FieldStyle // how a form's fields are spelled, by name; of those that say so
}

// A FieldStyle is how a description spells a field of a form.
type FieldStyle struct {
	Style   string // "" when the description does not say
	Explode *bool  // nil when the description does not say
}

// Delimited reports whether all values of the field stand in one text: form that is
// not exploded, and spaceDelimited and pipeDelimited that are not.
func (s FieldStyle) Delimited() bool {
	switch s.Style {
	case "", "form":
		return s.Explode != nil && !*s.Explode
	case "spaceDelimited", "pipeDelimited":
		return s.Explode == nil || !*s.Explode
	}
	return false
}

// A Response is what one status answers with.
type Response struct {
	Status      string // 200, 2XX, default
	Description string
	Contents    []Content
	Headers     []Header
}

// A Header is a declared response header.
type Header struct {
	Name   string
	Schema *Value
}

// A Requirement is a set of schemes that a caller must satisfy together; an
// empty one lets everybody in.
type Requirement []Use

// A Use is one scheme of a requirement.
type Use struct {
	Scheme *Scheme
	Scopes []string
}

// A Scheme is a declared security scheme.
type Scheme struct {
	Name         string
	Type         string // apiKey, http, oauth2, openIdConnect, mutualTLS; "" when it is not declared
	In, KeyName  string // of an apiKey
	HTTP         string // the HTTP scheme, lower case
	BearerFormat string
	OpenIDURL    string
	Flows        []Flow
}

// A Flow is one OAuth 2 flow.
type Flow struct {
	Kind              string // clientCredentials, authorizationCode, implicit, password
	TokenURL, AuthURL string
	Scopes            []string
}
