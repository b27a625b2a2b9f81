-- Each statement is a commit of its own.
-- Commands that expire, and commands that a newer one supersedes. All columns are null for any other transaction.
-- expires_at: the time until which the command must be delivered.
-- answer_within: the seconds from its delivery in which the device must answer.
-- ends_at: the time at which the service ends the transaction, unless something happens before; null after its end.
-- superseded_by: the transaction that took its place.
-- late: the device's result after that end, as JSON; an empty text before there is one.

-- Only on SQLite.
ALTER TABLE transactions ADD COLUMN expires_at INTEGER;
ALTER TABLE transactions ADD COLUMN answer_within INTEGER;
ALTER TABLE transactions ADD COLUMN ends_at INTEGER;
ALTER TABLE transactions ADD COLUMN superseded_by INTEGER;
ALTER TABLE transactions ADD COLUMN late TEXT;

-- Only on PostgreSQL.
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS expires_at INTEGER;
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS answer_within INTEGER;
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS ends_at INTEGER;
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS superseded_by INTEGER;
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS late TEXT;

-- The transactions that the service has to end, by their time. Only transactions that can expire enter it.
CREATE INDEX IF NOT EXISTS transactions_ending ON transactions (ends_at, transaction_id) WHERE ends_at IS NOT NULL;
