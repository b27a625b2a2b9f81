-- Each statement is a commit of its own.
-- Not null: the deliveries to the endpoint that are not through do not fit its state yet, and are changed some at a time; nothing
-- is sent meanwhile. Those with a number up to this one are given up.

-- Only on SQLite.
ALTER TABLE endpoints ADD COLUMN settling INTEGER;

-- Only on PostgreSQL.
ALTER TABLE endpoints ADD COLUMN IF NOT EXISTS settling INTEGER;
