package air

import (
	"bytes"
	"compress/gzip"
	"testing"
)

// TestZipBomb: a small file that unzips to more than the limit is refused.
func TestZipBomb(t *testing.T) {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(make([]byte, 3<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := unzip("bomb.gz", buf.Bytes(), 2<<20)
	if err == nil || err.Error() != "bomb.gz: more than 2 MiB of text" {
		t.Errorf("error %v", err)
	}
	if out, err := unzip("fits.gz", buf.Bytes(), 3<<20); err != nil || len(out) != 3<<20 {
		t.Errorf("%d bytes, error %v", len(out), err)
	}
}
