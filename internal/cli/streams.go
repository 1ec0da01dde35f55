// Package cli is what the two programs share on the command line: the streams
// a command may use, exit codes, and the one place that prints an error.
//
// The output contract: results go to Out, everything else to Err. An error is
// printed once as "program: message", lower-case and without a final stop, with
// "hint:" lines after it that say what to do next. Colour is used on a terminal
// only, never when NO_COLOR is set.
package cli

import (
	"bufio"
	"io"
	"os"
)

// Streams is all that a command may see of its process. Tests make their own.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	// Env looks an environment variable up, as os.LookupEnv does.
	Env func(key string) (value string, ok bool)
	// IsTerminal reports whether one of the streams is a terminal; nil means
	// that none is.
	IsTerminal func(stream any) bool
}

// System returns the streams of this process.
func System() Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv, IsTerminal: isTerminal}
}

// isTerminal takes a character device for a terminal, the null device excepted:
// a wrong guess costs colour codes, no more.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Print writes a result to Out: what write writes, which need not look for errors.
// The first of them is returned, since a result that did not arrive is no success.
func (s Streams) Print(write func(w io.Writer)) error {
	w := bufio.NewWriter(s.Out)
	write(w)
	return w.Flush()
}

// Getenv is the value of an environment variable, "" when it is not set.
func (s Streams) Getenv(key string) string {
	if s.Env == nil {
		return ""
	}
	value, _ := s.Env(key)
	return value
}

// Color reports whether colour may be written to w, one of the streams: it is a
// terminal, NO_COLOR is empty (no-color.org) and TERM is not dumb.
func (s Streams) Color(w io.Writer) bool {
	return s.IsTerminal != nil && s.IsTerminal(w) && s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb"
}

// heard remembers the first error of a writer: cobra lets those of help and
// version fall.
type heard struct {
	w   io.Writer
	err error
}

func (h *heard) Write(p []byte) (int, error) {
	n, err := h.w.Write(p)
	if h.err == nil {
		h.err = err
	}
	return n, err
}
