-- Figures of the fleet over time: a row of each node for each ten seconds, later for each minute, then for each ten minutes.
CREATE TABLE fleet_history (
  step BIGINT NOT NULL, -- seconds that the row is of
  at BIGINT NOT NULL, -- when they began
  node_id TEXT COLLATE "C" NOT NULL, -- empty for a process that is alone
  -- What only one of the nodes counts, at the end of the time; later the mean, or of what waits the most.
  devices BIGINT,
  activated BIGINT,
  due BIGINT,
  oldest_due BIGINT, -- microseconds
  pending BIGINT,
  failing BIGINT,
  -- What each counts of its own: now, in the time, in the time, ...
  connected BIGINT NOT NULL,
  created BIGINT NOT NULL,
  finished BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  attempts_failed BIGINT NOT NULL,
  loop_delay BIGINT, -- microseconds
  PRIMARY KEY (step, at, node_id)
);
