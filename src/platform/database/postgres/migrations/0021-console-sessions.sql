-- Who is logged in to the console of administration. The secret of a session is in the browser alone; a session is good
-- for the administrator token that it was opened with, of which this is a slow hash.
CREATE TABLE console_sessions (
  session_id TEXT COLLATE "C" PRIMARY KEY,
  secret_hash BYTEA NOT NULL UNIQUE,
  administrator BYTEA NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  address TEXT NOT NULL
);
CREATE INDEX console_sessions_by_use ON console_sessions (last_used_at);
