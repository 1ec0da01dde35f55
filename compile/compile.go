// Package compile makes contracts from API descriptions.
//
// A description is read by the package of its format into the model of
// compile/api; the passes here decide, conservatively, what each operation does,
// how it pages, who may call it and how it may be repeated; the result is an AIR
// document in which nothing is approved, and a diagnostic for each decision that
// a reviewer should look at. The same bytes give the same document.
package compile

import (
	"fmt"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/compile/openapi"
	"github.com/anvil-sim/anvil/compile/sample"
	"github.com/anvil-sim/anvil/internal/canon"
)

// Options say how to compile; nil stands for the zero value.
type Options struct {
	Root     string // import root; "" is the directory of the description
	Service  string // id of the service; "" makes one from the title
	Approve  string // "" approves nothing, reads the reads, all everything that can be served
	Manifest *Manifest
	Profile  *Profile
}

// A Result is a compiled contract.
type Result struct {
	Tree        *api.Value // the AIR document
	Diagnostics []api.Diagnostic
	Sources     []*api.File // the files that were read, by path
	Found       int         // operations that the description holds
	Compiled    int         // operations of the contract that stand for one of the description
	Aliases     int         // operations of the contract that answer for another one by POST
}

// Document checks the result and makes it a contract that can be served.
func (r *Result) Document() (*air.Document, error) { return air.FromTree("compiled contract", r.Tree) }

// An operation on its way through the passes.
type operation struct {
	src                       *api.Operation
	id, canonical, tool, name string
	effect                    effect
	paging                    *paging
	idem                      idempotency
	auth                      *api.Value
	confirm                   *api.Value // from a manifest
	body                      *api.Content
	output                    *api.Value
	examples                  []*api.Value
	outputText                string
	statuses                  []int
	headers                   []string
	streaming, binary         bool // of the success response
	longRunning               bool
	async                     *async
	state                     string
	notes                     []string
	capability                string
	errors                    []*api.Value // from a manifest
	projection                string       // from a manifest
	exposed                   bool
	override                  *Override
	original                  *operation // that this one answers for by another method; nil for most
}

type compiler struct {
	opts     Options
	desc     *api.Description
	diags    *api.Diagnostics
	schemas  schemas
	expander *expander
	samples  *sample.Maker
	roots    map[string]bool // named schemas that are responses
	sizes    map[*api.Value]int
	service  string
	ops      []*operation
	// envelopes are the pages with their items written out, by the schema of
	// the page: operations that answer with one page share it.
	envelopes map[*api.Value]*api.Value
	// oneMethod is true when every operation is a POST, as in RPC over HTTP.
	oneMethod bool
}

// note keeps a diagnostic of an operation.
func (c *compiler) note(o *operation, level, code, format string, args ...any) {
	c.diags.Add(api.Diagnostic{Level: level, Code: code, Operation: o.id, Path: o.src.Pointer, Message: fmt.Sprintf(format, args...)})
}

// Compile compiles the description in a file. The error says why it is refused
// as a whole: it is no description, or breaks a bound.
func Compile(path string, opts *Options) (*Result, error) { return compileRead(path, nil, opts) }

// compileRead compiles the description in a file whose data may be read already.
func compileRead(path string, data []byte, opts *Options) (*Result, error) {
	if opts == nil {
		opts = &Options{}
	}
	open := api.Open
	if data != nil {
		open = func(entry, root string) (*api.Files, string, error) { return api.OpenRead(entry, root, data) }
	}
	files, name, err := open(path, opts.Root)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	return compileFiles(files, name, opts)
}

// CompileText compiles a description that is in memory and in one file; the name
// stands in the contract and in errors.
func CompileText(name string, data []byte, opts *Options) (*Result, error) {
	if opts == nil {
		opts = &Options{}
	}
	files, err := api.Memory(name, data)
	if err != nil {
		return nil, err
	}
	return compileFiles(files, name, opts)
}

func compileFiles(files *api.Files, name string, opts *Options) (*Result, error) {
	switch opts.Approve {
	case "", "none", "reads", "all":
	default:
		return nil, fmt.Errorf("approve: found %q, want none, reads or all", opts.Approve)
	}
	diags := &api.Diagnostics{}
	desc, err := openapi.Read(files, name, diags)
	if err != nil {
		return nil, err
	}
	c := &compiler{opts: *opts, desc: desc, diags: diags, envelopes: map[*api.Value]*api.Value{}, sizes: map[*api.Value]int{}}
	if err := c.run(name); err != nil {
		return nil, err
	}
	sources := files.All()
	tree := valid(c.document(sources, name), map[*api.Value]*api.Value{})
	if err := checkSize(tree); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	aliases := len(c.ops) - len(desc.Operations)
	return &Result{Tree: tree, Diagnostics: diags.List, Sources: sources, Found: desc.Found, Compiled: len(desc.Operations), Aliases: aliases}, nil
}

