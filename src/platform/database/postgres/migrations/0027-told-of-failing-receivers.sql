-- When the application was told, by an event to another of its settings; null: not yet.
ALTER TABLE failing_receivers ADD COLUMN told_at BIGINT;
