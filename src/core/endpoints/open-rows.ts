import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import { IS_FIRST, OF_ITS_DEVICE, OF_KEY, OPEN, RELEASED } from './delivery-columns.ts';
import type { EndpointKey } from './endpoint.ts';

/** A delivery that is not through. */
export interface OpenRow {
  deviceId: string;
  sequence: number;
  status: 'pending' | 'blocked';
  attempts: number;
  nextAttemptAt: Micros;
}

/** Before the first open delivery of an endpoint, in their order by device and number. */
export const BEFORE_ALL = { deviceId: '', sequence: -1 } as const;

/** The deliveries of an endpoint that are not through, behind one of them, in their order by device and number. */
export const listOpen = (
  sql: Sql,
  { applicationId, endpointId }: EndpointKey,
  behind: Pick<OpenRow, 'deviceId' | 'sequence'>,
  most: number,
): Promise<OpenRow[]> =>
  sql.all(
    `SELECT device_id AS "deviceId", sequence, status, attempts, next_attempt_at AS "nextAttemptAt" FROM endpoint_deliveries
     WHERE ${OF_KEY} AND ${OPEN} AND (device_id, sequence) > (?, ?) ORDER BY device_id, sequence LIMIT (? + 0)`,
    applicationId,
    endpointId,
    behind.deviceId,
    behind.sequence,
    most,
  );

/** No open delivery of the device is pending. The index of open deliveries has those of one device together. */
const NONE_IS_PENDING = `NOT EXISTS (SELECT 1 FROM endpoint_deliveries p WHERE ${OF_ITS_DEVICE('p')} AND p.status = 'pending')`;

const OF_ROWS = `${OF_KEY} AND sequence IN ${IN_LIST}`;

/** The changes of deliveries, each only where the row is still as the change needs it. */
const CHANGES = {
  skip: { set: `status = 'skipped', next_attempt_at = NULL, updated_at = ?`, where: OPEN, times: 1 },
  hold: { set: `status = 'blocked'`, where: `status = 'pending'`, times: 0 },
  hasten: { set: 'next_attempt_at = ?, updated_at = ?', where: `status = 'pending' AND attempts > 0`, times: 2 },
  release: { set: RELEASED, where: `status = 'blocked'`, times: 3 },
  releaseFirst: {
    set: RELEASED,
    where: `status = 'blocked' AND ${IS_FIRST} AND ${NONE_IS_PENDING}`,
    times: 3,
  },
} as const;
export type RowChange = keyof typeof CHANGES;

/** Changes some open deliveries, by their numbers. The row of the endpoint is locked. */
export function changeRows(
  unit: UnitOfWork,
  { applicationId, endpointId }: EndpointKey,
  change: RowChange,
  sequences: readonly number[],
  now: Micros,
): void {
  const { set, where, times } = CHANGES[change];
  const nows = Array<number>(times).fill(now);
  for (const list of inLists(sequences))
    unit.later(`UPDATE endpoint_deliveries SET ${set} WHERE ${OF_ROWS} AND ${where}`, [
      ...nows,
      applicationId,
      endpointId,
      ...list,
    ]);
}
