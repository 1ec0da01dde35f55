package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, err := os.ReadFile(chinook)
	if err != nil {
		t.Fatal(err)
	}
	broken := []byte(string(whole))
	for i := 100; i < 4096; i++ {
		broken[i] = 0xA5
	}
	cases := map[string]string{
		filepath.Join(dir, "none.db"):      "the file does not exist",
		dir:                                "this is a folder, want a SQLite file",
		os.DevNull:                         "no regular file",
		write("empty.db", ""):              "the file is empty",
		write("text.db", "id,name\n1,a\n"): `begins with "id,name\n1,a\n"`,
		write("dump.sql", "CREATE TABLE t (a);\n"):   "looks like SQL text",
		write("short.db", string(whole[:20])):        "",
		write("broken.db", string(broken)):           "malformed",
		write("cut.db", string(whole[:100])):         "",
		write("noise.db", strings.Repeat("\xff", 9)): "not a SQLite database, or an encrypted one",
	}
	for path, text := range cases {
		_, err := Open(context.Background(), path, nil)
		if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, text)
		}
	}
}

// A page in the middle of the file that is damaged makes a call fail, and only it.
func TestDamagedPage(t *testing.T) {
	whole, err := os.ReadFile(chinook)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1024 * 100; i < 1024*400; i++ {
		whole[i] ^= 0x5A
	}
	path := filepath.Join(t.TempDir(), "damaged.db")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(context.Background(), path, nil)
	if err != nil {
		return // refused at once: as good
	}
	defer closeDB(t, db)
	failed := 0
	for _, table := range db.schema.tables {
		if _, err := db.Invoke(context.Background(), call{id: slug(table.name) + ".list", size: 1000}.request(t, db)); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no call noticed 300 damaged kilobytes")
	}
}

// What stands in a write-ahead log that nobody checkpointed belongs to the fixture.
func TestUncheckpointedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wal.db")
	c, err := openConn(path, accessCopy)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.exec("PRAGMA wal_autocheckpoint=0; CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'in the log')"); err != nil {
		t.Fatal(err)
	}
	before := sums(t, path)
	db := openFile(t, path, nil)
	want(t, db, call{id: "t.get", path: "id=1"}, `{"id":1,"v":"in the log"}`)
	want(t, db, call{id: "t.create", body: `{"v":"x"}`}, `{"id":2,"v":"x"}`)
	if after := sums(t, path); after != before {
		t.Error("the fixture or its log changed")
	}
}

// A rollback journal that a crashed writer left is rolled back in the copy.
func TestHotJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "live.db")
	c, err := openConn(path, accessCopy)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	// A cache of one page makes the transaction spill to the file before it ends.
	err = c.exec(`PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL; PRAGMA cache_size=1;
		CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'before');
		BEGIN IMMEDIATE; UPDATE t SET v = 'half done';
		WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i+1 FROM n WHERE i < 2000) INSERT INTO t SELECT i, hex(zeroblob(200)) FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	crashed := filepath.Join(dir, "crashed.db")
	for _, suffix := range []string{"", "-journal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(crashed+suffix, content, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	db := openFile(t, crashed, nil)
	want(t, db, call{id: "t.list", size: 2}, `1 of 1 {"id":1,"v":"before"}`)
}

// A fixture that only its owner may read, in a folder that nobody may write.
func TestReadOnlyFolder(t *testing.T) {
	path := makeFile(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)")
	dir := filepath.Dir(path)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	db := openFile(t, path, nil)
	want(t, db, call{id: "t.create"}, `{"id":1}`)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v stand beside the fixture (%v)", entries, err)
	}
}

// Many simulators use one fixture at once, each with writes of its own, and the same
// calls leave the same state in each.
func TestManyOnOneFixture(t *testing.T) {
	path := makeFile(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a')")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			db, err := Open(context.Background(), path, &Options{SaveState: filepath.Join(dir, fmt.Sprint(i))})
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 5 {
				if res := (call{id: "t.create", body: `{"v":"x"}`, n: n + 1}).do(t, db); show(res) != fmt.Sprintf(`{"id":%d,"v":"x"}`, n+2) {
					t.Errorf("%d: %s", i, show(res))
				}
			}
			closeDB(t, db)
		})
	}
	group.Wait()
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the fixture was written (%v)", err)
	}
	first, err := os.ReadFile(filepath.Join(dir, "0"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 16 {
		if state, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i))); err != nil || !bytes.Equal(state, first) {
			t.Errorf("state %d is another one (%v)", i, err)
		}
	}
}

func sums(tb testing.TB, path string) (out [2][32]byte) {
	tb.Helper()
	for i, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			tb.Fatal(err)
		}
		out[i] = sha256.Sum256(content)
	}
	return out
}

func TestNothingIsLeft(t *testing.T) {
	temp := t.TempDir()
	db, err := Open(context.Background(), chinook, &Options{TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	want(t, db, call{id: "genre.create", body: `{"Name":"Ska"}`}, `{"GenreId":26,"Name":"Ska"}`)
	empty(t, temp) // while it is in use
	closeDB(t, db)
	empty(t, temp)
	if _, err := OpenSQL(context.Background(), "nonsense", &Options{TempDir: temp}); err == nil {
		t.Error("nonsense was opened")
	}
	empty(t, temp)
}

// A killed process leaves nothing behind either.
func TestNothingIsLeftAfterKill(t *testing.T) {
	temp := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=TestHelperHoldsOpen")
	cmd.Env = append(os.Environ(), "STORE_HELPER_TEMP="+temp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("helper said %q (%v)", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	empty(t, temp)
}

// TestHelperHoldsOpen is the process that TestNothingIsLeftAfterKill kills.
func TestHelperHoldsOpen(t *testing.T) {
	temp := os.Getenv("STORE_HELPER_TEMP")
	if temp == "" {
		return
	}
	db, err := Open(context.Background(), chinook, &Options{TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	call{id: "genre.create", body: `{"Name":"Ska"}`}.do(t, db)
	os.Stdout.WriteString("open\n")
	select {}
}

func empty(tb testing.TB, dir string) {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		tb.Errorf("%s holds %v (%v)", dir, entries, err)
	}
}
