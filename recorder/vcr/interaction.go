package vcr

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"time"
)

// A Body is the stored body of a message, which is read as often as it is
// needed. Nil is empty.
type Body interface {
	Open() (io.Reader, error)
	Size() int64 // in bytes
}

// Bytes is a body in memory.
type Bytes []byte

// Open implements [Body].
func (b Bytes) Open() (io.Reader, error) { return bytes.NewReader(b), nil }

// Size implements [Body].
func (b Bytes) Size() int64 { return int64(len(b)) }

// An Interaction is one exchange as it goes to the tape: scrubbed, bodies without
// content codings.
type Interaction struct {
	Request  Request
	Response Response
	// Begin and End order the interactions of one recording: the values of a
	// counter when the request came and when the answer was done.
	Begin, End uint64
}

// A Request is what was sent.
type Request struct {
	Method, URL string
	Header      http.Header // by canonical name
	Form        url.Values  // of a form body, nil for another one
	Body        Body
	Notes
}

// A Response is what was answered.
type Response struct {
	Code          int    // 0 when there was no answer
	Status        string // "200 OK", or what went wrong
	Header        http.Header
	Body          Body
	Duration      time.Duration
	Transfer      string // chunked, sse or ""
	Chunks        []int  // sizes of the pieces in which the body came, nil when they are not kept
	Failure       string // timeout, connection or ""
	Informational []Informational
	Notes
}

// Notes are the keys that a request and a response share beside the format.
type Notes struct {
	Encoding []string    // content codings in the order of their use
	Names    []string    // header names as spelled on the wire, where that differs
	Trailer  http.Header // by canonical name
	Cut      string      // why the body is not whole, "" when it is
}

// An Informational is a 1xx answer.
type Informational struct {
	Code   int
	Header http.Header
}
