-- Each statement is a commit of its own.
-- Enrolment: devices that come to their credential by the one-time code of their batch.

CREATE TABLE IF NOT EXISTS enrolment_batches (
  batch_id TEXT PRIMARY KEY,
  developer_id TEXT NOT NULL,
  name TEXT NOT NULL,
  code_hash BLOB NOT NULL, -- SHA-256
  approval TEXT NOT NULL, -- automatic | manual
  device_ids TEXT, -- JSON: the beginnings of the deviceIds that may enrol; null: any
  registered INTEGER NOT NULL, -- 1: devices that are registered already may enrol, if they have never logged in
  most_devices INTEGER NOT NULL,
  enrolled INTEGER NOT NULL, -- never more than most_devices
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
);
CREATE UNIQUE INDEX IF NOT EXISTS enrolment_batches_by_code ON enrolment_batches (code_hash);
CREATE INDEX IF NOT EXISTS enrolment_batches_by_developer ON enrolment_batches (developer_id, batch_id);
CREATE INDEX IF NOT EXISTS enrolment_batches_by_end ON enrolment_batches (expires_at);

-- The devices that have asked with the code of a batch.
CREATE TABLE IF NOT EXISTS enrolments (
  batch_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  state TEXT NOT NULL, -- pending | approved | enrolled | refused
  nonce_hash BLOB NOT NULL, -- SHA-256 of the secret that the device made before its first request
  credential_hash BLOB, -- of the credential that the device was given
  address TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  decided_at INTEGER,
  PRIMARY KEY (batch_id, device_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS enrolments_by_state ON enrolments (batch_id, state, device_id);

-- never_logged_in: 1 from the registration of a device until its first login; null otherwise, and for devices that were
-- registered by earlier releases.

-- Only on SQLite.
ALTER TABLE devices ADD COLUMN never_logged_in INTEGER;

-- Only on PostgreSQL.
ALTER TABLE devices ADD COLUMN IF NOT EXISTS never_logged_in INTEGER;
