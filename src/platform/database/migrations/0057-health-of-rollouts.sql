-- Each statement is a commit of its own.
-- The devices whose health is watched for a rollout that is at work: those that have its release, and some that wait for it.
CREATE TABLE IF NOT EXISTS rollout_watch (
  rollout_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  is_control INTEGER NOT NULL, -- 1: it waits for the release
  stage INTEGER NOT NULL,
  since INTEGER NOT NULL, -- when it got the release, or began to be compared
  usual_gap INTEGER, -- microseconds that it is usually away at most; null until they were looked up
  status_at INTEGER NOT NULL, -- of the last report that is counted here
  level INTEGER, -- percent of the battery in its last report of it
  level_at INTEGER NOT NULL,
  is_charging INTEGER,
  drained INTEGER NOT NULL, -- percent points that the battery has lost while it was not charged
  drained_micros INTEGER NOT NULL, -- the time of that
  free_first INTEGER, -- free storage in MiB
  free_first_at INTEGER NOT NULL,
  free_last INTEGER,
  free_last_at INTEGER NOT NULL,
  PRIMARY KEY (rollout_id, device_id)
) WITHOUT ROWID;

-- What the last look at the health of a rollout has found.
CREATE TABLE IF NOT EXISTS rollout_health (
  rollout_id TEXT PRIMARY KEY,
  figures TEXT NOT NULL, -- JSON
  looks INTEGER NOT NULL, -- how often the groups were compared
  observed INTEGER NOT NULL -- microseconds, of all devices with the release, at the last comparison
);

-- type: of the event, so that events can be counted. detail: JSON, what a rule saw that paused a rollout.

-- Only on SQLite.
ALTER TABLE device_events ADD COLUMN type TEXT;
ALTER TABLE rollout_entries ADD COLUMN detail TEXT;

-- Only on PostgreSQL.
ALTER TABLE device_events ADD COLUMN IF NOT EXISTS type TEXT;
ALTER TABLE rollout_entries ADD COLUMN IF NOT EXISTS detail TEXT;
