-- The first answer to a request that carried an Idempotency-Key, kept for 24 hours.
CREATE TABLE idempotency_keys (
  application_id TEXT COLLATE "C" NOT NULL,
  key_hash BYTEA NOT NULL, -- SHA-256
  request_hash BYTEA NOT NULL, -- HMAC-SHA-256 of the request under the key: bodies can hold passwords
  answer TEXT COLLATE "C" NOT NULL, -- JSON, as it was sent
  created_at BIGINT NOT NULL,
  PRIMARY KEY (application_id, key_hash)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
