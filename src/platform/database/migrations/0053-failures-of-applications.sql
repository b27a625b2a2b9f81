-- Each statement is a commit of its own.
-- The failures of an application by time, so that counting them reads none of the others. Only a failure writes to it.
CREATE INDEX IF NOT EXISTS transactions_failures_of_application ON transactions (application_id, completed_at)
  WHERE error_code IS NOT NULL;
