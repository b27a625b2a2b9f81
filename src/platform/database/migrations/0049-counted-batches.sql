-- Each statement is a commit of its own.
-- The last batch of counts that each writer has stored. The answer of a commit can be lost, so a batch is tried again that
-- may have been stored; with its name here it is added once.
CREATE TABLE IF NOT EXISTS counted_batches (
  writer TEXT PRIMARY KEY, -- a random name, for the time of a process
  batch INTEGER NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
