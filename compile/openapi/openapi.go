// Package openapi reads OpenAPI 3.0 and 3.1 and Swagger 2.0 descriptions, split
// over files or not.
//
// A description is read as an ordered tree and walked; what it gets wrong in one
// place costs that place and a diagnostic, not the description.
package openapi

import (
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/pattern"
)

// methods are the methods of a path item, in the order of the specification.
var methods = map[string]bool{
	"get": true, "put": true, "post": true, "delete": true, "options": true, "head": true, "patch": true, "trace": true,
}

// Detect tells which format a document is in: openapi, swagger or "" for neither.
func Detect(tree *api.Value) string {
	switch {
	case tree.Get("openapi") != nil:
		return "openapi"
	case tree.Get("swagger") != nil:
		return "swagger"
	}
	return ""
}

// maxOperations is the most operations of one description.
const maxOperations = 50_000

type reader struct {
	files   *api.Files
	diags   *api.Diagnostics
	root    node
	v2, v31 bool
	schemas *bundle
	schemes map[string]*api.Scheme
	global  []api.Requirement
	out     *api.Description
}

// Read reads the description whose entry file is name. The error says why it is
// refused as a whole.
func Read(files *api.Files, name string, diags *api.Diagnostics) (*api.Description, error) {
	file, err := files.Get(name)
	if err != nil {
		return nil, err
	}
	file.Entry = true
	r := &reader{files: files, diags: diags, root: node{v: file.Tree, file: file}, schemes: map[string]*api.Scheme{}}
	if err := r.version(); err != nil {
		return nil, err
	}
	r.schemas = newBundle(r)
	r.info()
	components := r.root.get("components")
	if r.v2 {
		r.schemas.declare(r.root.get("definitions"))
		r.securitySchemes(r.root.get("securityDefinitions"))
	} else {
		r.schemas.declare(components.get("schemas"))
		r.securitySchemes(components.get("securitySchemes"))
	}
	r.global, _ = r.security(r.root.get("security"))
	if err := r.paths(); err != nil {
		return nil, err
	}
	r.webhooks()
	r.out.Schemas = r.schemas.finish()
	r.twice()
	return r.out, nil
}

var wantVersion = pattern.Of(`^(2\.0|3\.[01](\.\d+)?(-.*)?)$`)

// version checks the version that the document states.
func (r *reader) version() error {
	kind := Detect(r.root.v)
	if kind == "" {
		return fmt.Errorf("%s: neither openapi nor swagger stands at the top%s, want an OpenAPI 3.0 or 3.1 or a Swagger 2.0 description",
			r.root.file.Path, looksLike(r.root.file))
	}
	v := r.root.v.Get(kind)
	version := v.Text() // a number when it is not in quotes
	if !wantVersion().MatchString(version) || (kind == "swagger") != strings.HasPrefix(version, "2") {
		return fmt.Errorf("%s: %s: found %s, want swagger 2.0 or openapi 3.0 or 3.1", r.root.file.Path, kind, v)
	}
	r.v2, r.v31 = kind == "swagger", strings.HasPrefix(version, "3.1")
	r.out = &api.Description{Kind: kind}
	return nil
}

// looksLike says what a file of another format seems to be.
func looksLike(f *api.File) string {
	if what := api.Foreign(f.Data); what != "" {
		return " (it looks like " + what + ")"
	}
	return ""
}

func (r *reader) info() {
	info, _ := r.resolve(r.root.get("info"))
	r.out.Title, r.out.Description = info.text("title"), info.text("description")
	r.out.Version = info.v.Get("version").Text() // a number, where quotes were forgotten
	for i := range r.root.v.Get("tags").Elems() {
		if t := r.root.get("tags").elem(i); t.text("name") != "" {
			r.out.Tags = append(r.out.Tags, api.Tag{Name: t.text("name"), Description: t.text("description")})
		}
	}
	if r.v2 {
		r.out.Servers = r.swaggerServers()
		return
	}
	for i := range r.root.v.Get("servers").Elems() {
		s := r.root.get("servers").elem(i)
		if u := s.text("url"); u != "" {
			r.out.Servers = append(r.out.Servers, api.Server{URL: serverURL(u, s.get("variables")), Description: s.text("description")})
		}
	}
}

// serverURL fills a server's variables with their defaults.
func serverURL(u string, vars node) string {
	for _, m := range vars.v.Members() {
		if d := m.Value.Get("default"); d != nil {
			u = strings.ReplaceAll(u, "{"+m.Key+"}", d.Text())
		}
	}
	return u
}

// twice tells of the keys that stand again in one mapping: what the first of
// them said is not in the contract.
func (r *reader) twice() {
	for _, f := range r.files.All() {
		for _, k := range f.Twice {
			r.diags.Addf(api.Error, "source/duplicate_key", fmt.Sprintf("%s:%d", f.Path, k.Line),
				"line %d: the key %q stands again in one mapping, first on line %d; the last one counts", k.Line, k.Key, k.First)
		}
	}
}

