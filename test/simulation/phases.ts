const HELD = `rollout_id IN (SELECT rollout_id FROM rollouts WHERE publishes = 0)`;

/**
 * The phases that something of the service can be in while something happens: each with the rows that are in it. `:now` is
 * the time of the world in microseconds.
 */
export const PHASES = {
  'the service runs': `(SELECT 1)`,
  'command waits': `transactions WHERE due = 1 AND status = 'queued' AND published_at IS NULL`,
  'command waits behind others': `(SELECT 1 FROM transactions WHERE due = 1 AND status = 'queued'
    GROUP BY device_id HAVING count(*) > 3 AND SUM(attempts = 0) > 0)`,
  'command is published': `transactions WHERE due = 1 AND status = 'queued' AND published_at IS NOT NULL`,
  'command is delivered': `transactions WHERE due = 1 AND status = 'delivered'`,
  'command is carried out': `transactions WHERE due = 1 AND status = 'processing'`,
  'command can expire': `transactions WHERE due = 1 AND ends_at IS NOT NULL`,
  'command is about to end': `transactions WHERE ends_at BETWEEN :now AND :now + 2500000`,
  'last seconds before a PUBACK': `transactions WHERE status = 'queued' AND attempts > 0
    AND ends_at BETWEEN :now AND :now + 4000000`,
  'command is over its time': `transactions WHERE ends_at < :now`,
  'command was ended early': `transactions WHERE late = ''`,
  'install is published': `transactions WHERE due = 1 AND status = 'queued' AND attempts > 0
    AND operation IN ('installSoftware', 'updateFirmware')`,
  'command waits behind an install': `transactions i JOIN transactions t ON t.device_id = i.device_id
    AND t.transaction_id > i.transaction_id WHERE i.due = 1 AND i.status = 'queued' AND i.attempts > 0
    AND i.operation IN ('installSoftware', 'updateFirmware') AND t.due = 1 AND t.status = 'queued' AND t.attempts > 0`,
  'cancel is owed': `transactions WHERE due = 1 AND status = 'cancelled'`,
  'command of a rollout waits': `transactions WHERE due = 1 AND attempts = 0 AND rollout_id IS NOT NULL`,
  'command of a rollout is published': `transactions WHERE due = 1 AND status = 'queued' AND attempts > 0
    AND rollout_id IS NOT NULL`,
  'command is held': `transactions WHERE due = 1 AND status = 'queued' AND attempts > 0 AND ${HELD}`,
  'rollout runs': `rollouts WHERE state = 'running' AND publishes = 1`,
  'rollout soaks': `rollouts WHERE state = 'running' AND share_since IS NOT NULL`,
  'rollout is paused': `rollouts WHERE state = 'paused'`,
  'rollout takes back': `rollouts WHERE at_work = 1 AND publishes = 0 AND drained = 0`,
  'rollout takes back commands': `rollouts r WHERE r.at_work = 1 AND r.publishes = 0 AND r.drained = 0
    AND EXISTS (SELECT 1 FROM rollout_members m WHERE m.rollout_id = r.rollout_id AND m.state = 'unfinished')`,
  'device of a rollout waits again': `rollout_members WHERE state = 'waiting' AND attempts > 0`,
  'delivery waits': `deliveries WHERE status = 'pending' AND attempts = 0`,
  'many deliveries wait': `(SELECT 1 FROM deliveries WHERE status = 'pending' AND attempts = 0
    GROUP BY application_id, setting HAVING count(*) > 8)`,
  'delivery is tried again': `deliveries WHERE status = 'pending' AND attempts > 0`,
  'request is carried out': `device_requests WHERE answer IS NULL`,
  'answer to a request is owed': `device_requests WHERE answer IS NOT NULL AND done_at IS NULL`,
  'activation is under way': `devices WHERE activation = 'activating'`,
} as const satisfies Record<string, string>;
export type Phase = keyof typeof PHASES;
