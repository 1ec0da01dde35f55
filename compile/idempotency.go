package compile

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
)

// An idempotency says how a call may be repeated.
type idempotency struct{ mode, mechanism, key, derivation string }

// value is the idempotency as the contract states it.
func (i *idempotency) value() *api.Value {
	b := builder{}
	b.set("mode", i.mode)
	b.set("mechanism", i.mechanism)
	if i.key != "" {
		b.set("key", i.key)
	}
	b.set("keyDerivation", i.derivation)
	return b.object()
}

// repeatability finds out how an operation may be repeated: a read and a PUT or
// DELETE are so by nature, others by a key that the description declares.
func (c *compiler) repeatability(o *operation) idempotency {
	if o.effect.kind == "mutation" {
		if i, ok := c.declaredKey(o); ok {
			return i
		}
	}
	natural := o.effect.kind == "read" || o.src.Method == "put" || o.src.Method == "delete"
	if natural {
		return idempotency{"natural", "none", "", "none"}
	}
	return idempotency{"none", "none", "", "none"}
}

// declaredKey looks for a parameter or a body field that carries a key.
func (c *compiler) declaredKey(o *operation) (idempotency, bool) {
	for _, p := range o.src.Params {
		if (p.In == "header" || p.In == "query") && isKey(p.Name, p.Description) && c.textual(p.Schema) {
			return keyed(p.Required, p.In, p.Name), true
		}
	}
	if o.body == nil {
		return idempotency{}, false
	}
	required := c.schemas.required(o.body.Schema)
	for _, m := range c.schemas.properties(o.body.Schema) {
		if isKey(m.Key, c.schemas.deref(m.Value).Get("description").Text()) && c.textual(m.Value) {
			return keyed(required[m.Key], "body", m.Key), true
		}
	}
	return idempotency{}, false
}

func (c *compiler) textual(s *api.Value) bool {
	t := c.schemas.typ(s)
	return t == "string" || t == ""
}

func keyed(required bool, in, name string) idempotency {
	mode := "key_supported"
	if required {
		mode = "required"
	}
	return idempotency{mode, in, name, "client_supplied"}
}

// isKey reports whether a name is that of an idempotency key, or could be and
// its text says so.
func isKey(name, text string) bool {
	key := air.SnakeCase(name)
	if strings.Contains(key, "idempoten") {
		return true
	}
	if !strings.Contains(strings.ToLower(text), "idempoten") {
		return false
	}
	for _, w := range []string{"key", "token", "request_id", "client_id", "transaction_id", "reference", "nonce", "client_request"} {
		if strings.Contains(key, w) {
			return true
		}
	}
	return false
}

var retryOn = []string{"timeout", "connection_reset", "dns_failure", "http_408", "http_429", "http_500", "http_502", "http_503", "http_504"}

// retries follows from effect and idempotency.
func retries(o *operation) *api.Value {
	basis := ""
	switch {
	case o.effect.kind == "read":
		basis = "read_safe"
	case o.idem.mode == "natural":
		basis = "natural_idempotent"
	case o.idem.mode != "none":
		basis = "idempotency_key"
	default:
		return object("mode", "none", "basis", "unproven", "maxAttempts", 1, "backoff", "none", "baseDelayMs", 200, "maxDelayMs", 20000, "retryOn", []string(nil))
	}
	return object("mode", "safe", "basis", basis, "maxAttempts", 3, "backoff", "exponential_jitter", "baseDelayMs", 200, "maxDelayMs", 20000, "retryOn", retryOn)
}

// confirmation follows from risk and idempotency.
func confirmation(o *operation) *api.Value {
	if o.confirm != nil {
		return o.confirm
	}
	e := o.effect
	reason := ""
	switch {
	case e.kind != "mutation":
	case e.risk == "destructive":
		reason = "This cannot be undone."
	case e.risk == "financial":
		reason = "This moves money."
	case e.risk == "high":
		reason = "This has effects outside the API."
	case o.idem.mode == "none":
		reason = "Nothing proves that repeating this call is safe."
	}
	if reason == "" {
		return object("required", false)
	}
	return object("required", true, "risk", e.risk, "reason", reason)
}
