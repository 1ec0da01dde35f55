package tape

import (
	"io"
	"os"

	"github.com/anvil-sim/anvil/internal/parallel"
)

// readFile reads a file; regular says that it can be read again. Pieces of a large
// one are read side by side: most of the time goes to getting the memory for it.
func readFile(file string) (data []byte, regular bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	regular = info.Mode().IsRegular()
	if size := info.Size(); regular && size > 0 && size == int64(int(size)) {
		if data = make([]byte, size); readPieces(f, data) {
			return data, regular, nil
		}
	}
	data, err = io.ReadAll(f) // no file, or one that changes while it is read
	return data, regular, err
}

// readPieces fills data from the start of a file; false when the file cannot.
func readPieces(f io.ReaderAt, data []byte) bool {
	pieces := (len(data) + partSize - 1) / partSize
	filled := make([]bool, pieces)
	parallel.Each(pieces, func() func(int) bool {
		return func(i int) bool {
			piece := data[i*partSize : min(len(data), (i+1)*partSize)]
			n, _ := f.ReadAt(piece, int64(i*partSize))
			filled[i] = n == len(piece)
			return filled[i]
		}
	})
	for _, ok := range filled {
		if !ok {
			return false
		}
	}
	return true
}
