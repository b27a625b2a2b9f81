import { ROLE } from '../base/place.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';

export type Order = RolloutDetails['permits'][number];

/** The operations of the operator; the other orders belong to the application. */
const OF_OPERATOR = { pause: 'pauseFleetRollout', cancel: 'cancelFleetRollout' } as const;

/** Whether the user may give a rollout an order now: the service says what it permits, and the session who may. */
export function mayOrder({ permits }: RolloutDetails, order: Order): boolean {
  if (!permits.includes(order)) return false;
  if (order === 'pause' || order === 'cancel') return mayChange('device', OF_OPERATOR[order]);
  return ROLE === 'application' && mayChange('device');
}
