-- Each statement is a commit of its own.
-- The trace that a transaction, or a delivery, belongs to: the header `traceparent` of W3C Trace Context, for the spans
-- that follow. Null when nothing is traced.

-- Only on SQLite.
ALTER TABLE transactions ADD COLUMN traceparent TEXT;
ALTER TABLE deliveries ADD COLUMN traceparent TEXT;

-- Only on PostgreSQL.
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS traceparent TEXT;
ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS traceparent TEXT;
