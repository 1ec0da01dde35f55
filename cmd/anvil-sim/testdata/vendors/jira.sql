INSERT INTO user (accountId, accountType, emailAddress, displayName, active) VALUES
  ('5b10a2844c20165700ede21g', 'atlassian', 'mia@example.com', 'Mia Krystof', 1),
  ('5b10a0effa615349cb016cd8', 'atlassian', 'emma@example.com', 'Emma Richards', 1),
  ('5b10ac8d82e05b22cc7d4ef5', 'app', NULL, 'Robot', 0);
INSERT INTO project (id, key, name, description, leadAccountId, projectTypeKey, archived, simplified) VALUES
  ('10000', 'EX', 'Example', 'The example project', '5b10a2844c20165700ede21g', 'software', 0, 1),
  ('10001', 'ABC', 'Alphabetical', 'Letters', '5b10a0effa615349cb016cd8', 'business', 0, 0),
  ('10002', 'OLD', 'Old things', NULL, '5b10a2844c20165700ede21g', 'software', 1, 0);
INSERT INTO priority (id, name, statusColor, description) VALUES ('1', 'High', '#f00', 'Soon'), ('2', 'Low', '#0f0', 'Later');
INSERT INTO issuetype (id, name, subtask, hierarchyLevel) VALUES ('1', 'Bug', 0, 0), ('3', 'Task', 0, 0), ('5', 'Sub-task', 1, -1);
INSERT INTO component (id, name, description, projectId, project, assigneeType) VALUES
  ('10100', 'Backend', 'Servers', '10000', 'EX', 'PROJECT_LEAD'), ('10101', 'Frontend', 'Pages', '10000', 'EX', 'UNASSIGNED'),
  ('10102', 'Paper', NULL, '10001', 'ABC', 'UNASSIGNED');
INSERT INTO version (id, name, projectId, released, archived, releaseDate) VALUES
  ('10200', '1.0', '10000', 1, 0, '2026-01-10'), ('10201', '1.1', '10000', 0, 0, '2026-03-01'), ('10202', 'A', '10001', 0, 0, NULL);
ALTER TABLE issue ADD COLUMN projectId TEXT REFERENCES project (id);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO issue (id, key, projectId, fields)
SELECT CAST(10300 + i AS TEXT), CASE WHEN i > 6 THEN 'ABC-' || (i - 6) ELSE 'EX-' || i END,
  CASE WHEN i > 6 THEN '10001' ELSE '10000' END, json_object('summary', 'Problem ' || i, 'project', json_object('id', CASE WHEN i > 6 THEN '10001' ELSE '10000' END, 'key', CASE WHEN i > 6 THEN 'ABC' ELSE 'EX' END),
    'status', json_object('name', CASE WHEN i % 3 = 0 THEN 'Done' ELSE 'To Do' END), 'priority', json_object('id', CAST(1 + i % 2 AS TEXT)),
    'labels', json_array('l' || (i % 2)), 'created', '2026-01-0' || i || 'T10:00:00.000+0000') FROM n;
INSERT INTO comment (id, authorAccountId, body, created, updated, issue_id, jsdPublic) VALUES
  ('10400', '5b10a2844c20165700ede21g', '{"type":"doc","version":1,"content":[]}', '2026-01-11T10:00:00.000+0000', '2026-01-11T10:00:00.000+0000', '10301', 1),
  ('10401', '5b10a0effa615349cb016cd8', '{"type":"doc","version":1,"content":[{"type":"paragraph"}]}', '2026-01-12T10:00:00.000+0000', '2026-01-12T10:00:00.000+0000', '10301', 1),
  ('10402', '5b10a0effa615349cb016cd8', '{"type":"doc","version":1,"content":[]}', '2026-01-13T10:00:00.000+0000', '2026-01-13T10:00:00.000+0000', '10307', 0);
INSERT INTO worklog (id, authorAccountId, started, timeSpent, timeSpentSeconds, issueId) VALUES
  ('10500', '5b10a2844c20165700ede21g', '2026-01-20T08:00:00.000+0000', '3h', 10800, '10301'),
  ('10501', '5b10a0effa615349cb016cd8', '2026-01-21T08:00:00.000+0000', '1h', 3600, '10301'),
  ('10502', '5b10a0effa615349cb016cd8', '2026-01-22T08:00:00.000+0000', '20m', 1200, '10302');
