-- The length of a command's parameters has a name, so that both databases find their sum in the index alone.
ALTER TABLE transactions ADD COLUMN parameters_length INTEGER GENERATED ALWAYS AS (LENGTH(parameters)) VIRTUAL;
DROP INDEX transactions_large;
CREATE INDEX transactions_large ON transactions (application_id, device_id, parameters_length)
  WHERE completed_at IS NULL AND parameters_length > 4096;
