-- SHA-256 of binaries in a store that does not tell it itself, made once for each upload (the ETag tells).
CREATE TABLE binary_digests (
  binary_id TEXT COLLATE "C" PRIMARY KEY,
  etag TEXT COLLATE "C" NOT NULL,
  sha256 TEXT COLLATE "C" NOT NULL -- hexadecimal
);
