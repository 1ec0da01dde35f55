// Package surface puts a simulator on HTTP: it finds the operation of a
// request, decodes it the way that operation declares, and writes the outcome
// in the contract's envelope, status and headers.
//
// [Handler] is an http.Handler. [Server] listens, serves it, and also answers
// requests whose target net/http refuses to parse, since a call that cannot be
// decoded is a call: numbered, traced and answered.
//
// GraphQL operations share one endpoint, POST to any path that no operation
// claims; see [Options.GraphQLStrict] for its two readings.
package surface
