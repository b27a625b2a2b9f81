-- Each statement is a commit of its own.
-- A person who signs in through a provider (OpenID Connect) is known by issuer and subject, and by nothing else.
-- login_hash is the SHA-256 of both. In a session that such a sign-in has opened, the column administrator has it, and
-- token_id is null.

-- Only on SQLite.
ALTER TABLE people ADD COLUMN issuer TEXT;

-- Only on SQLite.
ALTER TABLE people ADD COLUMN subject TEXT;

-- Only on SQLite.
ALTER TABLE people ADD COLUMN login_hash BLOB;

-- 1: the person is disabled because the provider gave them no role at the last sign-in.

-- Only on SQLite.
ALTER TABLE people ADD COLUMN no_role INTEGER;

-- Only on SQLite.
ALTER TABLE console_sessions ADD COLUMN provider TEXT;

-- Only on PostgreSQL.
ALTER TABLE people ADD COLUMN IF NOT EXISTS issuer TEXT;

-- Only on PostgreSQL.
ALTER TABLE people ADD COLUMN IF NOT EXISTS subject TEXT;

-- Only on PostgreSQL.
ALTER TABLE people ADD COLUMN IF NOT EXISTS login_hash BLOB;

-- Only on PostgreSQL.
ALTER TABLE people ADD COLUMN IF NOT EXISTS no_role INTEGER;

-- Only on PostgreSQL.
ALTER TABLE console_sessions ADD COLUMN IF NOT EXISTS provider TEXT;

CREATE UNIQUE INDEX IF NOT EXISTS people_by_login ON people (login_hash) WHERE login_hash IS NOT NULL;

-- How far the audit log was sent to each receiver of syslog messages. A receiver is named by its address.

CREATE TABLE IF NOT EXISTS audit_receivers (
  receiver TEXT PRIMARY KEY,
  position INTEGER NOT NULL, -- of the last entry that the receiver has taken
  sent_at INTEGER NOT NULL
);

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
