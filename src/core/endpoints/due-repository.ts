import { inSets } from '../../platform/database/set-form.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { EndpointId, Outcome } from '../webhooks/delivery.ts';
import { dueRows } from '../webhooks/due-rows.ts';
import { ATTEMPTED, OPEN } from './delivery-columns.ts';

const SAVE_OUTCOME = inSets(
  `UPDATE endpoint_deliveries SET status = CASE WHEN ? = 'pending' THEN status ELSE ? END, attempts = ?, last_status_code = ?, last_error = ?, next_attempt_at = ?,
     updated_at = ?
   WHERE application_id = ? AND endpoint_id = ? AND sequence = ? AND COALESCE(status, '') IN ('pending', 'blocked')
     AND round = ? AND attempts < ?`,
  // biome-ignore format: the types in the order of the placeholders
  ['text', 'text', 'bigint', 'bigint', 'text', 'bigint', 'bigint', 'text', 'text', 'bigint', 'bigint', 'bigint'],
);

/** The deliveries of endpoints, as the sender of webhooks finds them; the `setting` of a receiver is the endpoint. */
export const dueOfEndpoints = {
  ...dueRows<EndpointId>({
    table: 'endpoint_deliveries',
    column: 'endpoint_id',
    attempted: `${ATTEMPTED} FROM endpoint_deliveries e
   JOIN deliveries d ON d.application_id = e.application_id AND d.delivery_id = e.event_id`,
    of: 'e.',
    id: 'event_id',
    order: 'sequence',
    key: ['application_id', 'endpoint_id', 'sequence'],
    waiting: OPEN, // also blocked ones: they keep their time when they are released
  }),

  /** Stores the outcome of an attempt; `stored` is called with false when it is outdated. */
  saveOutcome(unit: UnitOfWork, outcome: Outcome & { setting: string }, stored: (counts: boolean) => void): void {
    const { status, attempts, statusCode, error, nextAttemptAt, at, applicationId, setting, sequence, round } = outcome;
    unit.later(
      SAVE_OUTCOME,
      [
        status,
        status,
        attempts,
        statusCode,
        error,
        nextAttemptAt,
        at,
        applicationId,
        setting,
        sequence,
        round,
        attempts,
      ],
      (changed) => stored(changed > 0),
    );
  },
};
