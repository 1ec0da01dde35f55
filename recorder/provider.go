package recorder

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/wholefile"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/recorder/scrub"
	"github.com/anvil-sim/anvil/recorder/vcr"
)

// ProviderSchema is the value of the key "schema" of each line of a provider
// recording.
const ProviderSchema = "anvil.provider.recording/v1"

// A Provider keeps what passes a provider: one JSON line a call, {"schema",
// "request", "answer"}, with "error" {"code", "message"} in place of the answer when
// the provider could not answer. A line is on the disk before the caller has the
// answer.
type Provider struct {
	next  provider.Provider
	scrub *scrub.Scrubber
	warn  func(error)

	mu      sync.Mutex
	path    string
	f       *os.File
	end     int64  // of the last whole line
	fixed   int64  // what was there when the file was opened
	begun   uint64 // calls so far
	lines   []providerLine
	refused int
}

// A providerLine is one line that this Provider wrote.
type providerLine struct {
	order        uint64 // of the call's arrival
	offset, size int64
}

// NewProvider records what next answers to the file path. The options Append,
// Replace, Rules, Contract and Warn count.
func NewProvider(next provider.Provider, path string, opts *Options) (*Provider, error) {
	if opts == nil {
		opts = &Options{}
	}
	rules, err := WithCarriers(opts.Rules, opts.Contract)
	if err != nil {
		return nil, err
	}
	rules.Fields = slices.Concat(rules.Fields, rules.Headers, rules.Query) // parameters are members here
	if err := rules.Prepare(); err != nil {
		return nil, err
	}
	p := &Provider{next: next, path: path, warn: opts.Warn}
	if p.warn == nil {
		p.warn = func(error) {}
	}
	used, err := p.open(opts)
	if err != nil {
		return nil, err
	}
	p.scrub = scrub.New(rules, scrub.NewVault(used))
	return p, nil
}

// open finds the end of what is there; used is the highest placeholder.
func (p *Provider) open(opts *Options) (used int, err error) {
	flags := os.O_RDWR | os.O_CREATE
	if !opts.Append && !opts.Replace {
		flags |= os.O_EXCL
	}
	if p.f, err = os.OpenFile(p.path, flags, 0o644); err != nil {
		if errors.Is(err, os.ErrExist) {
			err = fmt.Errorf("%s: %w", p.path, vcr.ErrExists)
		}
		return 0, err
	}
	if err := vcr.Lock(p.f); err != nil {
		return 0, errors.Join(err, p.f.Close())
	}
	if opts.Replace && !opts.Append {
		err = p.f.Truncate(0)
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(p.f)
	}
	if err == nil && len(data) > 0 && !strings.Contains(string(data[:min(len(data), 4096)]), ProviderSchema) {
		err = fmt.Errorf("%s: found no provider recording, want lines of %s", p.path, ProviderSchema)
	}
	if err != nil {
		return 0, errors.Join(err, p.f.Close())
	}
	// A line without its end is what a killed recorder left.
	p.end = int64(bytes.LastIndexByte(data, '\n') + 1)
	p.fixed = p.end
	return vcr.HighestPlaceholder(data), p.f.Truncate(p.end)
}

// Initialize implements provider.Initializer.
func (p *Provider) Initialize(ctx context.Context, params *provider.InitializeParams) (*provider.InitializeResult, error) {
	if next, ok := p.next.(provider.Initializer); ok {
		return next.Initialize(ctx, params)
	}
	return nil, nil
}

// Invoke implements provider.Provider.
func (p *Provider) Invoke(ctx context.Context, req *provider.Request) (*provider.Response, error) {
	p.mu.Lock()
	p.begun++
	order := p.begun
	p.mu.Unlock()
	asked := req.AppendJSON(nil)
	resp, err := p.next.Invoke(ctx, req)
	if ctx.Err() != nil {
		return resp, err // the caller is gone, and what came is no answer
	}
	if failed := p.keep(order, asked, resp, err); failed != nil {
		p.warn(fmt.Errorf("%s (%s) is not in the recording: %w", req.RequestID, req.OperationID, failed))
	}
	return resp, err
}

func (p *Provider) keep(order uint64, asked []byte, resp *provider.Response, failure error) error {
	line := append([]byte(`{"schema":"`+ProviderSchema+`","request":`), p.scrub.Body("application/json", asked)...)
	var malformed *provider.MalformedError
	switch {
	case errors.As(failure, &malformed) && malformed.Raw != nil:
		line = append(append(line, `,"answer":`...), p.scrub.Body("application/json", malformed.Raw)...)
	case failure != nil || resp == nil:
		line = append(append(line, `,"error":`...), p.scrub.Body("application/json", errorJSON(failure))...)
	default:
		line = append(append(line, `,"answer":`...), p.scrub.Body("application/json", resp.AppendJSON(nil))...)
	}
	line = append(line, '}')
	line, err := canon.AppendCompact(nil, line, canon.Lenient)
	if err != nil {
		return err
	}
	if found := p.scrub.ScanText("line", line); len(found) > 0 {
		p.mu.Lock()
		p.refused++
		p.mu.Unlock()
		return &RefusedError{"invoke", strconv.FormatUint(order, 10), found}
	}
	return p.write(order, append(line, '\n'))
}

func errorJSON(err error) json.RawMessage {
	code, message := provider.UpstreamUnavailable, "the provider returned neither an answer nor an error"
	var transport *provider.TransportError
	switch {
	case errors.As(err, &transport):
		code, message = transport.Code, transport.Message
	case err != nil:
		message = err.Error()
	}
	out := canon.AppendString([]byte(`{"code":`), string(code))
	return append(canon.AppendString(append(out, `,"message":`...), message), '}')
}

func (p *Provider) write(order uint64, line []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil {
		return errors.New(p.path + " is closed")
	}
	if _, err := p.f.WriteAt(line, p.end); err != nil {
		return errors.Join(err, p.f.Truncate(p.end))
	}
	if err := p.f.Sync(); err != nil {
		return err
	}
	p.lines = append(p.lines, providerLine{order, p.end, int64(len(line))})
	p.end += int64(len(line))
	return nil
}

// Close implements provider.Closer: the lines are put in the order in which the
// calls came, and next is closed.
func (p *Provider) Close(ctx context.Context) error {
	err := p.closeFile()
	if next, ok := p.next.(provider.Closer); ok {
		err = errors.Join(err, next.Close(ctx))
	}
	return err
}

func (p *Provider) closeFile() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil {
		return nil
	}
	var err error
	byOrder := func(a, b providerLine) int { return cmp.Compare(a.order, b.order) }
	if !slices.IsSortedFunc(p.lines, byOrder) {
		slices.SortFunc(p.lines, byOrder)
		err = wholefile.Write(p.path, func(w io.Writer) error {
			n := vcr.NewNumberer(w)
			if _, err := io.Copy(n, io.NewSectionReader(p.f, 0, p.fixed)); err != nil {
				return err
			}
			for _, l := range p.lines {
				if _, err := io.Copy(n, io.NewSectionReader(p.f, l.offset, l.size)); err != nil {
					return err
				}
			}
			return n.Flush()
		})
	}
	err = errors.Join(err, p.f.Close())
	p.f = nil
	return err
}

// Summary is what the recording came to: calls, lines written and refused,
// redactions.
func (p *Provider) Summary() Summary {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Summary{Calls: int(p.begun), Written: len(p.lines), Refused: p.refused}
	s.Redactions, s.Secrets = p.scrub.Count()
	return s
}
