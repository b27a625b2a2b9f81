-- Each statement is a commit of its own.
-- Customers who leave: developers and applications that are removed with all their data.

CREATE TABLE IF NOT EXISTS removals (
  removal_id TEXT PRIMARY KEY,
  developer_id TEXT NOT NULL, -- the developer that is removed, or whose application is
  application_id TEXT, -- null when the whole developer is removed
  name TEXT NOT NULL,
  contents TEXT NOT NULL, -- JSON: what there was at the time of the request
  step TEXT, -- what is being removed; null before the first step and after the last
  requested_at INTEGER NOT NULL,
  progressed_at INTEGER NOT NULL, -- the time of the last commit that removed something
  ended_at INTEGER -- null until everything is removed
);
CREATE INDEX IF NOT EXISTS removals_running ON removals (removal_id) WHERE ended_at IS NULL;
CREATE INDEX IF NOT EXISTS removals_by_developer ON removals (developer_id, removal_id);

-- The numbers of rows that a removal has removed so far, changed in the commits that remove them.
CREATE TABLE IF NOT EXISTS removal_counts (
  removal_id TEXT NOT NULL,
  kind TEXT NOT NULL, -- devices | transactions | ...
  removed INTEGER NOT NULL,
  PRIMARY KEY (removal_id, kind)
) WITHOUT ROWID;

-- removal_id: the removal that has been accepted; null while there is none.

-- Only on SQLite.
ALTER TABLE developers ADD COLUMN removal_id TEXT;
ALTER TABLE applications ADD COLUMN removal_id TEXT;

-- Only on PostgreSQL.
ALTER TABLE developers ADD COLUMN IF NOT EXISTS removal_id TEXT;
ALTER TABLE applications ADD COLUMN IF NOT EXISTS removal_id TEXT;
