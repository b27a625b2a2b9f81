-- Each statement is a commit of its own.
-- What is written merely because devices are connected, on many nodes.

-- How much a node has let through of each limit that nodes share, as JSON; null for nodes of former releases.

-- Only on PostgreSQL.
ALTER TABLE nodes ADD COLUMN IF NOT EXISTS used TEXT;

-- A report of a device mostly has another level of the battery. An index of the levels made each report a row in a new
-- place and in all four indexes. Without it the row stays in its page (HOT), where the page has room. Lists and counts of
-- a million devices by level are as fast without the index, or faster.

-- Only on PostgreSQL.
DROP INDEX IF EXISTS device_status_by_battery;

-- Only on PostgreSQL.
ALTER TABLE device_status SET (fillfactor = 70);

-- Only on PostgreSQL.
ALTER TABLE device_presence SET (fillfactor = 70);
