// Package redact takes values out of traces by rule and puts placeholders in
// their place.
//
// A placeholder is a string that stands for one value in the whole trace, so
// that calls still belong together: "[redacted 1]" is the first value that was
// found, "[redacted 2]" the second other one. Two runs of the same calls get the
// same placeholders and still compare. Null stays null, since it says nothing.
package redact

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// Rules say what to take out. The YAML names are the keys of a rules file.
type Rules struct {
	// Paths are JSON Pointers into the entry, in which * stands for one segment
	// and ** for any number of them: "/request/body/email", "/**/password".
	Paths []string `yaml:"paths"`
	// Headers are names of headers and cookies, in any case. They are looked for
	// in what the client sent, in what the provider was asked, in what it
	// answered and in what was served.
	Headers []string `yaml:"headers"`
}

// ParseRules reads a rules file: YAML (or JSON) with the keys paths and headers,
// each a list of strings. Errors say the line.
func ParseRules(name string, text []byte) (Rules, error) {
	var r Rules
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	dec.KnownFields(true)
	err := dec.Decode(&r)
	if err == nil {
		var more any
		if err = dec.Decode(&more); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("found a second document, want one")
		}
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the file is empty")
	}
	if err != nil {
		msg := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n  ", " "), "yaml: ")
		return Rules{}, &trace.OptionError{Option: name, Msg: msg, Next: "write lists of strings under the keys paths and headers"}
	}
	return r, nil
}

// A Count is what one rule took out.
type Count struct {
	Rule   string // as given: a pointer, or "header NAME"
	Values int    // places
}

// headerPlaces are where an entry has headers and cookies.
func headerPlaces() []string {
	return []string{"/request/headers/*", "/normalized/params/header/*", "/normalized/params/cookie/*",
		"/provider/headers/*", "/result/headers/*", "/headers/*"}
}

// A Redactor rewrites the lines of one trace. It is for one goroutine.
type Redactor struct {
	rules   Rules
	headers map[string]int // lower case, to the index in rules.Headers
	counts  []int          // of Paths, then of Headers
	seen    map[[sha256.Size]byte]int
	rw      *trace.Rewriter
	scratch []byte
}

// New checks the rules, of which there must be one.
func New(rules Rules) (*Redactor, error) {
	if len(rules.Paths)+len(rules.Headers) == 0 {
		return nil, &trace.OptionError{Option: "--path", Msg: "no rule says what to redact", Next: "give --path, --header or --rules"}
	}
	r := &Redactor{rules: rules, headers: map[string]int{}, seen: map[[sha256.Size]byte]int{},
		counts: make([]int, len(rules.Paths)+len(rules.Headers))}
	for i, name := range rules.Headers {
		if name == "" || strings.ContainsAny(name, " :\t\r\n") {
			return nil, &trace.OptionError{Option: "--header", Msg: fmt.Sprintf("found %q, want a header name", name)}
		}
		if _, ok := r.headers[strings.ToLower(name)]; !ok {
			r.headers[strings.ToLower(name)] = i
		}
	}
	patterns := append([]string{}, rules.Paths...)
	if len(rules.Headers) > 0 {
		patterns = append(patterns, headerPlaces()...)
	}
	var err error
	r.rw, err = trace.NewRewriter("--path", patterns, r.replace)
	return r, err
}

// Append appends the line without what the rules take out, and without a line
// break. A line in which nothing matches stays as it is.
func (r *Redactor) Append(dst []byte, l trace.Line) ([]byte, error) { return r.rw.Append(dst, l) }

// Counts are what each rule took out so far, in the order of the rules.
func (r *Redactor) Counts() (list []Count) {
	for i, p := range r.rules.Paths {
		list = append(list, Count{p, r.counts[i]})
	}
	for i, name := range r.rules.Headers {
		list = append(list, Count{"header " + name, r.counts[len(r.rules.Paths)+i]})
	}
	return list
}

func (r *Redactor) replace(pattern int, name string, value []byte) ([]byte, bool) {
	if string(value) == "null" {
		return nil, false
	}
	if pattern >= len(r.rules.Paths) {
		i, ok := r.headers[strings.ToLower(name)]
		if !ok {
			return nil, false
		}
		pattern = len(r.rules.Paths) + i
	}
	r.counts[pattern]++
	key := r.key(value)
	n, ok := r.seen[key]
	if !ok {
		n = len(r.seen) + 1
		r.seen[key] = n
	}
	r.scratch = strconv.AppendInt(append(r.scratch[:0], `"[redacted `...), int64(n), 10)
	r.scratch = append(r.scratch, `]"`...)
	return r.scratch, true
}

// key is one for equal values in any spelling. A list of one string counts as
// the string: a query has lists where a normalized request has texts.
func (r *Redactor) key(value []byte) [sha256.Size]byte {
	v, err := canon.Parse(value, canon.Lenient)
	if err != nil {
		return sha256.Sum256(value) // the line is refused when it is through
	}
	if e := v.Elems(); len(e) == 1 {
		v = e[0]
	}
	return sha256.Sum256(canon.AppendIdentity(nil, v))
}

// Copy writes the runs of a trace that which chooses, as in [trace.OpenRun],
// without what the rules take out, and returns what each rule found. Every line
// is parsed: what is no JSON could hide a value.
func Copy(ctx context.Context, w io.Writer, in trace.Input, which string, rules Rules) ([]Count, error) {
	red, err := New(rules)
	if err != nil {
		return nil, err
	}
	r, _, err := trace.OpenRun(ctx, in, which)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var buf []byte
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l, err := r.Read()
		if err == io.EOF {
			return red.Counts(), nil
		}
		if err == nil {
			err = l.Check()
		}
		if err == nil {
			buf, err = red.Append(buf[:0], l)
		}
		if err == nil {
			_, err = w.Write(append(buf, '\n'))
		}
		if err != nil {
			return nil, err
		}
	}
}
