// Package recorder records real traffic to cassettes: a [Proxy] in front of an API,
// a [Transport] inside a Go program, a [Provider] at the provider seam.
//
// # What a recording promises
//
// Nothing is written before it is scrubbed (package scrub), bodies that wait on a
// disk are encrypted with a key that is never written, and an exchange that still
// looks as if it held a secret is not written at all: it is reported, and counted
// in [Summary.Refused].
//
// An exchange is on the tape before its caller sees the end of the answer. So a
// killed recorder leaves a tape that loads, with every exchange that was finished.
//
// Bodies are stored without their content coding (gzip, deflate, br, zstd), which is
// noted, and the stored Content-Length is that of the stored body. Redirects are
// recorded and not followed. An event stream that the caller leaves is kept as far
// as it came; another answer that the caller does not wait for is not.
//
// # Modes of a Proxy, by their misses
//
//   - record: a tape that exists is an error, unless it is to be replaced.
//   - append: a tape that is missing is made; what is there is kept, and new
//     exchanges follow it.
//   - auto: a request that the tape answers does not go out; a miss does, and is
//     recorded at the end of the tape.
//   - replay: nothing goes out; a miss is answered 503 with X-Anvil-Miss.
//   - spy: everything goes out and nothing is written.
package recorder
