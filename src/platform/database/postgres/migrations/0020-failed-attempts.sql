-- What came of attempts that failed; they go with their delivery.
CREATE TABLE delivery_attempts (
  application_id TEXT COLLATE "C" NOT NULL,
  delivery_id TEXT COLLATE "C" NOT NULL,
  round BIGINT NOT NULL, -- as in deliveries
  attempt BIGINT NOT NULL, -- in its round, from 1
  at BIGINT NOT NULL, -- its end
  status_code BIGINT,
  error TEXT COLLATE "C" NOT NULL,
  duration BIGINT NOT NULL, -- microseconds
  answer TEXT COLLATE "C", -- how it began; null when there was none
  PRIMARY KEY (application_id, delivery_id, round, attempt)
);

-- Receivers whose last attempt failed: one setting of one application each.
CREATE TABLE failing_receivers (
  application_id TEXT COLLATE "C" NOT NULL,
  setting TEXT COLLATE "C" NOT NULL,
  since BIGINT NOT NULL,
  failed_at BIGINT NOT NULL, -- the last one
  status_code BIGINT,
  error TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (application_id, setting)
);
