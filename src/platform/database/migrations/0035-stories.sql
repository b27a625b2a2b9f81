-- Each statement is a commit of its own.
-- Facts with which operators find a cause: connections of devices, what was sent to receivers, failures, changes.

-- Connections of devices, their ends, and refused logins. An hour has a bounded number of rows of each kind for a device;
-- further facts are counted in the last row.
CREATE TABLE IF NOT EXISTS connection_log (
  device_id TEXT NOT NULL,
  fact_id TEXT NOT NULL, -- rises with time
  kind TEXT NOT NULL, -- connected | ended | refused
  at INTEGER NOT NULL,
  last_at INTEGER NOT NULL, -- of the last fact that is counted in this row
  count INTEGER NOT NULL,
  reason TEXT, -- of an end, or of a refusal
  detail TEXT,
  address TEXT,
  transport TEXT,
  node_id TEXT,
  since INTEGER, -- of an end: when the connection began
  is_open INTEGER NOT NULL, -- 1 while no end of this connection is recorded
  PRIMARY KEY (device_id, fact_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS connection_log_open ON connection_log (device_id, is_open, fact_id) WHERE is_open = 1;

-- The processes that devices were connected to. When one ends, its connections end with it, and no row of theirs is
-- written.
CREATE TABLE IF NOT EXISTS node_lives (
  node_id TEXT PRIMARY KEY,
  begun_at INTEGER NOT NULL,
  ended_at INTEGER,
  reason TEXT -- node_stopped | node_lost
);

-- Webhooks that report no transaction, such as those of a device's events.
CREATE INDEX IF NOT EXISTS deliveries_of_events ON deliveries (device_id, delivery_id) WHERE transaction_id IS NULL;

-- The objects that an entry of the audit log is about.
CREATE TABLE IF NOT EXISTS audit_objects (
  kind TEXT NOT NULL, -- device | developer | application | package | rollout
  object_id TEXT NOT NULL,
  audit_id INTEGER NOT NULL,
  PRIMARY KEY (kind, object_id, audit_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS audit_objects_by_entry ON audit_objects (audit_id);

-- The attempts of each receiver by hour.
CREATE TABLE IF NOT EXISTS receiver_hours (
  application_id TEXT NOT NULL,
  setting TEXT NOT NULL,
  hour INTEGER NOT NULL, -- its beginning
  delivered INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  PRIMARY KEY (application_id, setting, hour)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS receiver_hours_by_hour ON receiver_hours (hour);

-- sent: the headers that differ from attempt to attempt. answer: the beginning of the answer to a test.

-- Only on SQLite.
ALTER TABLE deliveries ADD COLUMN sent TEXT;
ALTER TABLE deliveries ADD COLUMN answer TEXT;
ALTER TABLE delivery_attempts ADD COLUMN sent TEXT;

-- Only on PostgreSQL.
ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS sent TEXT;
ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS answer TEXT;
ALTER TABLE delivery_attempts ADD COLUMN IF NOT EXISTS sent TEXT;

-- Failures by time, by error code and by version. Only a failure writes to these.
CREATE INDEX IF NOT EXISTS transactions_failures ON transactions (completed_at, transaction_id)
  WHERE error_code IS NOT NULL;
CREATE INDEX IF NOT EXISTS transactions_failures_by_code ON transactions (error_code, completed_at, transaction_id)
  WHERE error_code IS NOT NULL;
CREATE INDEX IF NOT EXISTS transactions_failures_by_subject ON transactions (subject, completed_at, transaction_id)
  WHERE error_code IS NOT NULL AND operation IN ('installSoftware', 'updateFirmware');

-- Installations that ended, by time: how many failed is a range of this index. Only the end of an installation writes
-- to it.
CREATE INDEX IF NOT EXISTS transactions_ended_installs ON transactions (completed_at, subject, status, error_code, application_id, operation)
  WHERE completed_at IS NOT NULL AND operation IN ('installSoftware', 'updateFirmware');

-- Entries of earlier releases are found by the devices, developers and applications in their paths.

-- Only on SQLite.
INSERT INTO audit_objects (kind, object_id, audit_id)
  SELECT 'device', substr(resource, 19, instr(substr(resource, 19) || '/', '/') - 1), audit_id FROM audit_log
  WHERE resource LIKE '/admin/v1/devices/%' ON CONFLICT DO NOTHING;
INSERT INTO audit_objects (kind, object_id, audit_id)
  SELECT 'developer', substr(resource, 22, instr(substr(resource, 22) || '/', '/') - 1), audit_id FROM audit_log
  WHERE resource LIKE '/admin/v1/developers/%' ON CONFLICT DO NOTHING;
INSERT INTO audit_objects (kind, object_id, audit_id)
  SELECT 'application', substr(resource, 24, instr(substr(resource, 24) || '/', '/') - 1), audit_id FROM audit_log
  WHERE resource LIKE '/admin/v1/applications/%' ON CONFLICT DO NOTHING;
INSERT INTO audit_objects (kind, object_id, audit_id)
  SELECT 'application', substr(resource, 18, instr(substr(resource, 18) || '/', '/') - 1), audit_id FROM audit_log
  WHERE resource LIKE '/v1/applications/%' ON CONFLICT DO NOTHING;

-- Only on PostgreSQL.
INSERT INTO audit_objects (kind, object_id, audit_id)
  SELECT 'device', split_part(resource, '/', 5), audit_id FROM audit_log
  WHERE resource LIKE '/admin/v1/devices/%' ON CONFLICT DO NOTHING;
INSERT INTO audit_objects (kind, object_id, audit_id)
  SELECT 'developer', split_part(resource, '/', 5), audit_id FROM audit_log
  WHERE resource LIKE '/admin/v1/developers/%' ON CONFLICT DO NOTHING;
INSERT INTO audit_objects (kind, object_id, audit_id)
  SELECT 'application', split_part(resource, '/', 5), audit_id FROM audit_log
  WHERE resource LIKE '/admin/v1/applications/%' ON CONFLICT DO NOTHING;
INSERT INTO audit_objects (kind, object_id, audit_id)
  SELECT 'application', split_part(resource, '/', 4), audit_id FROM audit_log
  WHERE resource LIKE '/v1/applications/%' ON CONFLICT DO NOTHING;
