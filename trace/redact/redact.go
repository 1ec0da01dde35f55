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
	// Everywhere takes out what the rules find wherever else it stands: as another
	// value, as a key, and as a part of a longer text, there also percent-encoded
	// or as JSON spells it. It looks for texts and numbers of eight bytes and more;
	// of "Bearer abc" in a header for what follows the scheme. What the rules find
	// in an object or a list is looked for only when a rule names the member.
	Everywhere bool `yaml:"everywhere"`
}

// ParseRules reads a rules file: YAML (or JSON) with the keys paths and headers,
// each a list of strings, and everywhere, true or false. Errors say the line.
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
		return Rules{}, &trace.OptionError{Option: name, Msg: msg, Next: "write lists of strings under the keys paths and headers, and true or false under everywhere"}
	}
	return r, nil
}

// A Count is what one rule took out.
type Count struct {
	Rule   string // as given: a pointer, "header NAME", or "--everywhere"
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

	elsewhere *finder // nil without Everywhere
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
	if rules.Everywhere {
		r.elsewhere = &finder{names: map[string]int{}}
		patterns = append(patterns, "/**")
	}
	rw, err := trace.NewRewriter("--path", patterns, r.replace)
	if err != nil {
		return nil, err
	}
	if r.rw = rw; rules.Everywhere {
		rw.ReplaceKeys(r.elsewhere.key)
	}
	return r, nil
}

// Append appends the line without what the rules take out, and without a line
// break. A line in which nothing matches stays as it is.
func (r *Redactor) Append(dst []byte, l trace.Line) ([]byte, error) {
	from := len(dst)
	dst, err := r.rw.Append(dst, l)
	if err == nil && r.elsewhere != nil && r.elsewhere.keyed {
		r.elsewhere.keyed = false
		l.Text = dst[from:]
		err = l.Check() // two keys may be one now
	}
	return dst, err
}

// Counts are what each rule took out so far, in the order of the rules.
func (r *Redactor) Counts() (list []Count) {
	for i, p := range r.rules.Paths {
		list = append(list, Count{p, r.counts[i]})
	}
	for i, name := range r.rules.Headers {
		list = append(list, Count{"header " + name, r.counts[len(r.rules.Paths)+i]})
	}
	if r.elsewhere != nil {
		list = append(list, Count{"--everywhere", r.elsewhere.found})
	}
	return list
}

func (r *Redactor) replace(pattern int, name string, value []byte) ([]byte, bool) {
	if string(value) == "null" {
		return nil, false
	}
	rule, ok := r.rule(pattern, name)
	if !ok {
		if r.elsewhere == nil {
			return nil, false
		}
		return r.elsewhere.value(value)
	}
	r.counts[rule]++
	key := r.key(value)
	n, ok := r.seen[key]
	if !ok {
		n = len(r.seen) + 1
		r.seen[key] = n
	}
	if r.elsewhere != nil && r.elsewhere.learning {
		r.elsewhere.learn(value, n, rule >= len(r.rules.Paths))
	}
	r.scratch = canon.AppendString(r.scratch[:0], placeholder(n))
	return r.scratch, true
}

// rule is the index in counts of the rule that a pattern stands for; ok is false
// for a header that no rule names, and for what Everywhere looks at.
func (r *Redactor) rule(pattern int, name string) (rule int, ok bool) {
	paths := len(r.rules.Paths)
	if pattern < paths {
		return pattern, true
	}
	if len(r.headers) == 0 || pattern >= paths+len(headerPlaces()) {
		return 0, false
	}
	i, ok := r.headers[strings.ToLower(name)]
	return paths + i, ok
}

func placeholder(n int) string { return "[redacted " + strconv.Itoa(n) + "]" }

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
	if rules.Everywhere {
		if err := each(ctx, r, red.Learn); err != nil {
			return nil, err
		}
		r.Rewind()
	}
	var buf []byte
	err = each(ctx, r, func(l trace.Line) (err error) {
		if buf, err = red.Append(buf[:0], l); err == nil {
			_, err = w.Write(append(buf, '\n'))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return red.Counts(), nil
}

func each(ctx context.Context, r *trace.Reader, do func(trace.Line) error) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = l.Check()
		}
		if err == nil {
			err = do(l)
		}
		if err != nil {
			return err
		}
	}
}
