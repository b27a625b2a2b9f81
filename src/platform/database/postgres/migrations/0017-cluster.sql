-- Several processes at one database. Times are by the clock of the database, which is the only one that they share.

-- A process that lives: its lease has not run out. One that lost its lease comes back under another name.
CREATE TABLE nodes (
  node_id TEXT COLLATE "C" PRIMARY KEY,
  lease_until TIMESTAMPTZ NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  release TEXT NOT NULL,
  fingerprint TEXT NOT NULL, -- the settings that all must have in common, as JSON; no secrets
  lacking TEXT NOT NULL -- names of settings without which no other may be beside it, or nothing
);

-- Which node a device is connected to. Every login and every revocation gives it an epoch that nobody had before.
CREATE SEQUENCE device_epochs;
CREATE TABLE device_owners (
  device_id TEXT COLLATE "C" PRIMARY KEY,
  node_id TEXT COLLATE "C", -- null: it is not connected
  epoch BIGINT NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX device_owners_by_node ON device_owners (node_id, device_id) WHERE node_id IS NOT NULL;

-- Which node sends to the receivers of webhooks of each partition.
CREATE TABLE receiver_partitions (
  partition INTEGER PRIMARY KEY,
  node_id TEXT COLLATE "C", -- null: nobody
  epoch BIGINT NOT NULL
);
INSERT INTO receiver_partitions (partition, epoch) SELECT number, 0 FROM generate_series(0, 63) AS number;
