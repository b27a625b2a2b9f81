-- Encryption of secrets at rest: the keys that values are encrypted with, and the change from one key to another. Secrets
-- of applications and credentials of devices that are replaced with an overlap.

-- A node that lacks one of these keys does not start.
CREATE TABLE encryption_keys (
  key_id TEXT PRIMARY KEY, -- as the operator named the key
  proof TEXT NOT NULL, -- by which a node finds out that it has the same key under this name
  state TEXT NOT NULL, -- current: new values are encrypted with it | former: some values may still be
  created_at INTEGER NOT NULL
);

-- The latest rotation.
CREATE TABLE encryption_rotation (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  key_id TEXT NOT NULL, -- the key that all values are to be encrypted with
  state TEXT NOT NULL, -- waiting | running | settling | ended
  place TEXT, -- JSON: the table, and the key of the row, behind which the work goes on
  rewritten INTEGER NOT NULL, -- the values that were encrypted anew
  requested_at INTEGER NOT NULL,
  started_at INTEGER,
  settles_at INTEGER, -- the time from which no value by a former key can be stored any more
  ended_at INTEGER
);

-- Only on PostgreSQL.
ALTER TABLE nodes ADD COLUMN encryption_keys TEXT; -- the key that the node writes with or "-", then all that it has

-- `secret_hash` is that of the newest secret of an application. The one before stays valid until it is ended, or its time
-- is over.
ALTER TABLE applications ADD COLUMN secret_name TEXT;
ALTER TABLE applications ADD COLUMN secret_created_at INTEGER; -- null: the secret is as old as the application, or of a release before
ALTER TABLE applications ADD COLUMN secret_used_at INTEGER; -- stored once a minute at most
ALTER TABLE applications ADD COLUMN former_secret_hash BLOB;
ALTER TABLE applications ADD COLUMN former_secret_name TEXT;
ALTER TABLE applications ADD COLUMN former_secret_created_at INTEGER;
ALTER TABLE applications ADD COLUMN former_secret_used_at INTEGER;
ALTER TABLE applications ADD COLUMN former_secret_ends_at INTEGER;

-- The credential that is offered to a device. With its first login it takes the place of `credential_hash`.
ALTER TABLE devices ADD COLUMN next_credential_hash BLOB;
ALTER TABLE devices ADD COLUMN next_credential_at INTEGER;
