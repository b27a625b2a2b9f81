-- Figures of the fleet over time: a row of each node for each ten seconds, later for each minute, then for each ten minutes.
CREATE TABLE fleet_history (
  step INTEGER NOT NULL, -- seconds that the row is of
  at BIGINT NOT NULL, -- when they began
  node_id TEXT NOT NULL, -- empty for a process that is alone
  -- What only one of the nodes counts, at the end of the time; later the mean, or of what waits the most.
  devices INTEGER,
  activated INTEGER,
  due INTEGER,
  oldest_due BIGINT, -- microseconds
  pending INTEGER,
  failing INTEGER,
  -- What each counts of its own: now, in the time, in the time, ...
  connected INTEGER NOT NULL,
  created INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  attempts_failed INTEGER NOT NULL,
  loop_delay BIGINT, -- microseconds
  PRIMARY KEY (step, at, node_id)
);
