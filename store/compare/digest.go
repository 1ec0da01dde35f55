package compare

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/anvil-sim/anvil/store/fixture"
)

// A Digest is the content hash of a database.
type Digest struct {
	Sum    string        // SHA-256 in hexadecimal, of all below
	Schema string        // of views and triggers
	Tables []TableDigest // by name
}

// A TableDigest is the content hash of one table: its schema and its rows.
type TableDigest struct {
	Name string
	Sum  string
	Rows int
}

// Sum reads a whole database and hashes its content.
func Sum(ctx context.Context, db *fixture.DB) (*Digest, error) {
	schema, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	all := hasher{h: sha256.New()}
	all.text("anvil fixture digest 1")
	objects := hasher{h: sha256.New()}
	for _, line := range objectFacts(schema) {
		objects.text(line)
	}
	d := &Digest{Schema: objects.sum()}
	all.text(d.Schema)
	for _, t := range schema.Tables {
		td, err := sumTable(ctx, db, t)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", t.Name, err)
		}
		d.Tables = append(d.Tables, td)
		all.text(td.Sum)
	}
	d.Sum = all.sum()
	return d, nil
}

func sumTable(ctx context.Context, db *fixture.DB, t *fixture.Table) (TableDigest, error) {
	d := TableDigest{Name: t.Name}
	h := hasher{h: sha256.New()}
	h.text(t.Name)
	for _, line := range facts(t) {
		h.text(line)
	}
	rows, err := db.Ordered(ctx, t, stored(t), t.Keyed())
	if err != nil {
		return d, err
	}
	for {
		vals, err := rows.Next()
		if err == io.EOF {
			d.Sum = h.sum()
			return d, rows.Close()
		}
		if err != nil {
			rows.Close()
			return d, err
		}
		d.Rows++
		h.row(vals)
	}
}

func stored(t *fixture.Table) (cols []int) {
	for i, c := range t.Columns {
		if !c.Generated {
			cols = append(cols, i)
		}
	}
	return cols
}

// A hasher hashes values so that no two sequences are spelled alike: each has
// its type and length before it.
type hasher struct {
	h   hash.Hash
	buf []byte
}

// flushAt is how much is gathered before it is hashed.
const flushAt = 16 << 10

func (h *hasher) text(s string) {
	h.buf = binary.AppendUvarint(append(h.buf, 't'), uint64(len(s)))
	h.buf = append(h.buf, s...)
	h.flush(flushAt)
}

func (h *hasher) row(vals []fixture.Value) {
	h.buf = append(h.buf, 'r')
	for _, v := range vals {
		switch v := v.(type) {
		case int64:
			h.buf = binary.BigEndian.AppendUint64(append(h.buf, 'i'), uint64(v))
		case float64:
			h.buf = binary.BigEndian.AppendUint64(append(h.buf, 'f'), math.Float64bits(v+0)) // -0 as 0
		case string:
			h.text(v)
		case []byte:
			h.buf = binary.AppendUvarint(append(h.buf, 'b'), uint64(len(v)))
			h.buf = append(h.buf, v...)
		default:
			h.buf = append(h.buf, 'n')
		}
	}
	h.flush(flushAt)
}

func (h *hasher) flush(limit int) {
	if len(h.buf) >= limit {
		h.h.Write(h.buf)
		h.buf = h.buf[:0]
	}
}

func (h *hasher) sum() string {
	h.flush(0)
	return hex.EncodeToString(h.h.Sum(nil))
}
