-- Events that devices sent, so that a repetition is known: forgotten after 30 days, or with the device.
CREATE TABLE device_events (
  device_id TEXT COLLATE "C" NOT NULL,
  event_id TEXT COLLATE "C" NOT NULL, -- the device's own
  received_at BIGINT NOT NULL,
  PRIMARY KEY (device_id, event_id)
);
CREATE INDEX device_events_by_age ON device_events (device_id, received_at);
