-- Each statement is a commit of its own.
-- Tags that an application gives its devices, and what devices are selected by.

-- They are kept while the device is activated for the application.
CREATE TABLE IF NOT EXISTS device_tags (
  device_id TEXT NOT NULL,
  tag_key TEXT NOT NULL,
  tag_value TEXT NOT NULL,
  application_id TEXT NOT NULL,
  PRIMARY KEY (device_id, tag_key)
) WITHOUT ROWID;

-- The devices of a tag, in the order of lists of devices.
CREATE INDEX IF NOT EXISTS device_tags_by_value ON device_tags (application_id, tag_key, tag_value, device_id);

-- The reported language, in lower case, beside the JSON that it was reported in.
-- lot: a random number. The devices of an application with the lowest lots are a random sample of its devices.

-- Only on SQLite.
ALTER TABLE device_status ADD COLUMN lang TEXT;
ALTER TABLE devices ADD COLUMN lot INTEGER NOT NULL DEFAULT 0;
UPDATE device_status SET lang = lower(json_extract(reported, '$.lang.value'))
  WHERE json_type(reported, '$.lang.value') = 'text';
UPDATE devices SET lot = random() & 2147483647 WHERE lot = 0;

-- Only on PostgreSQL.
ALTER TABLE device_status ADD COLUMN IF NOT EXISTS lang TEXT;
ALTER TABLE devices ADD COLUMN IF NOT EXISTS lot INTEGER NOT NULL DEFAULT 0;
UPDATE device_status SET lang = lower(reported::json #>> '{lang,value}')
  WHERE position('\u0000' IN reported) = 0 AND json_typeof(reported::json #> '{lang,value}') = 'string';
UPDATE devices SET lot = floor(random() * 2147483648) WHERE lot = 0;

CREATE INDEX IF NOT EXISTS devices_by_lot ON devices (application_id, lot, device_id) WHERE activation = 'activated';
