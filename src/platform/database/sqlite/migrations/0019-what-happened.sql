-- What became of a transaction, for those who look: when it was first published, what it was about in words that hold no
-- secret (its parameters go when it ends), and the webhook of its end.
ALTER TABLE transactions ADD COLUMN published_at BIGINT;
ALTER TABLE transactions ADD COLUMN subject TEXT;
ALTER TABLE transactions ADD COLUMN delivery_id TEXT;
UPDATE transactions SET subject = json_extract(parameters, '$.package') || '@' || json_extract(parameters, '$.version')
  WHERE due = 1 AND operation IN ('installSoftware', 'updateFirmware') AND parameters IS NOT NULL;

-- What a fleet is counted by, beside the JSON that it was reported in.
ALTER TABLE device_status ADD COLUMN firmware TEXT;
ALTER TABLE device_status ADD COLUMN battery INTEGER; -- percent
UPDATE device_status SET
  firmware = CASE json_type(reported, '$.firmwareVersion.value') WHEN 'text' THEN json_extract(reported, '$.firmwareVersion.value') END,
  battery = CASE json_type(reported, '$.battery.value.level') WHEN 'integer' THEN json_extract(reported, '$.battery.value.level') END;
CREATE INDEX device_status_by_firmware ON device_status (firmware, device_id);
CREATE INDEX device_status_by_battery ON device_status (battery, device_id);

-- What is installed, as last reported: a row for each package of a device.
CREATE TABLE device_software (
  device_id TEXT NOT NULL,
  package TEXT NOT NULL,
  version TEXT NOT NULL,
  since BIGINT NOT NULL, -- of the first report that had this version
  PRIMARY KEY (device_id, package)
) WITHOUT ROWID;
INSERT OR REPLACE INTO device_software (device_id, package, version, since)
  SELECT device_id, json_extract(item, '$.package'), json_extract(item, '$.version'), reported_at
  FROM (SELECT s.device_id, s.reported_at, CASE each_one.type WHEN 'object' THEN each_one.value END AS item
    FROM device_status s, json_each(s.reported, '$.software.value') each_one)
  WHERE json_type(item, '$.package') = 'text' AND json_type(item, '$.version') = 'text';
CREATE INDEX device_software_by_version ON device_software (package, version, device_id);
