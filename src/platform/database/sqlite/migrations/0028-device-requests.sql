-- Requests of devices, from before their PUBACK until the device has their answers.
CREATE TABLE device_requests (
  device_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  received_at INTEGER NOT NULL, -- rises when the device uses the identifier for another request
  application_id TEXT, -- that the device was activated for; null: for none
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  answer TEXT, -- null until there is one
  done_at INTEGER, -- the PUBACK of the answer; null until then
  PRIMARY KEY (device_id, request_id)
) WITHOUT ROWID;
CREATE INDEX device_requests_by_time ON device_requests (received_at);
