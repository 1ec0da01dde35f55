package surface

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

// uploadPlan has a field of each typing.
func uploadPlan(t testing.TB) *plan {
	t.Helper()
	field := func(name, schema string) *air.Field {
		return &air.Field{Name: name, Key: name, Schema: schemaOf(t, schema)}
	}
	p := &plan{op: &sim.Operation{Operation: &air.Operation{Body: &air.Body{Schema: schemaOf(t, `{}`), Fields: []*air.Field{
		field("file", `{"type":"string","format":"binary"}`), field("title", `{"type":"string"}`), field("count", `{"type":"integer"}`),
		field("tags", `{"type":"array","items":{"type":"string"}}`), field("ids", `{"type":"array","items":{"type":"integer"}}`),
		field("meta", `{"type":"object"}`), field("live", `{"type":"boolean"}`),
	}}}}}
	p.planBody(p.op.Body, nil)
	return p
}

// deepPlan has fields that a form spells with brackets, and one that it does not.
func deepPlan(t testing.TB) *plan {
	t.Helper()
	field := func(name, style, schema string) *air.Field {
		return &air.Field{Name: name, Key: name, Style: style, Schema: schemaOf(t, schema)}
	}
	p := &plan{op: &sim.Operation{Operation: &air.Operation{Body: &air.Body{Schema: schemaOf(t, `{}`), Fields: []*air.Field{
		field("meta", "deepObject", `{"anyOf":[{"type":"object"},{"enum":[""],"type":"string"}]}`),
		field("expand", "deepObject", `{"type":"array","items":{"type":"string"}}`),
		field("items", "deepObject", `{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"},"price":{"type":"object","properties":{"amount":{"type":"integer"}}}}}}`),
		field("a[b]", "", `{"type":"integer"}`), field("a", "deepObject", `{"type":"object"}`), field("obj", "", `{"type":"object"}`),
	}}}}}
	p.planBody(p.op.Body, nil)
	return p
}

var deepForms = []struct{ text, want string }{
	{"meta[order]=7&meta[by]=x", `{"meta":{"order":"7","by":"x"}}`},
	{"meta=", `{"meta":""}`},
	{"expand[]=a&x=1&expand[]=b", `{"expand":["a","b"],"x":"1"}`},
	{"expand[1]=b&expand[0]=a", `{"expand":["a","b"]}`},
	{"expand=a&expand=b", `{"expand":["a","b"]}`},
	{"items%5B0%5D[n]=1&items[0][price][amount]=5&items[1][n]=2&items[1][z]=3", `{"items":[{"n":1,"price":{"amount":5}},{"n":2,"z":"3"}]}`},
	{"a[b]=1&a[c]=2", `{"a[b]":1,"a":{"c":"2"}}`},
	{"obj[a]=1", `{"obj[a]":"1"}`},
	{"meta[]=1&meta[a=2&meta[a]b=3", `{"meta[]":"1","meta[a":"2","meta[a]b":"3"}`},
	{"items[][n]=1", `{"items[][n]":"1"}`},
}

func TestDeepForm(t *testing.T) {
	p := deepPlan(t)
	for _, tc := range deepForms {
		if got := string(p.form(tc.text)); got != tc.want {
			t.Errorf("form(%q) = %s, want %s", tc.text, got, tc.want)
		}
	}
}

// delimitedPlan has fields whose values stand in one text.
func delimitedPlan(t testing.TB) *plan {
	t.Helper()
	yes, no := true, false
	field := func(name, style string, explode *bool, schema string) *air.Field {
		return &air.Field{Name: name, Key: name, Style: style, Explode: explode, Schema: schemaOf(t, schema)}
	}
	const ids, texts = `{"type":"array","items":{"type":"integer"}}`, `{"type":"array","items":{"type":"string"}}`
	p := &plan{op: &sim.Operation{Operation: &air.Operation{Body: &air.Body{Schema: schemaOf(t, `{}`), Fields: []*air.Field{
		field("ids", "form", &no, ids), field("tags", "", &no, texts), field("spaced", "spaceDelimited", nil, texts),
		field("piped", "pipeDelimited", &no, texts), field("again", "pipeDelimited", &yes, texts), field("each", "form", nil, ids),
		field("obj", "form", &no, `{"type":"object","properties":{"R":{"type":"integer"}}}`), field("text", "form", &no, `{"type":"string"}`),
		field("things", "form", &no, `{"type":"array","items":{"type":"object"}}`),
	}}}}}
	p.planBody(p.op.Body, nil)
	return p
}

