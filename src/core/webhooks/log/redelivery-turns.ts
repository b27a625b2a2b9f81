import { DomainError } from '@lapel/schemas/contracts/errors';
import type { UnitOfWork } from '../../../platform/database/sql.ts';
import type { Micros } from '../../../runtime/units.ts';

/** The redelivered webhooks of an application that go out in a second, and those that go out at once before. */
const PER_SECOND = 200;
const AT_ONCE = 1_000;
const EACH_MICROS = 1_000_000 / PER_SECOND;
/** A start pulls down due times that are much later. */
const LATEST_MICROS = 24 * 3_600 * 1_000_000;
/** A range is at work for so long after its last page; then its node has died, and another range may begin. */
const HELD_MICROS = 30_000_000;
/** A time that is later than any node could have stored it was stored by a wrong clock, and counts for nothing. */
const TOLERANCE_MICROS = 10_000_000;

/**
 * A range of webhooks that become due again. An application has one at a time, whichever node works on it, and all of its
 * ranges together have one pace. Without the pace, a range goes out as fast as its receiver answers, and other
 * applications' new webhooks wait for the processor.
 */
export interface RedeliveryTurn {
  applicationId: string;
  turn: number;
}

/** Begins a range; undefined when another one is at work, or the application does not exist. */
export async function takeTurn(
  unit: UnitOfWork,
  applicationId: string,
  now: Micros,
): Promise<RedeliveryTurn | undefined> {
  const until = now + HELD_MICROS;
  const latest = until + TOLERANCE_MICROS;
  // Without a lock, because a page of the range at work may have locked the row, and its refusal shall not wait for that.
  const text = 'SELECT 1 AS "one" FROM redeliveries WHERE application_id = ? AND held_until > ? AND held_until <= ?';
  if (await unit.get(text, applicationId, now, latest)) return undefined;
  const row = await unit.get<{ turn: number }>(
    `INSERT INTO redeliveries (application_id, turn, held_until, paced_until)
     SELECT application_id, 1, CAST(? AS BIGINT), 0 FROM applications WHERE application_id = ?${unit.whileThere}
     ON CONFLICT (application_id) DO UPDATE SET turn = redeliveries.turn + 1, held_until = excluded.held_until
       WHERE redeliveries.held_until <= ? OR redeliveries.held_until > ?
     RETURNING turn`,
    until,
    applicationId,
    now,
    latest,
  );
  return row && { applicationId, turn: row.turn };
}

/**
 * Locks the turn of a range for a page: `dueAt` is the time at which its webhooks are due, and `took` counts them and
 * keeps the turn. Throws REDELIVERY_RUNNING when the time of the range was over and another one has begun, and
 * APPLICATION_UNREGISTERED when the application was removed.
 */
export async function keepTurn(unit: UnitOfWork, { applicationId, turn }: RedeliveryTurn, now: Micros) {
  const row = await unit.get<{ turn: number; pacedUntil: Micros }>(
    `SELECT turn, paced_until AS "pacedUntil" FROM redeliveries WHERE application_id = ?${unit.forUpdate}`,
    applicationId,
  );
  if (!row) throw new DomainError('APPLICATION_UNREGISTERED');
  if (row.turn !== turn) throw new DomainError('REDELIVERY_RUNNING');
  const latest = now + LATEST_MICROS;
  const isBelieved = row.pacedUntil <= latest + TOLERANCE_MICROS;
  const end = Math.min(Math.max(now - AT_ONCE * EACH_MICROS, isBelieved ? row.pacedUntil : 0), latest);
  return {
    dueAt: Math.max(now, end),
    took(webhooks: number): void {
      unit.later('UPDATE redeliveries SET held_until = ?, paced_until = ? WHERE application_id = ?', [
        now + HELD_MICROS,
        end + webhooks * EACH_MICROS,
        applicationId,
      ]);
    },
  };
}

/** Ends a range, so that the next one may begin. */
export const endTurn = (unit: UnitOfWork, { applicationId, turn }: RedeliveryTurn): void =>
  unit.later('UPDATE redeliveries SET held_until = 0 WHERE application_id = ? AND turn = ?', [applicationId, turn]);

/** Forgets the ranges of an application, in the unit of work that removes it. */
export const forgetTurns = (unit: UnitOfWork, applicationId: string): Promise<number> =>
  unit.run('DELETE FROM redeliveries WHERE application_id = ?', applicationId);
