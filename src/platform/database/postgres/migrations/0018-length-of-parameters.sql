-- The length of a command's parameters is kept, so that their sum is found in the index alone: by the expression PostgreSQL would
-- read all of them.
ALTER TABLE transactions ADD COLUMN parameters_length BIGINT GENERATED ALWAYS AS (LENGTH(parameters)) STORED;
DROP INDEX transactions_large;
CREATE INDEX transactions_large ON transactions (application_id, device_id, parameters_length)
  WHERE completed_at IS NULL AND parameters_length > 4096;
