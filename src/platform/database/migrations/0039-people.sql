-- Each statement is a commit of its own.
-- The people who administer the service: their names and roles, and the tokens that are theirs.

CREATE TABLE IF NOT EXISTS people (
  person_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL, -- owner | operator | support | reader
  disabled INTEGER NOT NULL, -- 1: the tokens of the person are refused
  created_at INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS person_tokens (
  token_id TEXT PRIMARY KEY,
  person_id TEXT NOT NULL REFERENCES people (person_id),
  name TEXT NOT NULL,
  secret_hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER, -- null: never
  last_used_at INTEGER, -- stored once a minute at most
  UNIQUE (person_id, name)
);

-- One row, which changes of owners lock; without it the administrator token is accepted.
CREATE TABLE IF NOT EXISTS administration (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  token_accepted INTEGER NOT NULL -- 0: the administrator token of the settings is refused
);

-- A session of the console belongs to the person whose token opened it. A session of the administrator token has no person.
-- In a session of a person, the column administrator has the hash of the token instead.

-- Only on SQLite.
ALTER TABLE console_sessions ADD COLUMN person_id TEXT;

-- Only on SQLite.
ALTER TABLE console_sessions ADD COLUMN token_id TEXT;

-- Only on PostgreSQL.
ALTER TABLE console_sessions ADD COLUMN IF NOT EXISTS person_id TEXT;

-- Only on PostgreSQL.
ALTER TABLE console_sessions ADD COLUMN IF NOT EXISTS token_id TEXT;

-- The audit log names the person and the token, as they were called at the time.

-- Only on SQLite.
ALTER TABLE audit_log ADD COLUMN person_id TEXT;

-- Only on SQLite.
ALTER TABLE audit_log ADD COLUMN person_name TEXT;

-- Only on SQLite.
ALTER TABLE audit_log ADD COLUMN token_name TEXT;

-- Only on PostgreSQL.
ALTER TABLE audit_log ADD COLUMN IF NOT EXISTS person_id TEXT;

-- Only on PostgreSQL.
ALTER TABLE audit_log ADD COLUMN IF NOT EXISTS person_name TEXT;

-- Only on PostgreSQL.
ALTER TABLE audit_log ADD COLUMN IF NOT EXISTS token_name TEXT;
