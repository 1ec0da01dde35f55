// Package synth makes seeded values from a JSON Schema: the bodies of the
// built-in store. The same seed and label give the same bytes.
package synth
