-- A few issues of one repository, enough for five pages of three.
CREATE TABLE repos (full_name TEXT PRIMARY KEY, owner TEXT NOT NULL, repo TEXT NOT NULL, name TEXT NOT NULL, private BOOLEAN NOT NULL DEFAULT 0);
INSERT INTO repos VALUES ('octo/anvil', 'octo', 'anvil', 'anvil', 0);
CREATE TABLE issues (
  number INTEGER PRIMARY KEY,
  owner TEXT NOT NULL DEFAULT 'octo',
  repo TEXT NOT NULL DEFAULT 'anvil',
  title TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
  body TEXT
);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 14)
INSERT INTO issues (number, title, state) SELECT i, 'Issue ' || i, CASE WHEN i % 5 = 0 THEN 'closed' ELSE 'open' END FROM n;
