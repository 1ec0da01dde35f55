INSERT INTO user (id, login, node_id, type, site_admin) VALUES
  (1, 'mona', 'U_1', 'User', 0), (2, 'hubot', 'U_2', 'Bot', 0), (3, 'acme', 'U_3', 'Organization', 0), (7, 'lin', 'U_7', 'User', 1);
INSERT INTO org (id, login, node_id, name, public_repos) VALUES (3, 'acme', 'O_3', 'Acme', 2);
INSERT INTO repository (id, node_id, name, full_name, owner_id, org_id, private, fork, default_branch, stargazers_count, created_at, updated_at) VALUES
  (101, 'R_101', 'site', 'acme/site', 3, 3, 0, 0, 'main', 80, '2026-01-01T09:00:00Z', '2026-01-20T09:00:00Z'),
  (102, 'R_102', 'api', 'acme/api', 3, 3, 1, 0, 'main', 12, '2026-01-02T09:00:00Z', '2026-01-21T09:00:00Z'),
  (103, 'R_103', 'site', 'mona/site', 1, NULL, 0, 1, 'trunk', 3, '2026-01-03T09:00:00Z', '2026-01-22T09:00:00Z');
INSERT INTO label (id, node_id, name, color, "default", repository_id) VALUES
  (11, 'L_11', 'bug', 'd73a4a', 1, 101), (12, 'L_12', 'ui', '0e8a16', 0, 101), (13, 'L_13', 'bug', 'd73a4a', 1, 102);
INSERT INTO milestone (id, node_id, number, state, title, creator_id, repository_id, open_issues, closed_issues, created_at, updated_at) VALUES
  (21, 'M_21', 1, 'open', 'v1.0', 1, 101, 4, 1, '2026-01-05T00:00:00Z', '2026-01-06T00:00:00Z'),
  (22, 'M_22', 1, 'closed', 'beta', 7, 102, 0, 2, '2026-01-05T00:00:00Z', '2026-01-07T00:00:00Z');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
INSERT INTO issue (id, node_id, number, state, title, body, user_id, assignee_id, milestone_id, locked, comments, labels, repository_id, created_at, updated_at, author_association)
SELECT 1000 + i, 'I_' || (1000 + i), i, CASE WHEN i % 4 = 0 THEN 'closed' ELSE 'open' END, 'Widget ' || i || ' fails', 'Steps for ' || i,
  CASE i % 3 WHEN 0 THEN 7 ELSE 1 END, CASE WHEN i % 2 = 0 THEN 2 END, CASE WHEN i < 6 THEN 21 END, i = 12, i % 2,
  CASE WHEN i % 6 = 0 THEN '[{"id":11,"name":"bug"},{"id":12,"name":"ui"}]' WHEN i % 3 = 0 THEN '[{"id":11,"name":"bug"}]' ELSE '[]' END,
  101, '2026-01-' || printf('%02d', i) || 'T08:00:00Z', '2026-02-' || printf('%02d', 13 - i) || 'T08:00:00Z', 'MEMBER' FROM n;
INSERT INTO issue (id, node_id, number, state, title, user_id, locked, comments, labels, repository_id, created_at, updated_at, author_association) VALUES
  (2001, 'I_2001', 1, 'open', 'Rate limit', 1, 0, 1, '[{"id":13,"name":"bug"}]', 102, '2026-01-09T08:00:00Z', '2026-01-09T08:00:00Z', 'OWNER');
INSERT INTO issue_comment (id, node_id, body, user_id, issue_id, repository_id, created_at, updated_at, author_association) VALUES
  (501, 'C_501', 'I see it too', 7, 1001, 101, '2026-01-02T08:00:00Z', '2026-01-02T08:00:00Z', 'MEMBER'),
  (502, 'C_502', 'Fixed in main', 1, 1001, 101, '2026-01-03T08:00:00Z', '2026-01-03T08:00:00Z', 'OWNER'),
  (503, 'C_503', 'Same on mobile', 2, 1003, 101, '2026-01-04T08:00:00Z', '2026-01-04T08:00:00Z', 'NONE'),
  (504, 'C_504', 'Use a token', 1, 2001, 102, '2026-01-10T08:00:00Z', '2026-01-10T08:00:00Z', 'OWNER');
INSERT INTO release (id, node_id, tag_name, name, draft, prerelease, author_id, repository_id, created_at, published_at) VALUES
  (61, 'RE_61', 'v0.1', 'First', 0, 1, 1, 101, '2026-01-15T00:00:00Z', '2026-01-16T00:00:00Z');
INSERT INTO team (id, node_id, slug, name, privacy, org_id) VALUES (71, 'T_71', 'core', 'Core', 'closed', 3), (72, 'T_72', 'docs', 'Docs', 'secret', 3);
CREATE TABLE issue_assignee (id INTEGER, issue_id INTEGER REFERENCES issue (id), login TEXT, PRIMARY KEY (issue_id, id));
INSERT INTO issue_assignee VALUES (2, 1002, 'hubot'), (7, 1002, 'lin'), (1, 1001, 'mona');
