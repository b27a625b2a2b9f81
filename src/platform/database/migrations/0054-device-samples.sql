-- Each statement is a commit of its own.
-- What a device reported last in an hour in which it reported something. An hour that is not over has no row yet, unless a
-- version changed in it. On PostgreSQL, INT has four bytes and SMALLINT two; the numbers come first, so that no
-- row is filled up.
CREATE TABLE IF NOT EXISTS device_samples (
  hour INTEGER NOT NULL, -- hours since 1970
  free_mebibytes INT, -- free storage
  battery SMALLINT, -- percent
  is_charging SMALLINT,
  rssi SMALLINT, -- dBm
  device_id TEXT NOT NULL,
  changes TEXT, -- versions that changed in this hour, in JSON: [[second of the hour, package or null for the firmware, before, after], ...]
  PRIMARY KEY (device_id, hour)
) WITHOUT ROWID;
