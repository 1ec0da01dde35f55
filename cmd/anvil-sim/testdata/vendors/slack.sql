INSERT INTO team (id, name, domain) VALUES ('T061EG9R6', 'Acme', 'acme');
INSERT INTO user (id, name, real_name, team_id, deleted, is_admin, is_bot) VALUES
  ('U012AB3CD', 'spengler', 'Egon Spengler', 'T061EG9R6', 0, 1, 0), ('U0G9QF9C6', 'bobby', 'Bobby Tables', 'T061EG9R6', 0, 0, 0),
  ('U0G9WFXNZ', 'robot', 'Robot', 'T061EG9R6', 1, 0, 1);
INSERT INTO conversation (id, name, is_archived, is_private, is_channel, creator, created, num_members, topic, purpose, user) VALUES
  ('C012AB3CD', 'general', 0, 0, 1, 'U012AB3CD', 1767225600, 3, '{"value":"Company"}', '{"value":"Everybody"}', 'U012AB3CD'),
  ('C061FA5PB', 'random', 0, 0, 1, 'U0G9QF9C6', 1767225700, 2, '{"value":""}', '{"value":"Fun"}', 'U0G9QF9C6'),
  ('C0EAQDV4Z', 'secret', 0, 1, 1, 'U012AB3CD', 1767225800, 1, '{"value":""}', '{"value":""}', 'U012AB3CD'),
  ('C0F3Q8Z2K', 'attic', 1, 0, 1, 'U012AB3CD', 1767225900, 0, '{"value":""}', '{"value":""}', 'U012AB3CD');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO message (ts, type, text, user, channel_id, thread_ts, reply_count)
SELECT (1767300000 + i * 60) || '.000' || (100 + i), 'message', 'Message ' || i, CASE WHEN i % 2 = 0 THEN 'U0G9QF9C6' ELSE 'U012AB3CD' END,
  CASE WHEN i > 6 THEN 'C061FA5PB' ELSE 'C012AB3CD' END, CASE WHEN i = 3 THEN '1767300120.000102' END, CASE i WHEN 2 THEN 1 ELSE 0 END FROM n;
INSERT INTO reminder (id, creator, user, text, recurring, time) VALUES ('Rm12345678', 'U012AB3CD', 'U012AB3CD', 'eat a banana', 0, 1767400000), ('Rm12345679', 'U0G9QF9C6', 'U0G9QF9C6', 'drink water', 1, 1767500000);
INSERT INTO usergroup (id, name, handle, description, team_id, is_external) VALUES ('S0604QSJC', 'Marketing', 'marketing', 'Marketing gurus', 'T061EG9R6', 0), ('S0604QSJD', 'Builders', 'builders', NULL, 'T061EG9R6', 0);
INSERT INTO file (id, name, title, user, filetype, size, created) VALUES ('F0S43PZDF', 'tedair.gif', 'Ted', 'U012AB3CD', 'gif', 137531, 1767226000), ('F0S43PZDG', 'plan.txt', 'Plan', 'U0G9QF9C6', 'text', 12, 1767226100);
CREATE TABLE conversation_member (channel TEXT REFERENCES conversation (id), user TEXT REFERENCES user (id), PRIMARY KEY (channel, user));
INSERT INTO conversation_member VALUES ('C012AB3CD', 'U012AB3CD'), ('C012AB3CD', 'U0G9QF9C6'), ('C012AB3CD', 'U0G9WFXNZ'), ('C061FA5PB', 'U012AB3CD'), ('C061FA5PB', 'U0G9QF9C6');