// run is the passes in their order.
func (c *compiler) run(name string) error {
	c.schemas = schemas{}
	for _, m := range c.desc.Schemas {
		c.schemas[m.Key] = m.Value
	}
	c.expander = newExpander(c.schemas)
	c.samples, c.roots = sample.New(c.desc.Schemas), map[string]bool{}
	c.service = c.opts.Service
	if c.service == "" {
		c.service = c.opts.Manifest.serviceID()
	}
	if c.service == "" {
		c.service = serviceID(c.desc.Title, name)
	}
	if !validServiceID(c.service) {
		return fmt.Errorf("service id: found %q, want a slug such as my-api: lower-case letters, digits, - and _, a letter first", c.service)
	}
	c.identify()
	if err := c.opts.Manifest.match(c); err != nil {
		return err
	}
	for _, o := range c.ops {
		c.pass(o)
	}
	if err := c.asyncContracts(); err != nil {
		return err
	}
	c.capabilities()
	return c.opts.Profile.apply(c)
}

func validServiceID(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	last := s[len(s)-1]
	return last != '-' && last != '_'
}

// identify names the operations.
func (c *compiler) identify() {
	n := namer{service: c.service, ids: map[string]bool{}, tools: map[string]bool{}, declared: map[string]int{}, diags: c.diags}
	for _, o := range c.desc.Operations {
		if o.ID != "" {
			n.declared[o.ID]++
		}
	}
	c.oneMethod = len(c.desc.Operations) > 1
	for _, src := range c.desc.Operations {
		c.oneMethod = c.oneMethod && src.Method == "post"
		o := &operation{src: src}
		o.id, o.canonical, o.tool = n.name(src)
		o.name = displayName(src, o.canonical)
		c.ops = append(c.ops, o)
	}
}

// pass runs the semantic passes over one operation. What a manifest states wins
// over what is found; what follows from it is worked out afterwards.
func (c *compiler) pass(o *operation) {
	c.chooseBody(o)
	c.readOutput(o)
	if o.original != nil {
		o.follow()
	} else if m := o.src.Method; m == "get" || m == "post" && c.readsByPost(o, readNames(o.src)) {
		o.paging = c.detectPaging(o)
	}
	if o.original == nil {
		c.classify(o)
		o.idem = c.repeatability(o)
	}
	o.auth = c.auth(o.src.Security, func(level, code, format string, args ...any) { c.note(o, level, code, format, args...) })
	o.override.apply(c, o)
	if o.original != nil {
		o.follow()
	}
	c.review(o)
}

// review gives an operation its state: what is not certain waits for a reviewer.
func (c *compiler) review(o *operation) {
	o.state = "generated"
	switch {
	case badTemplate(o.src.Path):
		o.state = "blocked"
		c.note(o, api.Error, "path/template", "the path %s has braces that do not match; the operation cannot be served", o.src.Path)
	case o.effect.kind == "mutation" && o.idem.mode == "none":
		o.state = "review_required"
		o.notes = append(o.notes, "Nothing in the description proves that repeating this mutation is safe.")
		c.note(o, api.Warning, "idempotency/unproven", "a mutation that nothing proves to be repeatable; it is not retried and asks for confirmation")
	case o.effect.kind == "mutation" && o.effect.risk != "medium" || o.effect.method != "http_method":
		o.state = "review_required"
	}
	if o.override != nil && o.override.State != "" {
		o.state = o.override.State
		return
	}
	if o.state != "blocked" && (c.opts.Approve == "all" || c.opts.Approve == "reads" && o.effect.kind == "read") {
		o.state = "approved"
	}
}

func badTemplate(path string) bool {
	depth := 0
	for _, r := range path {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth < 0 || depth > 1 {
			return true
		}
	}
	return depth != 0
}

// maxDocument is what a contract may be when all that it shares is written out,
// in bytes.
const maxDocument = air.MaxSize

func checkSize(tree *api.Value) error {
	if n := size(tree, map[*api.Value]int{}); n > maxDocument {
		return fmt.Errorf("the contract would be more than %d MiB", maxDocument>>20)
	}
	return nil
}

// size estimates the text of a value; a shared part is measured once and
// counted each time.
func size(v *api.Value, done map[*api.Value]int) int {
	if !v.Is(canon.Object) && !v.Is(canon.Array) {
		return len(v.Text()) + 6
	}
	if n, ok := done[v]; ok {
		return n
	}
	n := 2
	for _, m := range v.Members() {
		n = min(n+len(m.Key)+4+size(m.Value, done), 1<<40)
	}
	for _, e := range v.Elems() {
		n = min(n+size(e, done)+1, 1<<40)
	}
	done[v] = n
	return n
}

// capabilities groups operations by their first tag.
func (c *compiler) capabilities() {
	for _, o := range c.ops {
		if len(o.src.Tags) == 0 || o.capability != "" {
			continue
		}
		if w := air.SnakeCase(o.src.Tags[0]); w != "" {
			o.capability = c.service + "." + w
		}
	}
}
