-- SHA-256 of binaries in a store that does not tell it itself, made once for each upload (the ETag tells).
CREATE TABLE binary_digests (
  binary_id TEXT PRIMARY KEY,
  etag TEXT NOT NULL,
  sha256 TEXT NOT NULL -- hexadecimal
);
