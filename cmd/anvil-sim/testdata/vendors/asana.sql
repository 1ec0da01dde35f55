INSERT INTO workspace (gid, resource_type, name, is_organization) VALUES ('12345', 'workspace', 'Acme', 1), ('12346', 'workspace', 'Private', 0);
INSERT INTO user (gid, resource_type, name, email) VALUES ('501', 'user', 'Greg Sanchez', 'greg@example.com'), ('502', 'user', 'Ada Byron', 'ada@example.com');
INSERT INTO team (gid, resource_type, name, organization_gid) VALUES ('601', 'team', 'Marketing', '12345'), ('602', 'team', 'Build', '12345');
INSERT INTO project (gid, resource_type, name, archived, color, workspace_gid, owner_gid, team_gid, created_at, modified_at, public) VALUES
  ('1001', 'project', 'Stuff to buy', 0, 'light-green', '12345', '501', '601', '2026-01-01T08:00:00.000Z', '2026-01-11T08:00:00.000Z', 1),
  ('1002', 'project', 'Website', 0, 'dark-blue', '12345', '502', '602', '2026-01-02T08:00:00.000Z', '2026-01-12T08:00:00.000Z', 0),
  ('1003', 'project', 'Old plans', 1, NULL, '12345', '501', '601', '2026-01-03T08:00:00.000Z', '2026-01-13T08:00:00.000Z', 0),
  ('1004', 'project', 'Garden', 0, NULL, '12346', '502', NULL, '2026-01-04T08:00:00.000Z', '2026-01-14T08:00:00.000Z', 0);
INSERT INTO section (gid, resource_type, name, project_gid, created_at) VALUES
  ('2001', 'section', 'To do', '1001', '2026-01-05T08:00:00.000Z'), ('2002', 'section', 'Done', '1001', '2026-01-05T08:00:00.000Z'),
  ('2003', 'section', 'Backlog', '1002', '2026-01-05T08:00:00.000Z');
INSERT INTO tag (gid, resource_type, name, color, workspace_gid) VALUES ('3001', 'tag', 'urgent', 'light-red', '12345'), ('3002', 'tag', 'idea', NULL, '12345'), ('3003', 'tag', 'plants', NULL, '12346');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11)
INSERT INTO task (gid, resource_type, name, notes, completed, completed_at, due_on, assignee_gid, assignee_section_gid, workspace_gid, projects, tags, created_at, modified_at, num_likes, liked)
SELECT CAST(4000 + i AS TEXT), 'task', 'Task ' || i, 'Notes of ' || i, i % 3 = 0, CASE WHEN i % 3 = 0 THEN '2026-01-2' || (i % 10) || 'T08:00:00.000Z' END,
  '2026-02-' || printf('%02d', i), CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '501' ELSE '502' END, CASE WHEN i < 5 THEN '2001' END, '12345',
  CASE WHEN i % 5 = 0 THEN '[{"gid":"1001","name":"Stuff to buy"},{"gid":"1002","name":"Website"}]' WHEN i % 2 = 0 THEN '[{"gid":"1002","name":"Website"}]' ELSE '[{"gid":"1001","name":"Stuff to buy"}]' END,
  CASE WHEN i % 4 = 1 THEN '[{"gid":"3001","name":"urgent"}]' ELSE '[]' END,
  '2026-01-' || printf('%02d', i) || 'T09:00:00.000Z', '2026-01-' || printf('%02d', 25 - i) || 'T09:00:00.000Z', i, i % 2 FROM n;
INSERT INTO story (gid, resource_type, text, resource_subtype, created_by_gid, task_gid, created_at) VALUES
  ('5001', 'story', 'Looks good', 'comment_added', '501', '4001', '2026-01-06T08:00:00.000Z'), ('5002', 'story', 'Ada moved this', 'section_changed', '502', '4001', '2026-01-07T08:00:00.000Z'),
  ('5003', 'story', 'Why?', 'comment_added', '502', '4002', '2026-01-08T08:00:00.000Z');
