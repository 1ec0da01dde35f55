// Package vcr writes go-vcr cassettes of format version 1, one interaction at a
// time, so that a killed process leaves a cassette that loads.
//
// # The file
//
// While it is being written, the YAML document ends in a document end marker, a
// line "...". A new interaction is written behind the marker, where no reader
// looks, with a marker of its own, and synced; then one byte makes the old marker
// a comment ("#.."), which is when the interaction is on the tape. A write that
// was cut short stays behind the marker and is dropped by the next [Append].
// [File.Close] rewrites the file without markers, in canonical order.
//
// # What is noted beside the format
//
// Readers of the format ignore keys that they do not know. These are written where
// they apply:
//
//	request.encoding, response.encoding   content codings that were removed from the stored body, and from its headers
//	request.trailer, response.trailer     header fields that came after the body
//	request.names, response.names         header names that were spelled unlike the keys of headers
//	request.cut, response.cut             why the stored body is not the whole one
//	response.transfer                     chunked: the answer had no declared length; sse: an event stream
//	response.chunks                       sizes of the pieces in which the body came
//	response.informational                1xx answers that came first
//	response.failure                      timeout or connection: there was no (whole) answer
//
// A code of 0 stands for an exchange without an answer; status then says why.
package vcr
