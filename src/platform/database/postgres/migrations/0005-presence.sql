-- When the service last heard of a device. Whether it is connected is never stored: after a crash that would be wrong.
CREATE TABLE device_presence (
  device_id TEXT COLLATE "C" PRIMARY KEY,
  last_seen_at BIGINT NOT NULL
);

-- The list of an application's activated devices (op 8) is a range of this index, and its length is kept beside it.
CREATE INDEX devices_activated ON devices (application_id, device_id) WHERE activation = 'activated';
CREATE TABLE activated_counts (
  application_id TEXT COLLATE "C" PRIMARY KEY,
  activated BIGINT NOT NULL
);
INSERT INTO activated_counts (application_id, activated)
  SELECT application_id, count(*) FROM devices WHERE activation = 'activated' GROUP BY application_id;

-- Deprecated and never called; releases that still have it read and write it (ops 1 and 2).
ALTER TABLE applications ADD COLUMN remote_support_event TEXT COLLATE "C";
