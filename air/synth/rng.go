package synth

// Rng is the specification's pseudo-random stream, mulberry32. It is a small
// value: a copy goes on from the same place. It is not safe for several
// goroutines at once, and no source of secrets.
type Rng struct {
	state uint32
}

// NewRng returns the stream of a seed.
func NewRng(seed uint32) *Rng { return &Rng{state: seed} }

// next draws 32 bits.
func (r *Rng) next() uint32 {
	r.state += 0x6D2B79F5
	t := r.state
	t = (t ^ t>>15) * (t | 1)
	t ^= t + (t^t>>7)*(t|61)
	return t ^ t>>14
}

// Float draws a number in [0, 1), a multiple of 2^-32.
func (r *Rng) Float() float64 { return float64(r.next()) / (1 << 32) }

// Int draws a number in [0, n), 0 when n is 0 or less. It takes a draw in
// either case.
func (r *Rng) Int(n int) int {
	return int(r.Float() * float64(max(n, 0)))
}

// Token draws n lower-case hexadecimal digits, one draw each.
func (r *Rng) Token(n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, max(n, 0))
	for i := range b {
		b[i] = digits[r.next()>>28] // the first of 16 equal parts, as Int(16)
	}
	return string(b)
}