// paths reads every path item.
func (r *reader) paths() error {
	paths, ok := r.resolve(r.root.get("paths"))
	switch {
	case ok && !paths.v.Is(canon.Object) && !paths.v.Is(canon.Null):
		return fmt.Errorf("%s: paths: found %s, want an object of path templates such as /pets/{id}", r.root.file.Path, kindName(paths.v))
	case !ok && r.root.v.Get("webhooks") == nil && r.root.v.Get("components") == nil && r.root.v.Get("definitions") == nil:
		return fmt.Errorf("%s: no paths, so no operations", r.root.file.Path)
	}
	for _, m := range paths.v.Members() {
		if strings.HasPrefix(m.Key, "x-") {
			continue
		}
		if !strings.HasPrefix(m.Key, "/") {
			r.diags.Addf(api.Warning, "path/relative", paths.get(m.Key).place(), "the path %q does not begin with a slash and is read as if it did", m.Key)
		}
		if err := r.pathItem(paths.get(m.Key), "/"+strings.TrimPrefix(m.Key, "/")); err != nil {
			return err
		}
	}
	if r.out.Found == 0 {
		r.diags.Addf(api.Warning, "source/no_operations", r.root.get("paths").place(), "%s", r.whyNone(paths))
	}
	return nil
}

// whyNone says why a description has no operations.
func (r *reader) whyNone(paths node) string {
	n := len(paths.v.Members())
	switch {
	case n > 0:
		return fmt.Sprintf("none of the %d path(s) has an operation: a method such as get or post, in lower case", n)
	case r.root.v.Get("webhooks") != nil || r.root.v.Get("x-webhooks") != nil:
		return "it has webhooks only, which are calls that the API makes"
	case r.root.v.Get("paths") != nil:
		return "paths is empty"
	}
	return "it has no paths, only parts for other descriptions"
}

// kindName is what a value is, for an error.
func kindName(v *api.Value) string {
	switch {
	case v.Is(canon.Array):
		return "an array"
	case v.Is(canon.String):
		return "text"
	}
	return v.String()
}

func (r *reader) pathItem(at node, path string) error {
	item, ok := r.resolve(at)
	if !ok {
		return nil
	}
	shared := r.params(item.get("parameters"))
	for _, m := range item.v.Members() {
		if !methods[m.Key] {
			continue
		}
		if r.out.Found++; r.out.Found > maxOperations {
			return fmt.Errorf("%s: more than %d operations", r.root.file.Path, maxOperations)
		}
		n, ok := r.resolve(item.get(m.Key))
		if !ok || !n.v.Is(canon.Object) {
			r.diags.Addf(api.Error, "operation/unreadable", item.get(m.Key).place(), "%s %s is not an object", strings.ToUpper(m.Key), path)
			continue
		}
		r.out.Operations = append(r.out.Operations, r.operation(n, m.Key, path, item.get("parameters"), shared))
	}
	return nil
}

// webhooks are calls that the API makes, which nobody can make to it.
func (r *reader) webhooks() {
	n := len(r.root.v.Get("webhooks").Members()) + len(r.root.v.Get("x-webhooks").Members())
	if n > 0 {
		r.diags.Addf(api.Info, "source/webhooks", r.root.get("webhooks").place(), "%d webhook(s) are not operations: the API calls them", n)
	}
}

func (r *reader) operation(n node, method, path string, list node, shared []api.Param) *api.Operation {
	op := &api.Operation{
		Method: method, Path: path, ID: strings.TrimSpace(n.text("operationId")), Pointer: n.place(),
		Summary: n.text("summary"), Description: n.text("description"), Deprecated: n.v.Get("deprecated").True(),
	}
	for _, t := range n.v.Get("tags").Elems() {
		if t.Is(canon.String) {
			op.Tags = append(op.Tags, t.Text())
		}
	}
	for _, m := range n.v.Members() {
		if strings.HasPrefix(m.Key, "x-") {
			op.Extensions = append(op.Extensions, m)
		}
	}
	op.Params = override(shared, r.params(n.get("parameters")))
	if r.v2 {
		r.swaggerBody(op, n, list)
	} else {
		r.body(op, n.get("requestBody"))
	}
	r.responses(op, n)
	op.Security = r.global
	if s, ok := r.security(n.get("security")); ok {
		op.Security = s
	}
	return op
}

// override puts an operation's own parameters over those of its path.
func override(shared, own []api.Param) []api.Param {
	var out []api.Param
	for _, s := range shared {
		kept := true
		for _, o := range own {
			kept = kept && (o.In != s.In || o.Name != s.Name)
		}
		if kept {
			out = append(out, s)
		}
	}
	return append(out, own...)
}

// params reads a list of parameters. The body and form parameters of Swagger
// 2.0 are not among them.
func (r *reader) params(list node) []api.Param {
	var out []api.Param
	for i := range list.v.Elems() {
		n, ok := r.resolve(list.elem(i))
		if !ok {
			continue
		}
		p, ok := r.param(n)
		if !ok {
			continue
		}
		out = override(out, []api.Param{p}) // the last of one name counts
	}
	return out
}

