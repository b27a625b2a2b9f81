import type { Database, Sql } from '../../platform/database/sql.ts';
import { createBulkThrottle } from '../../runtime/bulk-throttle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import { NO_DEVICE } from '../webhooks/delivery.ts';
import { countWith } from './delivery-list-repository.ts';
import { type Endpoint, type EndpointKey, isDown } from './endpoint.ts';
import { findEndpoint, saveSettled } from './endpoint-repository.ts';
import { BEFORE_ALL, changeRows, listOpen, type OpenRow, type RowChange } from './open-rows.ts';

/** The most open deliveries that a change of an endpoint changes in its own unit of work, and in one piece of others. */
const SETTLED_AT_ONCE = 500;

/** Whether an endpoint has more open deliveries than one unit of work changes. */
export const hasMany = async (sql: Sql, endpoint: EndpointKey): Promise<boolean> =>
  (await countWith(sql, endpoint, 'open', SETTLED_AT_ONCE + 1)) > SETTLED_AT_ONCE;

interface Parts {
  database: Database;
  clock: Pick<Clock, 'now'>;
  /** Called after the commit with which the deliveries fit: they are sent again. */
  settled(endpoint: EndpointKey): void;
}

type Wanted = Record<RowChange, number[]>;

/** The device at the end of a piece, whose other deliveries may be in the next one. */
interface Carry {
  deviceId: string | null;
  /** Its first open delivery, while none of the device is pending. */
  waits: number | undefined;
}

/** Others work meanwhile. */
const pause = createBulkThrottle(() => 1);

/**
 * The change of an open delivery, so that it fits the state of its endpoint; undefined: it does. Of an ordered endpoint the
 * first delivery of a device that may have to be released is kept in `carry` until all of the device were seen.
 */
function changeOf(
  endpoint: Endpoint,
  row: OpenRow,
  carry: Carry,
  wanted: Wanted,
): 'skip' | 'hold' | 'release' | undefined {
  const { enabled, ordered, settling } = endpoint;
  const { deviceId, sequence } = row;
  const isPending = row.status === 'pending';
  if (settling !== null && sequence <= settling) return 'skip';
  if (!enabled) return isPending ? 'hold' : undefined;
  if (!ordered || deviceId === NO_DEVICE) return isPending ? undefined : 'release';
  if (carry.deviceId !== deviceId) {
    if (carry.waits !== undefined) wanted.releaseFirst.push(carry.waits);
    Object.assign(carry, { deviceId, waits: isPending ? undefined : sequence });
  } else if (isPending) {
    if (settling !== null) return 'hold';
    carry.waits = undefined;
  }
  return undefined;
}

/** The changes of a piece of open deliveries. */
function changesOf(endpoint: Endpoint, rows: readonly OpenRow[], carry: Carry, now: Micros): Wanted {
  const wanted: Wanted = { skip: [], hold: [], hasten: [], release: [], releaseFirst: [] };
  const hastens = endpoint.settling !== null && endpoint.enabled && !isDown(endpoint);
  for (const row of rows) {
    const { sequence, status, attempts, nextAttemptAt } = row;
    const change = changeOf(endpoint, row, carry, wanted);
    if (change !== undefined) wanted[change].push(sequence);
    else if (hastens && status === 'pending' && attempts > 0 && nextAttemptAt > now) wanted.hasten.push(sequence);
  }
  return wanted;
}

/**
 * Makes the open deliveries of an endpoint fit its state, when these are many: a piece of them in a unit of work, with room
 * for others between two. The row of the endpoint says that it is not done, so another process or node goes on; a piece that
 * was done before changes nothing. Each row is changed only if it is still as it was read.
 */
export function createSettling({ database, clock, settled }: Parts) {
  /**
   * Goes over the open deliveries of an endpoint once, as it was read. Ends early when the endpoint is another one meanwhile,
   * or when this process does not serve it any more.
   */
  return async function settle(known: Endpoint, isOn: () => boolean): Promise<void> {
    const carry: Carry = { deviceId: null, waits: undefined };
    let behind: Pick<OpenRow, 'deviceId' | 'sequence'> = BEFORE_ALL;
    for (let isLast = false; !isLast && isOn(); ) {
      const rows = await listOpen(database.aside, known, behind, SETTLED_AT_ONCE);
      isLast = rows.length < SETTLED_AT_ONCE;
      behind = rows.at(-1) ?? behind;
      const now = clock.now();
      const wanted = changesOf(known, rows, carry, now);
      if (isLast && carry.waits !== undefined) wanted.releaseFirst.push(carry.waits);
      const changes = Object.entries(wanted).filter(([, list]) => list.length > 0) as [RowChange, number[]][];
      const isDone = isLast && known.settling !== null;
      if (changes.length === 0 && !isDone) continue;
      const began = performance.now();
      const isSame = await database.transact(
        async (unit) => {
          const endpoint = await findEndpoint(unit, known, unit.forUpdate);
          if (endpoint?.updatedAt !== known.updatedAt || endpoint.settling !== known.settling) return false;
          // An attempt that was under way has ended: what waits is due now, or no longer, also in the pieces that are done.
          if (isDown(endpoint) !== isDown(known)) return false;
          for (const [change, list] of changes) changeRows(unit, known, change, list, now);
          if (isDone) {
            saveSettled(unit, known);
            unit.onCommit(() => settled(known));
          }
          return true;
        },
        { whose: known.applicationId, pace: 'soon' },
      );
      if (!isSame) return;
      if (!isLast) await pause(began);
    }
  };
}
