-- Each statement is a commit of its own.
-- An activation counted all devices of its developer that hold a place of the contract. Now it counts them only when a bound
-- that rises with each activation reaches the contract, or is old: at least the number of these devices, and the time at which
-- they were counted. Null: they were not counted yet.

-- Only on SQLite.
ALTER TABLE developers ADD COLUMN held_at_most INTEGER;
ALTER TABLE developers ADD COLUMN held_counted_at INTEGER;

-- Only on PostgreSQL.
ALTER TABLE developers ADD COLUMN IF NOT EXISTS held_at_most INTEGER;
ALTER TABLE developers ADD COLUMN IF NOT EXISTS held_counted_at INTEGER;
