-- Each statement is a commit of its own.
-- Members of rollouts whose device has not been seen since its success, in the order of the times by which it has to be.
CREATE INDEX IF NOT EXISTS rollout_members_confirming ON rollout_members (not_before, rollout_id, device_id)
  WHERE state = 'confirming';
