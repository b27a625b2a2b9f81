-- Each statement is a commit of its own.
-- Device CAs: with them the service signs the client certificates of a developer's devices.

CREATE TABLE IF NOT EXISTS device_authorities (
  authority_id TEXT PRIMARY KEY,
  developer_id TEXT NOT NULL,
  name TEXT NOT NULL,
  certificate TEXT NOT NULL, -- PEM
  private_key TEXT NOT NULL, -- PEM of PKCS #8, encrypted
  expires_at INTEGER NOT NULL, -- the end of the certificate
  created_at INTEGER NOT NULL,
  retired_at INTEGER, -- it signs no more; the certificates that it has signed stay valid
  revoked_at INTEGER -- the certificates that it has signed are invalid
);
CREATE INDEX IF NOT EXISTS device_authorities_by_developer ON device_authorities (developer_id, authority_id);

-- authority_id: the device CA that signs a certificate for each device of the batch; null: devices get a credential.
-- certificate_days: how long such a certificate is valid.
-- issued_certificate: SHA-256, hexadecimal, of the certificate that the service has signed for the device; issued_by: its
-- device CA; issued_until: its end; issued_days: the days for which certificates of the device are valid. next_...: the same of the certificate that takes its place when the device logs in
-- with it.

-- Only on SQLite.
ALTER TABLE enrolment_batches ADD COLUMN authority_id TEXT;
ALTER TABLE enrolment_batches ADD COLUMN certificate_days INTEGER;
ALTER TABLE devices ADD COLUMN issued_certificate TEXT;
ALTER TABLE devices ADD COLUMN issued_by TEXT;
ALTER TABLE devices ADD COLUMN issued_until INTEGER;
ALTER TABLE devices ADD COLUMN issued_days INTEGER;
ALTER TABLE devices ADD COLUMN next_issued_certificate TEXT;
ALTER TABLE devices ADD COLUMN next_issued_by TEXT;
ALTER TABLE devices ADD COLUMN next_issued_until INTEGER;

-- Only on PostgreSQL.
ALTER TABLE enrolment_batches ADD COLUMN IF NOT EXISTS authority_id TEXT, ADD COLUMN IF NOT EXISTS certificate_days INTEGER;
ALTER TABLE devices ADD COLUMN IF NOT EXISTS issued_certificate TEXT, ADD COLUMN IF NOT EXISTS issued_by TEXT,
  ADD COLUMN IF NOT EXISTS issued_until INTEGER, ADD COLUMN IF NOT EXISTS issued_days INTEGER,
  ADD COLUMN IF NOT EXISTS next_issued_certificate TEXT,
  ADD COLUMN IF NOT EXISTS next_issued_by TEXT, ADD COLUMN IF NOT EXISTS next_issued_until INTEGER;

CREATE INDEX IF NOT EXISTS devices_by_authority ON devices (issued_by, device_id) WHERE issued_by IS NOT NULL;
