-- Each statement is a commit of its own.
-- The alarms that the receiver of LAPEL_ALARM_URL was told of, and not yet that they are over.
CREATE TABLE IF NOT EXISTS told_alarms (
  name TEXT PRIMARY KEY, -- the kind, and the node if it is about one
  level TEXT NOT NULL,
  text TEXT NOT NULL,
  since INTEGER NOT NULL, -- microseconds; when it was found first
  told_at INTEGER NOT NULL -- microseconds; when the receiver took the last message about it
) WITHOUT ROWID;
