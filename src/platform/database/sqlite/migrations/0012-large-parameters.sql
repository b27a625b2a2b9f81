-- Large commands that wait for devices, so that their sum is a range of this index; most commands are in no entry of it.
CREATE INDEX transactions_large ON transactions (application_id, device_id, LENGTH(parameters))
  WHERE completed_at IS NULL AND LENGTH(parameters) > 4096;
