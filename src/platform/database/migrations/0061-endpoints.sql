-- Each statement is a commit of its own.
-- A place to which an application has its events sent, beside the URLs of its settings. `after_sequence` is the number of the
-- last event of the stream that the endpoint has taken, or left out because its type is not wanted. A replay sends events of
-- before once more; it is a second place in the stream.
CREATE TABLE IF NOT EXISTS endpoints (
  application_id TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  url TEXT NOT NULL, -- encrypted, as the secrets are
  types TEXT NOT NULL, -- separated by commas; empty: all
  description TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  disabled_reason TEXT, -- failing | asked; null while it is enabled
  ordered INTEGER NOT NULL, -- 1: one event of a device at a time
  rate_per_second INTEGER,
  paced_until INTEGER NOT NULL, -- when the next event may go out by the rate
  secret TEXT NOT NULL,
  former_secret TEXT,
  secret_replaced_at INTEGER,
  after_sequence INTEGER NOT NULL,
  passed_over INTEGER NOT NULL, -- up to this number events were removed before the endpoint took them; 0: none was
  failing_since INTEGER, -- since when no attempt was accepted
  failed_in_row INTEGER NOT NULL, -- attempts that failed since one was accepted
  refused_in_row INTEGER NOT NULL, -- events whose first attempt failed, since an attempt was accepted
  last_status_code INTEGER,
  last_error TEXT,
  told_at INTEGER, -- when the application was told that it fails
  replay_id TEXT, -- null: none is running
  replay_after INTEGER,
  replay_until INTEGER,
  replay_types TEXT,
  replay_device_id TEXT,
  replay_events INTEGER,
  replay_started_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (application_id, endpoint_id)
) WITHOUT ROWID;

-- The deliveries of events to endpoints. The event with its body is the row of `deliveries`.
-- `blocked`: it waits for an earlier event of its device, or until its endpoint is enabled.
CREATE TABLE IF NOT EXISTS endpoint_deliveries (
  application_id TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL, -- pending | blocked | delivered | exhausted | gone | skipped
  attempts INTEGER NOT NULL,
  round INTEGER NOT NULL, -- how many times a replay has sent it again
  next_attempt_at INTEGER, -- null unless pending or blocked
  last_status_code INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (application_id, endpoint_id, sequence)
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS endpoint_deliveries_due
  ON endpoint_deliveries (application_id, endpoint_id, next_attempt_at, sequence) WHERE status = 'pending';

CREATE INDEX IF NOT EXISTS endpoint_deliveries_open
  ON endpoint_deliveries (application_id, endpoint_id, device_id, sequence) WHERE status IN ('pending', 'blocked');
