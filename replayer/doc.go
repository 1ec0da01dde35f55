// Package replayer answers from recordings: a [Provider] at the provider seam,
// through a contract; a [Transport] in Go code that speaks HTTP; a [Server] that
// plays a recording over HTTP byte for byte.
//
// # What is compared
//
// Method and path, the query and the body; through a contract the operation,
// its typed path and query parameters and its body's fields. Order of names,
// encoding and white space do not matter. Headers, cookies, the host, idempotency
// keys, page cursors and sizes, the principal and the tenant are compared only
// when a match rule asks for it. GraphQL calls are compared by operation name and
// variables (an anonymous one by its document too).
//
// # Misses
//
// A request that was not recorded is a [Miss], an error that cannot be taken for
// an answer of the API. It says what was asked, the closest recorded requests
// with the fields that differ, and the rule that would accept it.
//
//   - Equal requests are answered in recorded order. After the last one
//     [AfterLast] decides: error (the default) is a miss, repeat gives the last
//     answer again, loop begins anew.
//   - A retry consumes nothing and gets the same answer: the same idempotency key
//     once more, or an equal request with nothing in between, unless the recording
//     holds that very repetition.
//   - [OrderCausal] (the default) misses when a request carries a value that the
//     recording first saw in an answer, and no such answer was given yet;
//     [OrderStrict] misses on any request but the next one of the recording;
//     [OrderFree] never misses for its order.
package replayer
