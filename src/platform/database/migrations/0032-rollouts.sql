-- Each statement is a commit of its own.
-- Rollouts: one operation for many devices, in stages.

CREATE TABLE IF NOT EXISTS rollouts (
  rollout_id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL,
  label TEXT,
  operation TEXT NOT NULL,
  asked TEXT, -- JSON: the body of the operation; null once ended: it can hold passwords
  subject TEXT,
  selector TEXT NOT NULL, -- JSON; it can name thousands of devices
  plan TEXT NOT NULL, -- JSON: stages, pace, window, rules, terms
  state TEXT NOT NULL, -- preparing | scheduled | running | paused | completed | cancelled
  reason TEXT, -- of a pause
  at_work INTEGER NOT NULL, -- 1 until it is completed or cancelled
  publishes INTEGER NOT NULL, -- 0 while none of its commands may be published: paused, or outside of its window
  drained INTEGER NOT NULL, -- 1 when no undelivered command is left since `publishes` became 0
  stage INTEGER NOT NULL, -- the last stage that has begun; -1 before the first
  stage_since INTEGER,
  share_since INTEGER, -- since when the stage has its share of successes
  approved INTEGER NOT NULL, -- the last stage that was approved, or that somebody let pass; -1 for none
  devices INTEGER NOT NULL,
  entries INTEGER NOT NULL, -- the number of entries in rollout_entries
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER
);
CREATE INDEX IF NOT EXISTS rollouts_by_application ON rollouts (application_id, rollout_id);
CREATE INDEX IF NOT EXISTS rollouts_at_work ON rollouts (application_id, rollout_id) WHERE at_work = 1;

-- The devices of a rollout, in the order of their places.
CREATE TABLE IF NOT EXISTS rollout_members (
  rollout_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  stage INTEGER NOT NULL,
  place INTEGER NOT NULL,
  state TEXT NOT NULL, -- waiting | unfinished | succeeded | failed | cancelled | unchanged | refused
  transaction_id INTEGER, -- the latest one
  attempts INTEGER NOT NULL, -- the transactions that were made and not taken back
  code TEXT, -- of a failure or a refusal
  not_before INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (rollout_id, device_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS rollout_members_by_state ON rollout_members (rollout_id, state, stage, place);

-- How many devices of a stage are in a state, by code; changed in the commits that change the states.
CREATE TABLE IF NOT EXISTS rollout_counts (
  rollout_id TEXT NOT NULL,
  stage INTEGER NOT NULL,
  state TEXT NOT NULL,
  code TEXT NOT NULL,
  devices INTEGER NOT NULL,
  PRIMARY KEY (rollout_id, stage, state, code)
) WITHOUT ROWID;

-- How many commands took how long, until their delivery and until their result, in buckets that grow.
CREATE TABLE IF NOT EXISTS rollout_times (
  rollout_id TEXT NOT NULL,
  kind TEXT NOT NULL, -- delivered | result
  bucket INTEGER NOT NULL,
  devices INTEGER NOT NULL,
  PRIMARY KEY (rollout_id, kind, bucket)
) WITHOUT ROWID;

-- What happened to a rollout, and by whom.
CREATE TABLE IF NOT EXISTS rollout_entries (
  rollout_id TEXT NOT NULL,
  entry INTEGER NOT NULL,
  at INTEGER NOT NULL,
  event TEXT NOT NULL,
  stage INTEGER,
  actor TEXT NOT NULL,
  reason TEXT,
  PRIMARY KEY (rollout_id, entry)
) WITHOUT ROWID;

-- Only on SQLite.
ALTER TABLE transactions ADD COLUMN rollout_id TEXT;

-- Only on PostgreSQL.
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS rollout_id TEXT;

CREATE INDEX IF NOT EXISTS transactions_by_rollout ON transactions (rollout_id, transaction_id) WHERE rollout_id IS NOT NULL;
