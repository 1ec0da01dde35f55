package trace

// readMarks is marks.plain with SSE2, which every amd64 has: three times as fast,
// and the walk over a line spends most of its time there.
//
//go:noescape
func readMarks(block *[64]byte, m *marks)

func (m *marks) read(block *[64]byte) { readMarks(block, m) }
