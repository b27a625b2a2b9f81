-- How much a node has let through of each limit that nodes share, as JSON; null for nodes of former releases.

-- Only on PostgreSQL.
ALTER TABLE nodes ADD COLUMN IF NOT EXISTS used TEXT;
