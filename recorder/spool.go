package recorder

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
	"os"
)

// A spool holds a body while it passes: in memory, from a size on in a file without
// a name, encrypted with a key that lives in memory alone.
type spool struct {
	room   *spoolRoom
	mem    []byte
	file   *os.File
	block  cipher.Block
	stream cipher.Stream
	size   int64 // bytes kept
	seen   int64 // bytes written
	err    error // the file failed: what is kept is not whole
}

// A spoolRoom says how spools are kept.
type spoolRoom struct {
	memory int64     // bytes of a body that are held in memory
	max    int64     // bytes of a body that are kept at all
	random io.Reader // nil keeps all in memory
	dir    string
}

func (r *spoolRoom) spool() *spool { return &spool{room: r} }

// Write implements io.Writer. It never fails: what goes wrong is told when the
// spool is read, so that recording does not disturb the traffic.
func (s *spool) Write(p []byte) (int, error) {
	s.seen += int64(len(p))
	if keep := s.room.max - s.size; int64(len(p)) > keep {
		s.put(p[:keep])
	} else {
		s.put(p)
	}
	return len(p), nil
}

func (s *spool) put(p []byte) {
	if len(p) == 0 || s.err != nil {
		return
	}
	if s.file == nil && s.room.random != nil && s.size+int64(len(p)) > s.room.memory {
		if s.err = s.spill(); s.err != nil {
			return
		}
	}
	if s.file == nil {
		s.mem = append(s.mem, p...)
	} else if s.err = s.write(p); s.err != nil {
		return
	}
	s.size += int64(len(p))
}

// spill moves what is held to a file.
func (s *spool) spill() error {
	var key [32]byte
	if _, err := io.ReadFull(s.room.random, key[:]); err != nil {
		return fmt.Errorf("no key for a body on disk: %w", err)
	}
	var err error
	if s.block, err = aes.NewCipher(key[:]); err != nil {
		return err
	}
	if s.file, err = os.CreateTemp(s.room.dir, "anvil-body-*"); err != nil {
		return err
	}
	// Where the system allows it the file loses its name now, so that a kill
	// leaves nothing.
	_ = os.Remove(s.file.Name())
	s.stream = s.cipher()
	held := s.mem
	s.mem = nil
	return s.write(held)
}

// cipher starts at the beginning; the key is used for this one body.
func (s *spool) cipher() cipher.Stream {
	return cipher.NewCTR(s.block, make([]byte, aes.BlockSize))
}

func (s *spool) write(p []byte) error {
	var buf [32 << 10]byte
	for len(p) > 0 {
		n := min(len(p), len(buf))
		s.stream.XORKeyStream(buf[:n], p[:n])
		if _, err := s.file.Write(buf[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// Size implements vcr.Body.
func (s *spool) Size() int64 { return s.size }

// Open implements vcr.Body.
func (s *spool) Open() (io.Reader, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.file == nil {
		return bytes.NewReader(s.mem), nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size), 64<<10)
	return cipher.StreamReader{S: s.cipher(), R: r}, nil
}

// cut says why what is kept is not the whole body, "" when it is.
func (s *spool) cut() string {
	if s.seen > s.size {
		return fmt.Sprintf("the first %d of %d bytes were kept", s.size, s.seen)
	}
	return ""
}

func (s *spool) close() {
	if s != nil && s.file != nil {
		_ = os.Remove(s.file.Name())
		s.err = errors.Join(errors.New("the body was dropped"), s.file.Close())
		s.file = nil
	}
}
