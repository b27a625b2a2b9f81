-- Who changed what by which request: a row for each change, written before it is carried out. Never a body.
CREATE TABLE audit_log (
  audit_id INTEGER PRIMARY KEY AUTOINCREMENT,
  at BIGINT NOT NULL,
  actor_kind TEXT NOT NULL, -- session | token | command line | application
  actor_name TEXT, -- the session, the application
  action TEXT NOT NULL, -- the method, and the template of the path
  resource TEXT NOT NULL, -- the path
  request_id TEXT NOT NULL,
  status INTEGER, -- of the answer; null: the service ended before it
  details TEXT -- JSON: how many were changed, where one request changes many
);
