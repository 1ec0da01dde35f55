package dump

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDetect(t *testing.T) {
	tests := []struct {
		text string
		want Dialect
	}{
		{"CREATE TABLE t(a);", SQLite},
		{"PRAGMA foreign_keys=OFF;\nBEGIN;", SQLite},
		{"CREATE TABLE `t` (`a` int) ENGINE=InnoDB;", MySQL},
		{"-- MySQL dump 10.13", MySQL},
		{"USE `x`; CREATE TABLE `t` (a int);", MySQL},
		{"--\n-- PostgreSQL database dump\n--", Postgres},
		{"COPY t (a) FROM stdin;\n1\n\\.\n", Postgres},
	}
	for _, tt := range tests {
		if got := Detect([]byte(tt.text)); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestTables(t *testing.T) {
	tests := []struct {
		name    string
		dialect Dialect
		text    string
		want    string // the tables and indexes
	}{
		{"MySQL", MySQL, "CREATE TABLE IF NOT EXISTS `shop`.`it``em` (\n `id` int(11) unsigned NOT NULL AUTO_INCREMENT COMMENT 'a, (b)',\n" +
			"`on` tinyint(1) DEFAULT '1', `kind` enum('a','b''c') CHARACTER SET utf8 NOT NULL DEFAULT 'a', `price` decimal(10,2) DEFAULT -1.50,\n" +
			"`at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP(6), `raw` varbinary(16), `doc` json DEFAULT NULL,\n" +
			"`owner` bigint(20), PRIMARY KEY (`id`), UNIQUE KEY `u` (`kind`(10),`price`), KEY `k` (`owner`), FULLTEXT KEY `f` (`kind`),\n" +
			"CONSTRAINT `fk` FOREIGN KEY (`owner`) REFERENCES `user` (`id`) ON DELETE SET NULL ON UPDATE NO ACTION\n) ENGINE=InnoDB /*!50100 PARTITION BY HASH(id) */;",
			`CREATE TABLE "it` + "`" + `em" (
  "id" INTEGER PRIMARY KEY,
  "on" BOOLEAN DEFAULT 1,
  "kind" TEXT NOT NULL DEFAULT 'a' CHECK ("kind" IN ('a', 'b''c')),
  "price" NUMERIC(10,2) DEFAULT -1.50,
  "at" TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "raw" BLOB,
  "doc" JSON,
  "owner" BIGINT,
  UNIQUE ("kind", "price"),
  FOREIGN KEY ("owner") REFERENCES "user" ("id") ON DELETE SET NULL
)
k on it` + "`" + `em [owner] false`},
		{"MySQL keys added later", MySQL, "CREATE TABLE `t` (`id` int(11) NOT NULL, `key` varchar(9)) ENGINE=x; ALTER TABLE `t` ADD PRIMARY KEY (`id`), ADD KEY `i` (`key`); ALTER TABLE `t` MODIFY `id` int(11) NOT NULL AUTO_INCREMENT;",
			`CREATE TABLE "t" (
  "id" INTEGER PRIMARY KEY,
  "key" VARCHAR(9)
)
i on t [key] false`},
		{"MySQL columns called like keywords", MySQL, "CREATE TABLE t (key varchar(9), `check` int, `primary` int) ENGINE=x;",
			`CREATE TABLE "t" (
  "key" VARCHAR(9),
  "check" INTEGER,
  "primary" INTEGER
)`},
		{"PostgreSQL", Postgres, "CREATE TYPE mood AS ENUM ('ok', 'bad'); CREATE DOMAIN pos AS integer CHECK (VALUE > 0);\n" +
			"CREATE TABLE public.t (id integer DEFAULT nextval('s'::regclass) NOT NULL, m mood DEFAULT 'ok'::mood, n pos, a text[], ts timestamp with time zone DEFAULT now(),\n" +
			" ok boolean DEFAULT true, v character varying(45) NOT NULL, CONSTRAINT c CHECK (n > (1 + 2)), u uuid);\nALTER TABLE ONLY public.t ADD CONSTRAINT pk PRIMARY KEY (id);\n" +
			"ALTER TABLE ONLY t ADD CONSTRAINT f FOREIGN KEY (n) REFERENCES public.o(id) ON DELETE CASCADE; CREATE UNIQUE INDEX i ON public.t USING btree (v, u); CREATE INDEX j ON t USING gin (a); CREATE INDEX e ON t (lower(v));\n" +
			"CREATE FUNCTION f() RETURNS int AS $_$ SELECT 1; $_$ LANGUAGE sql;",
			`CREATE TABLE "t" (
  "id" INTEGER PRIMARY KEY,
  "m" TEXT DEFAULT 'ok' CHECK ("m" IN ('ok', 'bad')),
  "n" INTEGER,
  "a" JSON,
  "ts" TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  "ok" BOOLEAN DEFAULT 1,
  "v" VARCHAR(45) NOT NULL,
  "u" UUID,
  FOREIGN KEY ("n") REFERENCES "o" ("id") ON DELETE CASCADE
)
i on t [v u] true`},
		{"inheritance", Postgres, "CREATE TABLE a (x integer, y text); CREATE TABLE b (z integer) INHERITS (a);",
			`CREATE TABLE "a" (
  "x" INTEGER,
  "y" TEXT
)
CREATE TABLE "b" (
  "x" INTEGER,
  "y" TEXT,
  "z" INTEGER
)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Read([]byte(tt.text), tt.dialect)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range s.Tables {
				got = append(got, x.SQL())
			}
			for _, i := range s.Indexes {
				got = append(got, fmt.Sprintf("%s on %s %v %v", i.Name, i.Table, i.Columns, i.Unique))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRows(t *testing.T) {
	tests := []struct {
		name    string
		dialect Dialect
		text    string
		want    string
	}{
		{"MySQL", MySQL, "CREATE TABLE `t` (`a` int, `b` text, `c` tinyint(1), `d` blob, `e` datetime, `f` date) ENGINE=x;\n" +
			"INSERT INTO `t` VALUES (1,'it\\'s \\\"x\\\" \\n \\\\ '' ;',TRUE,0xAB01,'2021/1/2','2021-1-2'),\n(-2,NULL,'0',_binary 'x\\0y','2021-01-02 3:4:5',NULL);\n" +
			"REPLACE INTO t (b, a) VALUES (N'é', 1.50), (\"q\", b'101');\nDELIMITER ;;\nCREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a = 1; END;;\nDELIMITER ;\nINSERT INTO t (a) VALUES (3);",
			`2 t [] 1 "it's \"x\" \n \\ ' ;" 1 x:"\xab\x01" "2021-01-02 00:00:00" "2021-01-02"
3 t [] -2 <nil> "0" x:"x\x00y" "2021-01-02 03:04:05" <nil>
4 t [b a] "é" 1.5
4 t [b a] "q" 5
8 t [a] 3`},
		{"PostgreSQL", Postgres, "CREATE TABLE t (a integer, b text, c boolean, d bytea, e text[], f numeric);\n" +
			"INSERT INTO public.t (a, b) VALUES (1, E'x\\ny'), (2, 'a\\b'::text);\nCOPY t (a, b, c, d, e) FROM stdin;\n1\tx\\ty\\\\\tt\t\\\\xAB\t{a,\"b,\\\\\"c\",NULL}\n\\N\t\tf\t\\N\t\\N\n\\.\n" +
			"INSERT INTO t (f) VALUES (123456789012345678901234567890);",
			`2 t [a b] 1 "x\ny"
2 t [a b] 2 "a\\b"
4 t [a b c d e] "1" "x\ty\\" 1 x:"\xab" "[\"a\",\"b,\\\"c\",null]"
5 t [a b c d e] <nil> "" 0 <nil> <nil>
7 t [f] 1.2345678901234568e+29`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Read([]byte(tt.text), tt.dialect)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			err = s.Rows(func(r *Row) error {
				line := fmt.Sprintf("%d %s %v", r.Line, r.Table, r.Columns)
				for _, v := range r.Values {
					switch v := v.(type) {
					case string:
						line += fmt.Sprintf(" %q", v)
					case []byte:
						line += fmt.Sprintf(" x:%q", v)
					default:
						line += fmt.Sprintf(" %v", v)
					}
				}
				got = append(got, line)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name    string
		dialect Dialect
		text    string
		want    string
	}{
		{"no end of a text", MySQL, "INSERT INTO t VALUES\n ('a\\');", "line 2, column 3: a ' has no end"},
		{"no end of a comment", MySQL, "/* x", "line 1, column 1: a comment has no end"},
		{"no end of a dollar text", Postgres, "CREATE FUNCTION f() AS $x$ y", "line 1, column 24: a $x$ has no end"},
		{"a table twice", MySQL, "CREATE TABLE a (x int);\nCREATE TABLE A (x int);", `line 2, column 14: the table "A" is made twice`},
		{"no columns", MySQL, "CREATE TABLE a ();", `line 1, column 14: the table "a" has no columns`},
		{"no name", MySQL, "CREATE TABLE (a int);", `line 1, column 14: found "(", want a name`},
		{"a key of no column", MySQL, "CREATE TABLE a (x int, PRIMARY KEY (y));", `the key of "a" names "y"`},
		{"a select", MySQL, "CREATE TABLE a (x int); INSERT INTO a SELECT 1;", `found "SELECT", want VALUES`},
		{"no parent", Postgres, "CREATE TABLE a (x integer) INHERITS (b);", `inherits from "b", which is not made before`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Read([]byte(tt.text), tt.dialect)
			if err == nil {
				err = s.Rows(func(*Row) error { return nil })
			}
			var e *Error
			if err == nil || !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestStatements(t *testing.T) {
	const text = "-- a; b\nCREATE TABLE [a b](x); create unique index i on t(x);\nCREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN\n UPDATE t SET x = CASE WHEN 1 THEN 2 END; SELECT ';';\nEND;\nINSERT INTO t VALUES ('it''s; x'); /* ; */;;SELECT 1"
	var got []string
	err := Statements([]byte(text), func(s Statement) error {
		got = append(got, fmt.Sprintf("%d %s %q", s.Line, s.Verb, s.Table))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`2 CREATE TABLE "a b"`, `2 CREATE INDEX ""`, `3 CREATE TRIGGER ""`, `6 INSERT ""`, `6 SELECT ""`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzRead: no text makes the reader panic or hang, and every error has a place.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"CREATE TABLE `t` (`a` int(11) NOT NULL DEFAULT '1', KEY `k` (`a`)) ENGINE=x; INSERT INTO `t` VALUES (1),('x');",
		"CREATE TABLE t (a character varying(3)[] DEFAULT ('x'::text)); COPY t (a) FROM stdin;\n{a}\n\\.\nALTER TABLE t ADD CONSTRAINT c CHECK ((a));",
		"CREATE TABLE a(x) INHERITS (a); CREATE INDEX i ON a (x", "DELIMITER //\n", "INSERT INTO t VALUES (", "CREATE TABLE t (a int DEFAULT", "ALTER TABLE",
	} {
		f.Add(s, uint8(1))
		f.Add(s, uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, dialect uint8) {
		d := Dialect(dialect % 3)
		s, err := Read([]byte(text), d)
		if err == nil {
			for _, x := range s.Tables {
				x.SQL()
			}
			err = s.Rows(func(*Row) error { return nil })
		}
		if err == nil {
			err = Statements([]byte(text), func(Statement) error { return nil })
		}
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Column < 1) {
			t.Fatalf("%q: %v has no place", text, err)
		}
	})
}