var delimitedForms = []struct{ text, want string }{
	{"ids=1,2,3", `{"ids":[1,2,3]}`},
	{"ids=1%2C2", `{"ids":[1,2]}`},
	{"ids=1&ids=2", `{"ids":[1,2]}`},
	{"ids=7", `{"ids":[7]}`},
	{"tags=a%2Cb,c", `{"tags":["a,b","c"]}`},
	{"spaced=a+b%20c", `{"spaced":["a","b","c"]}`},
	{"piped=a|b%7Cc", `{"piped":["a","b","c"]}`},
	{"again=a|b&again=c", `{"again":["a|b","c"]}`},
	{"each=1,2", `{"each":["1,2"]}`},
	{"obj=R,100,G,200", `{"obj":{"R":100,"G":"200"}}`},
	{`obj={"R":1,"G":2}`, `{"obj":{"R":1,"G":2}}`},
	{"text=a,b", `{"text":"a,b"}`},
	{`things={"a":1,"b":2}`, `{"things":[{"a":1,"b":2}]}`},
}

func TestDelimitedForm(t *testing.T) {
	p := delimitedPlan(t)
	for _, tc := range delimitedForms {
		if got := string(p.form(tc.text)); got != tc.want {
			t.Errorf("form(%q) = %s, want %s", tc.text, got, tc.want)
		}
	}
}

var forms = []struct{ text, want string }{
	{"title=hi+there%21&count=3&live=true", `{"title":"hi there!","count":3,"live":true}`},
	{"ids=1&ids=2", `{"ids":[1,2]}`},
	{"ids=1,2", `{"ids":["1,2"]}`},
	{"title=a&title=b&x=1", `{"title":"b","x":"1"}`},
	{"count=9007199254740993&10=a&2=b", `{"count":9007199254740993,"10":"a","2":"b"}`},
	{`meta={"a":1.0}`, `{"meta":{"a":1.0}}`},
	{`meta=[1]`, `{"meta":"[1]"}`},
	{"&&=v&title", `{"":"v","title":""}`},
	{"title=%ff%zz", `{"title":"` + "\uFFFD" + `%zz"}`},
}

func TestForm(t *testing.T) {
	p := uploadPlan(t)
	for _, tc := range forms {
		if got := string(p.form(tc.text)); got != tc.want {
			t.Errorf("form(%q) = %s, want %s", tc.text, got, tc.want)
		}
	}
}

func FuzzForm(f *testing.F) {
	for _, tc := range forms {
		f.Add(tc.text)
	}
	for _, tc := range deepForms {
		f.Add(tc.text)
	}
	for _, tc := range delimitedForms {
		f.Add(tc.text)
	}
	plans := []*plan{uploadPlan(f), deepPlan(f), delimitedPlan(f)}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range plans {
			if got := p.form(text); !canon.Valid(got) {
				t.Fatalf("form(%q) = %s, no JSON", text, got)
			}
		}
	})
}

const multipartType = "multipart/form-data; boundary=BB"

