import type { Micros } from '../../runtime/units.ts';
import type { MemberState } from './rollout.ts';

/** A device of a rollout that had a command of it, with its latest transaction; null where this was removed. */
export interface Given {
  deviceId: string;
  state: MemberState;
  status: string | null;
  attempts: number | null;
  deliveredAt: Micros | null;
  /** Null: the service did not end it before the device answered; empty: it did; else the device's late answer. */
  late: string | null;
}

/**
 * Whether a device has, or may have, what its command gave it: it has succeeded, or it may be carrying the command out, since
 * this was published and has no answer. `failed`: also if the device has answered that it failed.
 */
export function mayHaveIt({ state, status, attempts, deliveredAt, late }: Given, failed: boolean): boolean {
  if (status === null) return state === 'succeeded' || state === 'confirming' || failed;
  if (status === 'succeeded') return true;
  const isAnswered = status === 'failed' && late === null;
  if (isAnswered) return failed && deliveredAt !== null;
  return (attempts ?? 0) > 0 && (failed || !late?.includes('"status":"failed"'));
}
