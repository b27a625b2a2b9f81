-- Each statement is a commit of its own.
-- The people of a developer: each has a role and a token, with which they use the console and the API of the applications.

CREATE TABLE IF NOT EXISTS members (
  member_id TEXT PRIMARY KEY,
  developer_id TEXT NOT NULL REFERENCES developers (developer_id),
  name TEXT NOT NULL,
  role TEXT NOT NULL, -- admin | developer | reader
  secret_hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  last_used_at INTEGER, -- stored once a minute at most
  UNIQUE (developer_id, name)
);
