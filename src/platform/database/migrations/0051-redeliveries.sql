-- Each statement is a commit of its own.
-- Each node had its own pace of redelivered webhooks, and its own range at work, so an application had both once for each
-- node. A row says both for all nodes, since the first range of the application.
CREATE TABLE IF NOT EXISTS redeliveries (
  application_id TEXT PRIMARY KEY,
  turn INTEGER NOT NULL, -- rises with each range, so that a range whose time is over notices the next one
  held_until INTEGER NOT NULL, -- microseconds; a range is at work until then; 0: none is
  paced_until INTEGER NOT NULL -- microseconds; by then all redelivered webhooks will have gone out at the pace
) WITHOUT ROWID;
