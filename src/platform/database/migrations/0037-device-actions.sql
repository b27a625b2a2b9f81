-- Each statement is a commit of its own.
-- Device actions: one change of all devices that match a filter, by administration.

CREATE TABLE IF NOT EXISTS device_actions (
  action_id TEXT PRIMARY KEY,
  action TEXT NOT NULL, -- tag | block | unblock | move | cancel | delete
  parameters TEXT NOT NULL, -- JSON
  filter TEXT NOT NULL, -- JSON, as it was asked for
  confirmed INTEGER, -- the number of devices that the caller expects
  idempotency_key TEXT,
  digest TEXT NOT NULL, -- of the request
  state TEXT NOT NULL, -- gathering | running | completed | stopped | refused
  reason TEXT, -- of a stop or a refusal
  at_work INTEGER NOT NULL, -- 1 while it is gathering or running
  place TEXT NOT NULL, -- the deviceId behind which the gathering goes on
  devices INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER
);
CREATE INDEX IF NOT EXISTS device_actions_at_work ON device_actions (action_id) WHERE at_work = 1;
CREATE UNIQUE INDEX IF NOT EXISTS device_actions_by_key ON device_actions (idempotency_key)
  WHERE idempotency_key IS NOT NULL;

-- The devices of an action. A change of the state is in the commit of the change of the device.
CREATE TABLE IF NOT EXISTS device_action_devices (
  action_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  state TEXT NOT NULL, -- waiting | done | unchanged | skipped | refused
  code TEXT NOT NULL, -- why the device was skipped or refused; otherwise empty
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (action_id, device_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS device_action_devices_by_state ON device_action_devices (action_id, state, code, device_id);
CREATE INDEX IF NOT EXISTS device_action_devices_by_device ON device_action_devices (device_id, action_id);

-- How many devices of an action are in a state, by code; changed in the same commits.
CREATE TABLE IF NOT EXISTS device_action_counts (
  action_id TEXT NOT NULL,
  state TEXT NOT NULL,
  code TEXT NOT NULL,
  devices INTEGER NOT NULL,
  PRIMARY KEY (action_id, state, code)
) WITHOUT ROWID;