var multiparts = []struct {
	name, contentType, body, want string // want "!..." is an error with that text
}{
	{"file, text, number", multipartType, "--BB\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\n\nhello\n--BB\nContent-Disposition: form-data; name=\"title\"\n\nT\n--BB\nContent-Disposition: form-data; name=\"count\"\n\n3\n--BB--\n", `{"file":"aGVsbG8=","title":"T","count":3}`},
	{"declared binary without a file name", multipartType, "--BB\nContent-Disposition: form-data; name=\"file\"\n\nx\n--BB--", `{"file":"eA=="}`},
	{"empty file name is a file", multipartType, "--BB\nContent-Disposition: form-data; name=\"title\"; filename=\"\"\n\nx\n--BB--", `{"title":"eA=="}`},
	{"JSON part keeps its text", multipartType, "--BB\nContent-Disposition: form-data; name=\"meta\"\nContent-Type: application/json\n\n{\"b\": 1.0, \"a\": 2}\n--BB--", `{"meta":{"b":1.0,"a":2}}`},
	{"bad JSON part is text", multipartType, "--BB\nContent-Disposition: form-data; name=\"meta\"\nContent-Type: application/json\n\n{bad\n--BB--", `{"meta":"{bad"}`},
	{"repeats", multipartType, "--BB\nContent-Disposition: form-data; name=\"title\"\n\na\n--BB\nContent-Disposition: form-data; name=\"title\"\n\nb\n--BB--", `{"title":["a","b"]}`},
	{"one of a declared array", multipartType, "--BB\nContent-Disposition: form-data; name=\"ids\"\n\n7\n--BB--", `{"ids":[7]}`},
	{"quoted boundary, preamble, epilogue", `multipart/form-data; boundary="BB"`, "pre\n--BB\nContent-Disposition: form-data; name=title\n\nx\n--BB--\nepi", `{"title":"x"}`},
	{"escaped name", multipartType, "--BB\nContent-Disposition: form-data; name=\"a%22b\"\n\nx\n--BB--", `{"a\"b":"x"}`},
	{"no part", multipartType, "--BB--", `{}`},
	{"no boundary", "multipart/form-data", "--BB--", `!gives no boundary`},
	{"no content type", "", "--BB--", `!no Content-Type`},
	{"text part in ISO 8859-1", multipartType, "--BB\nContent-Disposition: form-data; name=\"title\"\nContent-Type: text/plain; charset=iso-8859-1\n\n\xe9\n--BB--", `{"title":"é"}`},
	{"text part in ISO 8859-1, Charset", multipartType, "--BB\nContent-Disposition: form-data; name=\"title\"\nContent-Type: text/plain; Charset=iso-8859-1\n\n\xe9\n--BB--", `{"title":"é"}`},
	{"object as a text part", multipartType, "--BB\nContent-Disposition: form-data; name=\"meta\"\n\n{\"a\": 1.0}\n--BB--", `{"meta":{"a":1.0}}`},
	{"no object as a text part", multipartType, "--BB\nContent-Disposition: form-data; name=\"meta\"\n\n[1]\n--BB--", `{"meta":"[1]"}`},
	{"no boundary in the body", multipartType, "junk", `!the closing boundary --BB-- is missing`},
	{"ends after a boundary", multipartType, "--BB\n", `!`},
	{"ends before the last boundary", multipartType, "--BB\nContent-Disposition: form-data; name=\"title\"\n\nx\n--BB\n", `!`},
	{"cut", multipartType, "--BB\nContent-Disposition: form-data; name=\"title\"\n\nx", `!`},
}

func TestMultipart(t *testing.T) {
	p := uploadPlan(t)
	for _, tc := range multiparts {
		got, err := p.multipart(tc.contentType, []byte(strings.ReplaceAll(tc.body, "\n", "\r\n")))
		want, fails := strings.CutPrefix(tc.want, "!")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %s, %v; want an error with %q", tc.name, got, err, want)
		case !fails && (err != nil || string(got) != want):
			t.Errorf("%s: got %s, %v; want %s", tc.name, got, err, want)
		}
	}
}

func FuzzMultipart(f *testing.F) {
	for _, tc := range multiparts {
		f.Add(tc.contentType, []byte(strings.ReplaceAll(tc.body, "\n", "\r\n")))
	}
	p := uploadPlan(f)
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		if got, err := p.multipart(contentType, body); err == nil && !canon.Valid(got) {
			t.Fatalf("multipart(%q, %q) = %s, no JSON", contentType, body, got)
		}
	})
}
