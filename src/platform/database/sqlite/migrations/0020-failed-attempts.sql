-- What came of attempts that failed; they go with their delivery.
CREATE TABLE delivery_attempts (
  application_id TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  round INTEGER NOT NULL, -- as in deliveries
  attempt INTEGER NOT NULL, -- in its round, from 1
  at BIGINT NOT NULL, -- its end
  status_code INTEGER,
  error TEXT NOT NULL,
  duration INTEGER NOT NULL, -- microseconds
  answer TEXT, -- how it began; null when there was none
  PRIMARY KEY (application_id, delivery_id, round, attempt)
);

-- Receivers whose last attempt failed: one setting of one application each.
CREATE TABLE failing_receivers (
  application_id TEXT NOT NULL,
  setting TEXT NOT NULL,
  since BIGINT NOT NULL,
  failed_at BIGINT NOT NULL, -- the last one
  status_code INTEGER,
  error TEXT NOT NULL,
  PRIMARY KEY (application_id, setting)
);
