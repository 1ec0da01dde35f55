package scrub

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Placeholder begins every placeholder; its number follows, in four digits, so that
// the length of a text does not depend on it.
const Placeholder = "ANVIL-SECRET-"

// minKnown is the shortest secret that is looked for everywhere: shorter ones
// would be found in innocent text.
const minKnown = 8

// A Vault gives the secrets of one recording their placeholders. It may be used by
// several goroutines at once.
type Vault struct {
	mu    sync.RWMutex
	names map[string]string // by secret
	next  int
	count int
}

// NewVault numbers placeholders from used+1.
func NewVault(used int) *Vault { return &Vault{names: map[string]string{}, next: used} }

// Placeholder is what stands for a secret.
func (v *Vault) Placeholder(secret string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.count++
	name, ok := v.names[secret]
	if !ok {
		v.next++
		name = fmt.Sprintf("%s%04d", Placeholder, v.next)
		v.names[secret] = name
	}
	return name
}

// Count is how many values were replaced, and how many different ones.
func (v *Vault) Count() (replaced, secrets int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.count, len(v.names)
}

// known is the placeholder of a secret that was seen before.
func (v *Vault) known(word []byte) (string, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	name, ok := v.names[string(word)]
	return name, ok
}

// empty reports whether nothing was seen yet.
func (v *Vault) empty() bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.names) == 0
}

func (v *Vault) counted() {
	v.mu.Lock()
	v.count++
	v.mu.Unlock()
}

// uncounted does something that replaces values which are counted elsewhere.
func (v *Vault) uncounted(do func()) {
	before, _ := v.Count()
	do()
	v.mu.Lock()
	v.count = before
	v.mu.Unlock()
}

// replaceKnown replaces words of a text that were seen as secrets before. A word
// is what stands between characters that tokens do not have; where one is longer
// than its secret (a path, a=b) the parts are tried too.
func (v *Vault) replaceKnown(text []byte) []byte {
	if v.empty() {
		return text
	}
	var out []byte
	done := 0
	for at := 0; at < len(text); {
		if !slashed.has(text[at]) {
			at++
			continue
		}
		end := at
		for end < len(text) && slashed.has(text[end]) {
			end++
		}
		v.words(text, at, end, func(from, to int, name string) {
			out = append(append(out, text[done:from]...), name...)
			done = to
		})
		at = end
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

func (v *Vault) words(text []byte, from, to int, found func(from, to int, name string)) {
	if to-from < minKnown {
		return
	}
	if name, ok := v.known(text[from:to]); ok {
		v.counted()
		found(from, to, name)
		return
	}
	for at := from; at < to; {
		end := at
		for end < to && dashed.has(text[end]) {
			end++
		}
		if end-at >= minKnown && end-at < to-from {
			if name, ok := v.known(text[at:end]); ok {
				v.counted()
				found(at, end, name)
			}
		}
		at = end + 1
	}
}

// secrets lists what was replaced, in order of first sight.
func (v *Vault) secrets() []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.SortedFunc(maps.Keys(v.names), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(v.names[a]), len(v.names[b])), cmp.Compare(v.names[a], v.names[b]))
	})
}
