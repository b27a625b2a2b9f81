-- Requests of devices, from before their PUBACK until the device has their answers.
CREATE TABLE device_requests (
  device_id TEXT COLLATE "C" NOT NULL,
  request_id TEXT COLLATE "C" NOT NULL,
  received_at BIGINT NOT NULL, -- rises when the device uses the identifier for another request
  application_id TEXT COLLATE "C", -- that the device was activated for; null: for none
  type TEXT COLLATE "C" NOT NULL,
  data TEXT COLLATE "C" NOT NULL,
  answer TEXT COLLATE "C", -- null until there is one
  done_at BIGINT, -- the PUBACK of the answer; null until then
  PRIMARY KEY (device_id, request_id)
);
CREATE INDEX device_requests_by_time ON device_requests (received_at);
