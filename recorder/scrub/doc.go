// Package scrub takes secrets and volatile values out of what is recorded, before
// it is written.
//
// A secret is what stands where secrets stand (a credential header, a cookie, a
// query parameter, form field or JSON member of a telling name, the user part of a
// URL, a place that a rule names) or what looks like one (the token shapes of well
// known services, JSON Web Tokens, private keys), and every further occurrence of a
// value that was seen in such a place. It becomes a placeholder: the same secret
// the same placeholder within a recording, counted by first sight, so that a
// placeholder says nothing of its secret.
//
// A volatile value differs between two recordings of the same traffic (dates,
// request ids). It becomes a fixed one.
//
// [Scan] is the gate behind: what it finds in scrubbed data may not be written.
package scrub
