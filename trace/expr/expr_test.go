package expr

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/trace"
)

const line = `{"schema":"anvil.simulator.trace/v1","seq":3,"requestId":"r3","transport":"http","tool":"t_get","operationId":"t.get",` +
	`"request":{"method":"POST","path":"/t/1","query":{"q":["a"]},"headers":{"x-anvil-principal":"bob"},"body":{"n":9007199254740993,"f":1.50,"w":2.0}},` +
	`"normalized":null,"provider":null,"result":{"ok":false,"error":{"code":"conflict"}},"status":409,"response":{"items":[{"id":"a"},{"id":"b"}]}}`

func TestPrograms(t *testing.T) {
	env, err := NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		source string
		want   bool
		err    string
	}{
		{`status == 409`, true, ""},
		{`status >= 400 && request.path.startsWith("/t")`, true, ""},
		{`size(response.items) == 2 && response.items.all(i, i.id != "")`, true, ""},
		{`request.body.n == 9007199254740993`, true, ""},
		{`request.body.n == 9007199254740992`, false, ""},
		{`request.body.f > 1 && request.body.w == 2`, true, ""},
		{`code == "conflict" && principal == "bob" && method == "POST" && write`, true, ""},
		{`kind == null && tenant == null && normalized == null`, true, ""},
		{`has(response.items) && !has(response.other)`, true, ""},
		{`headers == null`, true, ""},
		{`entry.tool == tool`, true, ""},
		{`response.other == 1`, false, "no such key: other"},
		{`response.items`, false, "gives list, want true or false"},
	}
	for _, tt := range tests {
		p, err := env.CompileBool(tt.source)
		if err != nil {
			t.Errorf("%s: %v", tt.source, err)
			continue
		}
		var v trace.View
		for range 2 {
			v.Reset([]byte(line))
			got, err := p.True(&v)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: got %v, %v", tt.source, got, err)
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	env, err := NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		`statsu == 1`: `expression "statsu == 1", column 1: undeclared reference to 'statsu'`,
		`status ==`:   `column 10: Syntax error`,
		`size(tool)`:  `gives int, want true or false`,
		`"a"`:         `gives string, want true or false`,
	} {
		if _, err := env.CompileBool(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestLongSourcesAreClipped(t *testing.T) {
	env, err := NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat(`tool == "é" || `, 60)
	for source, want := range map[string]string{
		long + `statsu == 1 || ` + long + `true`: `|| statsu == 1 || tool == "é"`,
		`statsu == 1 || ` + long + `true`:        `"statsu == 1 || tool`,
		long + `statsu == 1`:                     `|| statsu == 1", column 901:`,
		long + `size(tool)`:                      `...`,
	} {
		_, err := env.CompileBool(source)
		if err == nil || len(err.Error()) > 400 || !strings.Contains(strings.ReplaceAll(err.Error(), `\`, ""), want) {
			t.Errorf("got %.500v, want %s", err, want)
		}
	}
}

func TestALoopEnds(t *testing.T) {
	env, err := NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	var v trace.View
	v.Reset([]byte(line))
	for _, source := range []string{
		`lists.range(999).all(a, lists.range(999).all(b, sets.contains(lists.range(999), lists.range(999))))`,
		`sets.contains(lists.range(9000), lists.range(9000))`,
	} {
		p, err := env.CompileBool(source)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.True(&v); !Limited(err) {
			t.Errorf("%s: %v, want an error that is Limited", source, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`status == 409`)
	f.Add(`response.items.map(x, x.id)[0] == "a"`)
	f.Add(`request.body.f / 0.0 > 1.0 ? true : false`)
	env, err := NewEnv()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, source string) {
		p, err := env.CompileBool(source)
		if err != nil {
			return
		}
		var v trace.View
		v.Reset([]byte(line))
		_, _ = p.True(&v)
	})
}
