-- Signatures of software: the keys and rules of developers, the signatures of versions, the certificates in APKs.

ALTER TABLE developers ADD COLUMN software_signatures TEXT NOT NULL DEFAULT 'optional'; -- optional | required
ALTER TABLE developers ADD COLUMN certificate_change TEXT NOT NULL DEFAULT 'warn'; -- warn | refuse

CREATE TABLE software_keys (
  developer_id TEXT NOT NULL,
  key_id TEXT NOT NULL, -- derived from the public key
  name TEXT NOT NULL,
  public_key TEXT NOT NULL, -- PEM of the SubjectPublicKeyInfo
  created_at INTEGER NOT NULL,
  PRIMARY KEY (developer_id, key_id)
) WITHOUT ROWID;

-- A version that is registered again has another binary_id, and so no signature.
CREATE TABLE version_signatures (
  binary_id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  sha256 TEXT NOT NULL, -- of the file that was signed
  signature TEXT NOT NULL, -- base64
  signed_at INTEGER NOT NULL
);

-- The certificates in the upload with this ETag.
CREATE TABLE binary_certificates (
  binary_id TEXT PRIMARY KEY,
  etag TEXT NOT NULL,
  certificates TEXT NOT NULL -- their SHA-256, sorted, with spaces between them; empty: none was found
);

-- The certificates that the versions of a package must have, where the developer refuses others. The row stays when the
-- package is removed, so that nobody gets rid of it by registering the package again.
CREATE TABLE pinned_certificates (
  developer_id TEXT NOT NULL,
  package TEXT NOT NULL,
  version TEXT NOT NULL, -- the version that they are from
  certificates TEXT NOT NULL,
  PRIMARY KEY (developer_id, package)
) WITHOUT ROWID;
