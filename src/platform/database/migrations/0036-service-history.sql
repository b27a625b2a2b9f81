-- Each statement is a commit of its own.
-- How the service worked, for each five minutes of each node: the durations of the steps of commands and webhooks, the
-- answers of the API by route, the free space, and the state of the node at the end.
CREATE TABLE IF NOT EXISTS service_history (
  at INTEGER NOT NULL, -- the beginning of the five minutes
  node_id TEXT NOT NULL, -- empty for a process that is alone
  disk_free INTEGER, -- bytes, at the end
  disk_size INTEGER,
  figures TEXT NOT NULL, -- JSON, see src/views/service-figures.ts
  state TEXT NOT NULL, -- JSON, see src/views/node-state.ts
  PRIMARY KEY (at, node_id)
) WITHOUT ROWID;