func (r *reader) param(n node) (api.Param, bool) {
	p := api.Param{
		Name: n.text("name"), In: n.text("in"), Required: n.v.Get("required").True(),
		Description: n.text("description"), Deprecated: n.v.Get("deprecated").True(),
	}
	switch p.In {
	case "path", "query", "header", "cookie":
	case "body", "formData":
		if r.v2 {
			return p, false
		}
		fallthrough
	default:
		r.diags.Addf(api.Warning, "param/in", n.place(), "a parameter in %q, want path, query, header or cookie; it is left out", p.In)
		return p, false
	}
	if p.Name == "" {
		r.diags.Addf(api.Warning, "param/name", n.place(), "a parameter without a name is left out")
		return p, false
	}
	if p.In == "header" {
		switch strings.ToLower(p.Name) {
		case "accept", "content-type", "authorization":
			return p, false // the specification says to ignore them
		}
	}
	p.Required = p.Required || p.In == "path"
	if r.v2 {
		r.swaggerParam(&p, n)
		return p, true
	}
	p.Schema = r.schemas.schema(n.get("schema"))
	if content := n.get("content"); p.Schema == nil && content.v != nil {
		p.JSON = true
		r.diags.Addf(api.Info, "param/content", n.place(), "the parameter %q is JSON text; it is taken as a string", p.Name)
	}
	p.Style, p.Explode = n.text("style"), explode(n.v)
	p.Example = r.firstExample(n)
	return p, true
}

// body reads a request body.
func (r *reader) body(op *api.Operation, at node) {
	if at.v == nil {
		return
	}
	n, ok := r.resolve(at)
	if !ok {
		return
	}
	op.BodyNeeded, op.BodyText = n.v.Get("required").True(), n.text("description")
	op.Bodies = r.contents(n.get("content"))
}

func (r *reader) contents(content node) []api.Content {
	var out []api.Content
	for _, m := range content.v.Members() {
		media, ok := r.resolve(content.get(m.Key))
		if !ok {
			continue
		}
		c := api.Content{Type: m.Key, Schema: r.schemas.schema(media.get("schema"))}
		c.Examples = r.examples(media)
		c.Styles = r.styles(media.get("encoding"))
		out = append(out, c)
	}
	return out
}

// styles are the declared styles of a form's fields.
func (r *reader) styles(encoding node) map[string]api.FieldStyle {
	styles := map[string]api.FieldStyle{}
	for _, m := range encoding.v.Members() {
		style := api.FieldStyle{Style: m.Value.Get("style").Text(), Explode: explode(m.Value)}
		if style != (api.FieldStyle{}) {
			styles[m.Key] = style
		}
	}
	return styles
}

// explode is the declared explode, nil without one.
func explode(v *api.Value) *bool {
	e := v.Get("explode")
	if !e.Is(canon.Bool) {
		return nil
	}
	yes := e.True()
	return &yes
}

// examples are the example values of a media type or a parameter, in order.
func (r *reader) examples(n node) []*api.Value {
	if e := n.v.Get("example"); e != nil {
		return []*api.Value{e}
	}
	table := n.get("examples")
	if table.v.Is(canon.Array) { // not allowed, but common
		return table.v.Elems()
	}
	var out []*api.Value
	for _, m := range table.v.Members() {
		if e, ok := r.resolve(table.get(m.Key)); ok && e.v.Get("value") != nil {
			out = append(out, e.v.Get("value"))
		}
	}
	return out
}

func (r *reader) firstExample(n node) *api.Value {
	if list := r.examples(n); len(list) > 0 {
		return list[0]
	}
	return nil
}

func (r *reader) responses(op *api.Operation, n node) {
	list := n.get("responses")
	for _, m := range list.v.Members() {
		if strings.HasPrefix(m.Key, "x-") {
			continue
		}
		resp, ok := r.resolve(list.get(m.Key))
		if !ok {
			continue
		}
		out := api.Response{Status: strings.ToUpper(m.Key), Description: resp.text("description")}
		if out.Status == "DEFAULT" {
			out.Status = "default"
		}
		if r.v2 {
			out.Contents = r.swaggerContents(resp, n)
		} else {
			out.Contents = r.contents(resp.get("content"))
		}
		out.Headers = r.headers(resp.get("headers"))
		op.Responses = append(op.Responses, out)
	}
}

func (r *reader) headers(table node) []api.Header {
	var out []api.Header
	for _, m := range table.v.Members() {
		if strings.EqualFold(m.Key, "content-type") {
			continue // the specification says to ignore it
		}
		h := api.Header{Name: m.Key}
		if n, ok := r.resolve(table.get(m.Key)); ok {
			h.Schema = r.schemas.schema(n.get("schema"))
			if r.v2 {
				h.Schema = r.inlineSchema(n)
			}
		}
		out = append(out, h)
	}
	return out
}
