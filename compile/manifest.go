package compile

import "github.com/anvil-sim/anvil/compile/api"

// A Manifest is what a reviewer states about a description.
type Manifest struct{}

func (m *Manifest) serviceID() string       { return "" }
func (m *Manifest) match(c *compiler) error { return nil }
func (m *Manifest) servers() []api.Server   { return nil }

// An Override is what a manifest states about one operation.
type Override struct{ State string }

func (o *Override) apply(c *compiler, op *operation) {}

// A Profile selects the operations that are exposed.
type Profile struct{}

func (p *Profile) apply(c *compiler) error      { return nil }
func (p *Profile) value(c *compiler) *api.Value { return nil }
