/** The phases that something of the service can be in while something happens: each with the rows that are in it. */
export const PHASES = {
  'command waits': `transactions WHERE due = 1 AND status = 'queued' AND published_at IS NULL`,
  'command is published': `transactions WHERE due = 1 AND status = 'queued' AND published_at IS NOT NULL`,
  'command is delivered': `transactions WHERE due = 1 AND status = 'delivered'`,
  'command is carried out': `transactions WHERE due = 1 AND status = 'processing'`,
  'command can expire': `transactions WHERE due = 1 AND ends_at IS NOT NULL`,
  'cancel is owed': `transactions WHERE due = 1 AND status = 'cancelled'`,
  'rollout runs': `rollouts WHERE state = 'running' AND publishes = 1`,
  'rollout soaks': `rollouts WHERE state = 'running' AND share_since IS NOT NULL`,
  'rollout is paused': `rollouts WHERE state = 'paused'`,
  'rollout takes back': `rollouts WHERE at_work = 1 AND publishes = 0 AND drained = 0`,
  'delivery waits': `deliveries WHERE status = 'pending' AND attempts = 0`,
  'delivery is tried again': `deliveries WHERE status = 'pending' AND attempts > 0`,
  'activation is under way': `devices WHERE activation = 'activating'`,
} as const satisfies Record<string, string>;
export type Phase = keyof typeof PHASES;
