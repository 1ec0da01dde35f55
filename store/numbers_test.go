package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Ids that a remembered number gives are those that a scan would: after deletes,
// changes, ids of the client's own, failed writes and resets.
func TestRememberedNumbers(t *testing.T) {
	const sql = `CREATE TABLE ticket (key TEXT PRIMARY KEY, project TEXT NOT NULL, n INTEGER CHECK (n < 100));
INSERT INTO ticket VALUES ('T-040', 'a', 1), ('T-041', 'b', 1);`
	with, without := openSQL(t, sql, nil), openSQL(t, sql, nil)
	without.numbers = nil
	if with.numbers == nil {
		t.Fatal("nothing is remembered")
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	used := 0
	for i := range 400 {
		c := call{n: i + 1, id: "ticket.create", body: `{"project":"a","n":` + fmt.Sprint(rnd.IntN(104)) + `}`}
		key := fmt.Sprintf(`key="T-%03d"`, 30+rnd.IntN(60))
		switch rnd.IntN(9) {
		case 0, 1:
			c.id, c.path, c.body = "ticket.delete", key, ""
		case 2:
			c.id, c.path, c.body = "ticket.update", key, `{"project":"b"}`
		case 3:
			c.body = fmt.Sprintf(`{"key":"T-%03d","project":"c"}`, 30+rnd.IntN(70))
		case 4:
			if i%10 == 0 {
				for _, db := range []*DB{with, without} {
					if err := db.Reset(context.Background(), 0); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if len(with.numbers.top) > 0 {
			used++
		}
		if got, want := show(c.do(t, with)), show(c.do(t, without)); got != want {
			t.Fatalf("call %d, %s %s %s: %s, a scan gives %s", i, c.id, c.path, c.body, got, want)
		}
	}
	if used < 50 {
		t.Errorf("a number was remembered before %d of 400 calls only", used)
	}
}
