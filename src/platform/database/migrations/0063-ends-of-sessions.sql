-- Each statement is a commit of its own.
-- A session of MQTT 5 may end some seconds after its connection (null: it does not), and a will may be due some seconds after it
-- (null: at once). `ended_at` and `due_at` are null while the device is connected.

-- Only on SQLite.
ALTER TABLE sessions ADD COLUMN expiry_seconds INTEGER;
-- Only on SQLite.
ALTER TABLE sessions ADD COLUMN ended_at INTEGER;
-- Only on SQLite.
ALTER TABLE wills ADD COLUMN delay_seconds INTEGER;
-- Only on SQLite.
ALTER TABLE wills ADD COLUMN due_at INTEGER;

-- Only on PostgreSQL.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS expiry_seconds INTEGER;
-- Only on PostgreSQL.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS ended_at INTEGER;
-- Only on PostgreSQL.
ALTER TABLE wills ADD COLUMN IF NOT EXISTS delay_seconds INTEGER;
-- Only on PostgreSQL.
ALTER TABLE wills ADD COLUMN IF NOT EXISTS due_at INTEGER;

CREATE INDEX IF NOT EXISTS wills_due ON wills (due_at) WHERE due_at IS NOT NULL;
