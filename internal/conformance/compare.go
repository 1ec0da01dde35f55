package conformance

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
)

// faults collects what differs in one run of a session.
type faults struct {
	*Session
	list []string
}

func (f *faults) add(where string, want, got any) {
	f.list = append(f.list, fmt.Sprintf("%s: want %s, got %s", where, short(want), short(got)))
}

func (f *faults) note(format string, args ...any) {
	f.list = append(f.list, fmt.Sprintf(format, args...))
}

func short(v any) string {
	const most = 300
	text := fmt.Sprint(v)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}

// sameJSON compares two JSON texts as values with exact numbers, key order and
// the implementation's own wording apart; in strict sessions the spelling too.
func (f *faults) sameJSON(where, wantText, gotText string) {
	if wantText == gotText {
		return
	}
	want, wantErr := canon.Parse([]byte(wantText), canon.Lenient)
	got, gotErr := canon.Parse([]byte(gotText), canon.Lenient)
	if wantErr != nil || gotErr != nil {
		f.add(where, wantText, gotText)
		return
	}
	got = f.borrow(want, got, "")
	switch path, a, b, differ := f.firstDifference(want, got, ""); {
	case differ:
		f.add(where+path, a, b)
	case f.strict && want.String() != got.String():
		f.note("%s: equal as values, not as bytes: want %s, got %s", where, short(wantText), short(gotText))
	}
}

// ownWording reports whether a recorded text under a key is wording that each
// implementation chooses for itself.
func (f *faults) ownWording(key, text string) bool {
	if key == "transportError" || key == "warnings" {
		return true
	}
	return key == "message" && !f.given[text] && !strings.Contains(f.contract, text)
}

// borrow returns got with the implementation's own wording replaced by the
// recorded one where both have some.
func (f *faults) borrow(want, got *canon.Value, key string) *canon.Value {
	switch {
	case want.Is(canon.Object) && got.Is(canon.Object):
		members := make([]canon.Member, len(got.Members()))
		for i, m := range got.Members() {
			if w := want.Get(m.Key); w != nil {
				m.Value = f.borrow(w, m.Value, m.Key)
			}
			members[i] = m
		}
		return canon.NewObject(members...)
	case want.Is(canon.Array) && got.Is(canon.Array):
		if key == "warnings" && len(want.Elems()) == len(got.Elems()) {
			for _, e := range got.Elems() {
				if !spoken(e) {
					return got
				}
			}
			return want
		}
		elems := make([]*canon.Value, len(got.Elems()))
		for i, e := range got.Elems() {
			if i < len(want.Elems()) {
				e = f.borrow(want.Elems()[i], e, key)
			}
			elems[i] = e
		}
		return canon.NewArray(elems...)
	case want.Is(canon.String) && spoken(got) && f.ownWording(key, want.Text()):
		return want
	}
	return got
}

// spoken reports whether a value is a text with words.
func spoken(v *canon.Value) bool {
	return v.Is(canon.String) && strings.TrimSpace(v.Text()) != ""
}

// firstDifference finds the first place where two values are not equal.
func (f *faults) firstDifference(a, b *canon.Value, path string) (where string, x, y any, differ bool) {
	switch {
	case a.Kind() != b.Kind():
		return path, a, b, true
	case a.Is(canon.Object):
		return f.objectDifference(a, b, path)
	case a.Is(canon.Array):
		for i := range min(len(a.Elems()), len(b.Elems())) {
			if where, x, y, differ := f.firstDifference(a.Elems()[i], b.Elems()[i], fmt.Sprintf("%s/%d", path, i)); differ {
				return where, x, y, true
			}
		}
		return path + " (length)", len(a.Elems()), len(b.Elems()), len(a.Elems()) != len(b.Elems())
	case a.Is(canon.Number) && f.double:
		return path, a, b, a.Float() != b.Float()
	case a.Is(canon.Number):
		return path, a, b, canon.NumberKey(a.Text()) != canon.NumberKey(b.Text())
	}
	return path, a, b, a.String() != b.String()
}

func (f *faults) objectDifference(a, b *canon.Value, path string) (where string, x, y any, differ bool) {
	for _, m := range a.Members() {
		other := b.Get(m.Key)
		if other == nil {
			return path + "/" + m.Key, m.Value, "(absent)", true
		}
		if where, x, y, differ := f.firstDifference(m.Value, other, path+"/"+m.Key); differ {
			return where, x, y, true
		}
	}
	for _, m := range b.Members() {
		if a.Get(m.Key) == nil {
			return path + "/" + m.Key, "(absent)", m.Value, true
		}
	}
	return "", nil, nil, false
}

// sameLines compares two files of JSON lines.
func (f *faults) sameLines(what, want, got string) {
	if got != "" && (!strings.HasSuffix(got, "\n") || strings.Contains(got, "\r") || strings.Contains(got, "\n\n")) {
		f.note("%ss: each line ends in one \\n, no blank lines", what)
	}
	a, b := lines(want), lines(got)
	if len(a) != len(b) {
		f.add(what+"s", len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		f.sameJSON(fmt.Sprintf("%s %d", what, i+1), a[i], b[i])
	}
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// An answer is what came back for one request.
type answer struct {
	err     error // the request could not be sent or answered
	status  int
	headers map[string]string // by lower-case name; of several the first
	order   []string          // names as they came
	body    string
}

// transport reports whether a header belongs to the connection and not to the
// answer.
func transport(name string) bool {
	switch name {
	case "date", "connection", "keep-alive", "transfer-encoding", "content-length", "vary":
		return true
	}
	return false
}

// check compares an answer with the recorded one.
func (f *faults) check(where string, exchange *canon.Value, got answer) {
	request, want := exchange.Get("request"), exchange.Get("response")
	where = fmt.Sprintf("%s (%s %s)", where, request.Get("method").Text(), request.Get("path").Text())
	if refused := want.Get("error"); refused != nil || got.err != nil {
		switch {
		case refused == nil:
			f.add(where, want.Get("status"), got.err)
		case got.err == nil:
			f.add(where, refused, got.status)
		}
		return
	}
	if want.Get("status").Float() != float64(got.status) {
		f.add(where+" status", want.Get("status"), fmt.Sprintf("%d %.160s", got.status, got.body))
		return
	}
	recorded := map[string]bool{}
	for _, m := range want.Get("headers").Members() {
		recorded[m.Key] = true
		f.checkHeader(where, m.Key, strings.TrimSpace(m.Value.Text()), got.headers)
	}
	for _, name := range got.order {
		if !recorded[name] && !transport(name) {
			f.add(where+" header "+name, "(absent)", got.headers[name])
		}
	}
	f.sameJSON(where+" body", want.Get("bodyText").Text(), got.body)
}

func (f *faults) checkHeader(where, name, want string, headers map[string]string) {
	have, ok := headers[name]
	switch {
	case !ok:
		f.add(where+" header "+name, want, "(absent)")
		return
	case name == "content-type":
		want, have = mediaType(want), mediaType(have)
	case name == "x-anvil-trace-error" && have != "":
		return // own wording
	}
	if have != want {
		f.add(where+" header "+name, want, have)
	}
}

func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.TrimSpace(s)
}

// names reports whether a text names a thing: the name stands in it with no
// letter, digit or underscore beside it.
func names(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if (i == 0 || !wordRune(before)) && (i+len(name) == len(text) || !wordRune(after)) {
			return true
		}
		from = i + 1
	}
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
