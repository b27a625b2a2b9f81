-- What became of a transaction, for those who look: when it was first published, what it was about in words that hold no
-- secret (its parameters go when it ends), and the webhook of its end.
ALTER TABLE transactions ADD COLUMN published_at BIGINT;
ALTER TABLE transactions ADD COLUMN subject TEXT COLLATE "C";
ALTER TABLE transactions ADD COLUMN delivery_id TEXT COLLATE "C";
UPDATE transactions SET subject = (parameters::json ->> 'package') || '@' || (parameters::json ->> 'version')
  WHERE due = 1 AND operation IN ('installSoftware', 'updateFirmware') AND parameters IS NOT NULL;

-- What a fleet is counted by, beside the JSON that it was reported in. Text of JSON cannot hold U+0000 here.
ALTER TABLE device_status ADD COLUMN firmware TEXT COLLATE "C";
ALTER TABLE device_status ADD COLUMN battery BIGINT; -- percent
UPDATE device_status SET
  firmware = CASE WHEN json_typeof(reported::json #> '{firmwareVersion,value}') = 'string' THEN reported::json #>> '{firmwareVersion,value}' END,
  battery = CASE WHEN reported::json #>> '{battery,value,level}' ~ '^\d{1,3}$' THEN (reported::json #>> '{battery,value,level}')::BIGINT END
  WHERE position('\u0000' IN reported) = 0;
CREATE INDEX device_status_by_firmware ON device_status (firmware, device_id);
CREATE INDEX device_status_by_battery ON device_status (battery, device_id);

-- What is installed, as last reported: a row for each package of a device.
CREATE TABLE device_software (
  device_id TEXT COLLATE "C" NOT NULL,
  package TEXT COLLATE "C" NOT NULL,
  version TEXT COLLATE "C" NOT NULL,
  since BIGINT NOT NULL, -- of the first report that had this version
  PRIMARY KEY (device_id, package)
);
INSERT INTO device_software (device_id, package, version, since)
  SELECT DISTINCT ON (s.device_id, item.value ->> 'package')
    s.device_id, item.value ->> 'package', item.value ->> 'version', s.reported_at
  FROM device_status s CROSS JOIN LATERAL json_array_elements(
    CASE WHEN json_typeof(s.reported::json #> '{software,value}') = 'array' THEN s.reported::json #> '{software,value}' END
  ) WITH ORDINALITY AS item (value, place)
  WHERE position('\u0000' IN s.reported) = 0 AND json_typeof(item.value -> 'package') = 'string'
    AND json_typeof(item.value -> 'version') = 'string'
  ORDER BY s.device_id, item.value ->> 'package', item.place DESC;
CREATE INDEX device_software_by_version ON device_software (package, version, device_id);
