-- Each statement is a commit of its own.
-- The settings that each device took last, of each kind, so that a rollout can bring back what a device had before it. A
-- transaction loses its parameters at its end. The rows are gone when the device is deactivated.
CREATE TABLE IF NOT EXISTS device_settings (
  device_id TEXT NOT NULL,
  kind TEXT NOT NULL, -- the operation; for setConnectivityState with its type
  transaction_id INTEGER NOT NULL,
  rollout_id TEXT, -- of that transaction
  parameters TEXT NOT NULL, -- JSON, as the command had them: they can hold passwords
  PRIMARY KEY (device_id, kind)
) WITHOUT ROWID;

-- By device of a rollout: the parameters that it took before the rollout; of a rollout that reverts another one: those
-- that it gets.
CREATE TABLE IF NOT EXISTS rollout_values (
  rollout_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  parameters TEXT NOT NULL, -- JSON: they can hold passwords
  PRIMARY KEY (rollout_id, device_id)
) WITHOUT ROWID;

-- The columns: the version whose devices this version brings back to what they had before; the firmware that it needs, a
-- SemVer range.

-- Only on SQLite.
ALTER TABLE versions ADD COLUMN revert_of TEXT;
ALTER TABLE versions ADD COLUMN requires_firmware TEXT;

-- Only on PostgreSQL.
ALTER TABLE versions ADD COLUMN IF NOT EXISTS revert_of TEXT;
ALTER TABLE versions ADD COLUMN IF NOT EXISTS requires_firmware TEXT;

-- What devices last reported of these, so that selectors can ask for it. A device may report any number of bytes.

-- Only on SQLite.
ALTER TABLE device_status ADD COLUMN charging INTEGER; -- 1 or 0
ALTER TABLE device_status ADD COLUMN network TEXT; -- its type
ALTER TABLE device_status ADD COLUMN storage_free INTEGER; -- bytes
UPDATE device_status SET charging = json_extract(reported, '$.battery.value.charging'),
  network = json_extract(reported, '$.network.value.type'), storage_free = MIN(json_extract(reported, '$.storage.value.free'), 9007199254740991);

-- Only on PostgreSQL.
ALTER TABLE device_status ADD COLUMN IF NOT EXISTS charging INTEGER;
ALTER TABLE device_status ADD COLUMN IF NOT EXISTS network TEXT;
ALTER TABLE device_status ADD COLUMN IF NOT EXISTS storage_free INTEGER;
UPDATE device_status SET charging = CASE reported::json #>> '{battery,value,charging}' WHEN 'true' THEN 1 WHEN 'false' THEN 0 END,
  network = reported::json #>> '{network,value,type}',
  storage_free = CASE WHEN reported::json #>> '{storage,value,free}' IS NOT NULL
    THEN CAST(LEAST(CAST(reported::json #>> '{storage,value,free}' AS NUMERIC), 9007199254740991) AS INTEGER) END;
