-- Times are microseconds since the Unix epoch. States are words. JSON is text that only the service reads.

CREATE TABLE developers (
  developer_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  device_limit INTEGER, -- null: no contract
  created_at BIGINT NOT NULL
);

CREATE TABLE applications (
  application_id TEXT PRIMARY KEY,
  developer_id TEXT NOT NULL REFERENCES developers (developer_id),
  name TEXT NOT NULL,
  secret_hash BLOB NOT NULL, -- SHA-256
  authentication_key TEXT,
  device_event TEXT,
  call_event TEXT,
  call_file_send_event TEXT,
  call_rec_get_multi_presigned_url TEXT,
  file_upload_event TEXT,
  file_upload_get_url TEXT,
  created_at BIGINT NOT NULL,
  deleted_at BIGINT -- a deleted application keeps its row: its id is never given again, its last webhooks still arrive
);
CREATE INDEX applications_by_developer ON applications (developer_id, application_id);

CREATE TABLE signing_keys (
  key_id TEXT PRIMARY KEY,
  private_jwk TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE devices (
  device_id TEXT PRIMARY KEY,
  developer_id TEXT NOT NULL REFERENCES developers (developer_id),
  credential_hash BLOB NOT NULL, -- SHA-256
  hardware_properties TEXT,
  activation TEXT NOT NULL, -- deactivated | activating | activated
  application_id TEXT REFERENCES applications (application_id),
  client_id TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX devices_by_developer ON devices (developer_id, device_id);
CREATE INDEX devices_by_application ON devices (application_id, device_id) WHERE application_id IS NOT NULL;
-- What counts against the contract, and which client identifiers are taken (op 5).
CREATE INDEX devices_holding_slots ON devices (developer_id) WHERE activation <> 'deactivated';
CREATE UNIQUE INDEX devices_client_ids ON devices (client_id) WHERE client_id IS NOT NULL;

CREATE TABLE transactions (
  transaction_id INTEGER PRIMARY KEY AUTOINCREMENT,
  device_id TEXT NOT NULL, -- no reference: the history outlives a removed device
  application_id TEXT NOT NULL, -- applications are never removed; the reference would cost a look-up per transaction
  operation TEXT NOT NULL,
  parameters TEXT, -- null once finished: they can hold passwords
  status TEXT NOT NULL, -- queued | delivered | processing | succeeded | failed | cancelled
  due INTEGER NOT NULL, -- 1 while the device must still hear of it: unfinished, or its cancel is not yet delivered
  attempts INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  delivered_at BIGINT,
  completed_at BIGINT,
  progress INTEGER,
  result TEXT,
  error_code TEXT,
  error_message TEXT
);
CREATE INDEX transactions_due ON transactions (device_id, transaction_id) WHERE due = 1;
CREATE INDEX transactions_by_device ON transactions (device_id, application_id, transaction_id);

CREATE TABLE deliveries (
  application_id TEXT NOT NULL,
  delivery_id TEXT NOT NULL, -- also the webhook-id; rises with time
  device_id TEXT,
  transaction_id BIGINT,
  setting TEXT NOT NULL, -- deviceEvent, callEvent, ...
  type TEXT NOT NULL, -- transaction.succeeded, ...
  body TEXT NOT NULL, -- the bytes that are signed and sent
  status TEXT NOT NULL, -- pending | delivered | exhausted | gone
  attempts INTEGER NOT NULL,
  url TEXT, -- of the last attempt
  last_status_code INTEGER,
  last_error TEXT,
  next_attempt_at BIGINT, -- null unless pending
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (application_id, delivery_id)
);
-- A receiver is one setting of one application: it has its own queue.
CREATE INDEX deliveries_due ON deliveries (application_id, setting, next_attempt_at, delivery_id) WHERE status = 'pending';

CREATE TABLE sessions (
  client_id TEXT PRIMARY KEY,
  created_at BIGINT NOT NULL
);

CREATE TABLE subscriptions (
  client_id TEXT NOT NULL,
  topic TEXT NOT NULL,
  qos INTEGER NOT NULL,
  properties TEXT, -- MQTT 5 options as JSON, null when there are none
  PRIMARY KEY (client_id, topic)
);
CREATE INDEX subscriptions_by_topic ON subscriptions (topic);

CREATE TABLE incoming_packets (
  client_id TEXT NOT NULL,
  message_id INTEGER NOT NULL,
  packet TEXT NOT NULL,
  payload BLOB,
  PRIMARY KEY (client_id, message_id)
);

CREATE TABLE wills (
  client_id TEXT PRIMARY KEY,
  broker_id TEXT NOT NULL,
  packet TEXT NOT NULL,
  payload BLOB
);
