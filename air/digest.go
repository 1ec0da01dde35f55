package air

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"

	"github.com/anvil-sim/anvil/internal/canon"
)

// derived is what a document works out once, when it is first asked for.
type derived struct {
	contract     sync.Once
	contractHash string

	mu       sync.Mutex
	surfaces map[string]string
}

// ContractDigest is the SHA-256, in hexadecimal, of the canonical JSON of the
// document with its defaults filled in, unknown keys dropped and diagnostics
// left out.
func (d *Document) ContractDigest() string {
	d.derived.contract.Do(func() { d.derived.contractHash = digestByParts(d.tree) })
	return d.derived.contractHash
}

// digestByParts is [canon.Digest] of the document without its diagnostics. It
// hashes operation by operation, so that the text of a large contract is never
// in memory whole.
func digestByParts(tree *Value) string {
	members := slices.DeleteFunc(slices.Clone(tree.Members()), func(m canon.Member) bool { return m.Key == "diagnostics" })
	slices.SortFunc(members, func(a, b canon.Member) int { return canon.CompareUTF16(a.Key, b.Key) })
	h := sha256.New()
	buf := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(canon.AppendString(buf, m.Key), ':')
		if m.Key == "service" { // records is no key of the format that the digest is of
			m.Value = canon.NewObject(slices.DeleteFunc(slices.Clone(m.Value.Members()), func(m canon.Member) bool { return m.Key == "records" })...)
		}
		if !m.Value.Is(canon.Array) {
			buf = canon.AppendDigestForm(buf, m.Value)
			continue
		}
		buf = append(buf, '[')
		for j, e := range m.Value.Elems() {
			if j > 0 {
				buf = append(buf, ',')
			}
			buf = canon.AppendDigestForm(buf, e)
			h.Write(buf)
			buf = buf[:0]
		}
		buf = append(buf, ']')
	}
	h.Write(append(buf, '}'))
	return hex.EncodeToString(h.Sum(nil))
}

// SurfaceDigest is the SHA-256, in hexadecimal, of what a client sees of the
// approved operations of a capability, "" or the service's id for all of them;
// "" for a capability that the contract does not list. An exposure profile does
// not narrow it.
func (d *Document) SurfaceDigest(capability string) string {
	if capability == "" {
		capability = d.Service.ID
	}
	d.derived.mu.Lock()
	defer d.derived.mu.Unlock()
	if sum, ok := d.derived.surfaces[capability]; ok {
		return sum
	}
	operations, err := d.operations(capability, false)
	if err != nil {
		return ""
	}
	slices.SortStableFunc(operations, func(a, b *Operation) int { return canon.CompareUTF16(a.ID, b.ID) })
	list := make([]*Value, len(operations))
	var h hasher
	for i, o := range operations {
		list[i] = o.signature(&h)
	}
	sum := canon.Digest(object("capabilityId", canon.NewString(capability), "operations", canon.NewArray(list...)))
	if d.derived.surfaces == nil {
		d.derived.surfaces = map[string]string{}
	}
	d.derived.surfaces[capability] = sum
	return sum
}

// A hasher takes digests and keeps its buffer.
type hasher struct{ buf []byte }

func (h *hasher) digest(v *Value) *Value {
	h.buf = canon.AppendDigestForm(h.buf[:0], v)
	sum := sha256.Sum256(h.buf)
	return canon.NewString(hex.EncodeToString(sum[:]))
}

func (o *Operation) signature(h *hasher) *Value {
	effect, retries := o.tree.Get("effect"), o.tree.Get("retries")
	output := o.OutputSchema
	if output == nil {
		output = canon.NewObject()
	}
	errs := slices.Clone(o.tree.Get("errors").Elems())
	slices.SortStableFunc(errs, func(a, b *Value) int { return canon.CompareUTF16(str(a, "code"), str(b, "code")) })
	return object(
		"id", canon.NewString(o.ID),
		"publicName", canon.NewString(o.ToolName),
		"inputSchemaDigest", h.digest(o.InputSchema()),
		"outputSchemaDigest", h.digest(output),
		"errorSchemaDigest", h.digest(canon.NewArray(errs...)),
		"effectDigest", h.digest(object(
			"kind", effect.Get("kind"), "action", effect.Get("action"),
			"risk", effect.Get("risk"), "reversible", effect.Get("reversible"),
			"idempotency", o.tree.Get("idempotency"),
			"retries", object("mode", retries.Get("mode"), "basis", retries.Get("basis")),
			"confirmation", object("required", o.tree.Get("confirmation").Get("required")),
		)),
		"authDigest", h.digest(o.tree.Get("auth")),
	)
}

// object makes an object of keys and values in turn; a nil value is left out.
func object(keysAndValues ...any) *Value {
	members := make([]canon.Member, 0, len(keysAndValues)/2)
	for i := 0; i < len(keysAndValues); i += 2 {
		v, _ := keysAndValues[i+1].(*Value)
		members = append(members, canon.Member{Key: keysAndValues[i].(string), Value: v})
	}
	return canon.NewObject(members...)
}
