-- Each statement is a commit of its own.
-- What people wrote down about a device. A note of an application is gone when the device is deactivated; a note of
-- administration, without an application, stays with the device.
CREATE TABLE IF NOT EXISTS device_notes (
  device_id TEXT NOT NULL,
  note_id TEXT NOT NULL, -- rises with the time
  application_id TEXT,
  text TEXT NOT NULL,
  author TEXT NOT NULL, -- the name of a person or an application, as it was then
  created_at INTEGER NOT NULL, -- microseconds
  PRIMARY KEY (device_id, note_id)
) WITHOUT ROWID;
