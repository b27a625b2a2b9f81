-- What devices last reported of themselves, field by field with the time of each report.
CREATE TABLE device_status (
  device_id TEXT PRIMARY KEY,
  reported TEXT NOT NULL, -- JSON: field -> { value, at }
  reported_at BIGINT NOT NULL
);
