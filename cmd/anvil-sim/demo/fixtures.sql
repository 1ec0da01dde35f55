-- The demo's state: a small helpdesk. Times without a value come from the
-- simulator's own clock, so two runs of the same calls give the same rows.

CREATE TABLE users (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  role  TEXT NOT NULL DEFAULT 'customer' CHECK (role IN ('customer', 'agent', 'admin'))
);

CREATE TABLE tickets (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  subject      TEXT NOT NULL CHECK (length(subject) BETWEEN 1 AND 150),
  description  TEXT NOT NULL DEFAULT '',
  status       TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'pending', 'solved', 'closed')),
  priority     TEXT NOT NULL DEFAULT 'normal' CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
  requester_id INTEGER NOT NULL REFERENCES users (id),
  assignee_id  INTEGER REFERENCES users (id),
  created_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  updated_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
CREATE INDEX tickets_by_status ON tickets (status);
CREATE INDEX tickets_by_requester ON tickets (requester_id);
CREATE INDEX tickets_by_assignee ON tickets (assignee_id);

CREATE TRIGGER tickets_touched AFTER UPDATE ON tickets WHEN new.updated_at = old.updated_at
BEGIN
  UPDATE tickets SET updated_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = new.id;
END;

CREATE TABLE comments (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  ticket_id  INTEGER NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
  author_id  INTEGER NOT NULL REFERENCES users (id),
  body       TEXT NOT NULL CHECK (length(body) > 0),
  is_public  BOOLEAN NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
CREATE INDEX comments_by_ticket ON comments (ticket_id);

INSERT INTO users (id, name, email, role) VALUES
  (1, 'Maren Lindqvist',  'maren@helpdesk.example',        'admin'),
  (2, 'Tobias Okafor',    'tobias@helpdesk.example',       'agent'),
  (3, 'Priya Raman',      'priya@helpdesk.example',        'agent'),
  (4, 'Luca Ferretti',    'luca@helpdesk.example',         'agent'),
  (5, 'Hannah Weiss',     'h.weiss@northwind.example',     'customer'),
  (6, 'Diego Salazar',    'diego@cantina.example',         'customer'),
  (7, 'Aiko Tanaka',      'aiko.tanaka@hoshi.example',     'customer'),
  (8, 'Owen Brady',       'owen@bradyfarm.example',        'customer'),
  (9, 'Zofia Kowalczyk',  'zofia@piekarnia.example',       'customer'),
  (10, 'Amina Diallo',    'amina@lumiere.example',         'customer');

INSERT INTO tickets (id, subject, description, status, priority, requester_id, assignee_id, created_at, updated_at) VALUES
  (1, 'Invoice shows the wrong tax rate', 'Invoice 2025-1180 lists 19 % although we are exempt since October.', 'open', 'high', 5, 2, '2025-11-03T08:14:00Z', '2025-11-03T09:02:00Z'),
  (2, 'Cannot sign in after changing my e-mail', 'The reset link still goes to the old address.', 'pending', 'urgent', 6, 3, '2025-11-03T10:41:00Z', '2025-11-04T07:30:00Z'),
  (3, 'Export to CSV breaks on umlauts', 'Names such as Müller or Łukasz come out as question marks.', 'open', 'normal', 9, 4, '2025-11-04T06:55:00Z', '2025-11-04T06:55:00Z'),
  (4, 'Where do I add a second location?', '', 'solved', 'low', 8, 2, '2025-11-04T12:20:00Z', '2025-11-05T15:11:00Z'),
  (5, 'Webhook deliveries stopped on Sunday', 'Last delivery 2025-11-02T03:12Z, no errors on our side.', 'open', 'urgent', 7, 3, '2025-11-05T01:03:00Z', '2025-11-06T11:48:00Z'),
  (6, 'Add a purchase order number to invoices', 'Our accounting rejects invoices without one.', 'pending', 'normal', 5, 2, '2025-11-05T09:37:00Z', '2025-11-07T08:00:00Z'),
  (7, 'Mobile app logs out every hour', 'Android 15, app version 4.2.1.', 'open', 'high', 10, NULL, '2025-11-06T13:29:00Z', '2025-11-06T13:29:00Z'),
  (8, 'Refund for a duplicate charge', 'Charged twice for order #48213.', 'solved', 'high', 6, 2, '2025-11-07T16:05:00Z', '2025-11-10T10:26:00Z'),
  (9, 'Printed labels are cut off on the right', 'A6 paper, all browsers.', 'open', 'normal', 8, 4, '2025-11-10T07:48:00Z', '2025-11-11T09:19:00Z'),
  (10, 'Please delete my test workspace', 'Workspace "sandbox-2".', 'closed', 'low', 7, 1, '2025-11-10T11:00:00Z', '2025-11-10T11:45:00Z'),
  (11, 'API answers 429 although we are below the limit', 'About 40 requests a minute from one key.', 'pending', 'high', 7, 3, '2025-11-11T02:17:00Z', '2025-11-12T05:50:00Z'),
  (12, 'Two agents see different queues', '', 'open', 'normal', 10, 4, '2025-11-12T08:33:00Z', '2025-11-12T08:33:00Z'),
  (13, 'Question about data retention', 'How long are deleted tickets kept?', 'solved', 'low', 9, 1, '2025-11-13T14:52:00Z', '2025-11-14T09:08:00Z'),
  (14, 'Search finds nothing for numbers', 'Searching for 48213 gives no result, "order 48213" does.', 'open', 'normal', 6, NULL, '2025-11-14T10:10:00Z', '2025-11-14T10:10:00Z'),
  (15, 'Attachment upload hangs at 99 %', 'PDF, 18 MB, Firefox.', 'open', 'high', 5, 4, '2025-11-17T09:21:00Z', '2025-11-18T13:37:00Z'),
  (16, 'Change the owner of our account', 'The former owner left the company.', 'pending', 'normal', 8, 1, '2025-11-18T15:44:00Z', '2025-11-19T08:12:00Z'),
  (17, 'Time zone of reports is off by one hour', 'Since the change from summer time.', 'open', 'normal', 9, 3, '2025-11-19T07:05:00Z', '2025-11-19T07:05:00Z'),
  (18, 'Typo in the French confirmation e-mail', '"Merçi" instead of "Merci".', 'closed', 'low', 10, 2, '2025-11-20T11:39:00Z', '2025-11-20T12:02:00Z'),
  (19, 'SAML sign-in fails for new users', 'NameID is sent as persistent.', 'open', 'urgent', 7, NULL, '2025-11-21T04:26:00Z', '2025-11-21T04:26:00Z'),
  (20, 'Merge duplicate contacts', 'Two entries for Hannah Weiss.', 'open', 'low', 5, 2, '2025-11-24T08:58:00Z', '2025-11-24T08:58:00Z');

INSERT INTO comments (id, ticket_id, author_id, body, is_public, created_at) VALUES
  (1, 1, 2, 'Thanks for the report. Could you send the exemption certificate?', 1, '2025-11-03T08:40:00Z'),
  (2, 1, 5, 'Attached. It is valid from 2025-10-01.', 1, '2025-11-03T09:02:00Z'),
  (3, 2, 3, 'I have sent a new link to the new address.', 1, '2025-11-03T11:15:00Z'),
  (4, 2, 3, 'Identity checked by phone.', 0, '2025-11-03T11:16:00Z'),
  (5, 2, 6, 'Nothing has arrived yet.', 1, '2025-11-04T07:30:00Z'),
  (6, 4, 2, 'Settings, Locations, Add. Let us know if the button is missing.', 1, '2025-11-04T13:05:00Z'),
  (7, 4, 8, 'Found it, thank you!', 1, '2025-11-05T15:11:00Z'),
  (8, 5, 3, 'Our queue for your region was paused; deliveries are being repeated.', 1, '2025-11-05T08:22:00Z'),
  (9, 5, 3, 'See incident 2025-44.', 0, '2025-11-05T08:23:00Z'),
  (10, 5, 7, 'We now receive some events twice.', 1, '2025-11-06T11:48:00Z'),
  (11, 6, 2, 'Which format does the number have?', 1, '2025-11-07T08:00:00Z'),
  (12, 8, 2, 'The second charge was returned today.', 1, '2025-11-10T10:26:00Z'),
  (13, 9, 4, 'Does it happen with margins set to none?', 1, '2025-11-11T09:19:00Z'),
  (14, 10, 1, 'Done. The workspace is gone for good.', 1, '2025-11-10T11:45:00Z'),
  (15, 11, 3, 'The limit counts retries as well. Checking your key.', 1, '2025-11-12T05:50:00Z'),
  (16, 13, 1, 'Thirty days, then they are erased.', 1, '2025-11-14T09:08:00Z'),
  (17, 15, 4, 'Reproduced with files over 16 MB.', 1, '2025-11-18T13:37:00Z'),
  (18, 16, 1, 'We need a letter from the company.', 1, '2025-11-19T08:12:00Z'),
  (19, 18, 2, 'Corrected, thank you.', 1, '2025-11-20T12:02:00Z');
