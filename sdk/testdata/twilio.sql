CREATE TABLE services (
  sid TEXT PRIMARY KEY,
  friendly_name TEXT NOT NULL,
  code_length INTEGER NOT NULL DEFAULT 6
);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7)
INSERT INTO services SELECT printf('VA%032d', i), 'Service ' || i, 4 + i % 4 FROM n;
