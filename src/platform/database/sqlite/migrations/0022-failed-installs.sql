-- Installations that failed, by what was to be installed: how many devices failed at a version is a range of this index. Only a
-- failure writes to it.
CREATE INDEX transactions_failed_installs ON transactions (subject, device_id, transaction_id)
  WHERE error_code IS NOT NULL AND operation IN ('installSoftware', 'updateFirmware');
