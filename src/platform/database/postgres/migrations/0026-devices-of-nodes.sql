-- How many devices are connected to each node, as of its last renewal; null: it has not said so.
ALTER TABLE nodes ADD COLUMN devices BIGINT;
