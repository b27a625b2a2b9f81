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
