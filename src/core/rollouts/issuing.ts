import { DomainError, type ErrorCode, isPassing } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Statuses } from '../devices/statuses.ts';
import { firmwareWarning } from '../transactions/firmware-warning.ts';
import type { Request } from '../transactions/operations.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { moveCount } from './count-repository.ts';
import { NO_PLACE } from './counts.ts';
import { type Member, updateMember } from './member-repository.ts';
import { hasFree } from './places.ts';
import type { PauseReason, Rollout } from './rollout.ts';
import { findRollout } from './rollout-repository.ts';
import { SUPERSEDED, supersededAmong } from './superseding.ts';
import { activatedAmong, findUnchanged } from './unchanged-repository.ts';
import { LeftOut, type Ways } from './ways-back.ts';

/**
 * The units of work that make commands at the same time, and the commands after which single calls get room. Few, so that
 * the units of callers come between them.
 */
const AT_ONCE = 3;
const PER_PIECE = 12;
const NOBODY: ReadonlySet<string> = new Set();

/**
 * Errors that concern the whole rollout, and not one of its devices, with the reasons for which it pauses. A version that
 * becomes unavailable between two steps pauses it for the same reason as at any other time.
 */
const OF_ALL: { readonly [Code in ErrorCode]?: PauseReason } = {
  APPLICATION_UNREGISTERED: 'APPLICATION_UNREGISTERED',
  KEY_NOT_ISSUED: 'KEY_NOT_ISSUED',
  NOTIFICATION_NOT_CONFIGURED: 'NOTIFICATION_NOT_CONFIGURED',
  UPLOADS_NOT_CONFIGURED: 'UPLOADS_NOT_CONFIGURED',
  PACKAGE_NOT_FOUND: 'BINARY_DELETED',
  VERSION_NOT_FOUND: 'BINARY_DELETED',
  DISTRIBUTION_NOT_STARTED: 'DISTRIBUTION_STOPPED',
  BINARY_MISSING: 'BINARY_DELETED',
  SIGNATURE_MISSING: 'SIGNATURE_MISSING',
  SIGNATURE_INVALID: 'SIGNATURE_INVALID',
  CERTIFICATE_CHANGED: 'CERTIFICATE_CHANGED',
  CERTIFICATE_UNREADABLE: 'CERTIFICATE_UNREADABLE',
  FIRMWARE_NOT_LISTED: 'BINARY_DELETED',
};

/** Thrown in a unit of work whose rollout, or device, has changed since it was read: nothing is done. */
const CHANGED = new Error('the rollout has changed');

interface Parts {
  database: Database;
  clock: Clock;
  ways: Pick<Ways, 'begin' | 'bodiesOf'>;
  submit: Transactions['submit'];
  statuses: Pick<Statuses, 'versionsOf'>;
  throttle: Transactions['throttle'];
}

export type Issuing = ReturnType<typeof createIssuing>;

/** Makes the transactions of rollouts, each in a unit of work that also changes its member and the counts. */
export function createIssuing({ database, clock, ways, submit, statuses, throttle }: Parts) {
  /** Moves a waiting member on, if the rollout still runs. Throws CHANGED. */
  async function take(
    unit: UnitOfWork,
    rolloutId: string,
    member: Member,
    to: Pick<Member, 'state'> & Partial<Member>,
  ): Promise<void> {
    const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
    if (!rollout?.publishes || rollout.state !== 'running') throw CHANGED;
    const taken = { ...member, notBefore: 0, code: null, ...to };
    if (taken.state === 'unfinished' && taken.code !== NO_PLACE && !(await hasFree(unit, rollout))) throw CHANGED;
    if (!(await updateMember(unit, rolloutId, member, taken, clock.now()))) throw CHANGED;
    await moveCount(unit, rolloutId, member.stage, member, taken);
  }

  const end = (
    rollout: Rollout,
    member: Member,
    state: 'unchanged' | 'refused' | 'cancelled',
    code: string | null,
  ): Promise<void> =>
    database.transact((unit) => take(unit, rollout.rolloutId, member, { state, code }), { pace: 'soon' });

  /** Makes the transaction of a member. Returns the reason for which the whole rollout must pause. */
  async function one(
    rollout: Rollout,
    asked: unknown,
    member: Member,
    hasPlace: boolean,
  ): Promise<PauseReason | undefined> {
    const { rolloutId, applicationId, operation, plan } = rollout;
    const { deviceId } = member;
    const request = { operation, asked } as Request;
    try {
      const code = hasPlace ? null : NO_PLACE;
      await submit(
        { applicationId, deviceId, ...request, terms: plan.terms, rolloutId, isHeld: !hasPlace },
        (unit, transactionId) =>
          ways.begin(unit, rollout, deviceId).then(() =>
            take(unit, rolloutId, member, {
              state: 'unfinished',
              transactionId,
              attempts: member.attempts + 1,
              code,
            }),
          ),
      );
    } catch (error) {
      if (error instanceof LeftOut) {
        await end(rollout, member, 'refused', error.code);
        return undefined;
      }
      if (!(error instanceof DomainError) || isPassing(error)) throw error;
      const ofAll = OF_ALL[error.code];
      if (ofAll !== undefined) return ofAll;
      await end(rollout, member, 'refused', error.code);
    }
    return undefined;
  }

  return {
    /**
     * Makes the transactions of waiting members, in their order, a few at a time; those of `without` are not published before
     * they get a place. A device that has the wanted state
     * already, cannot have a command, or has got one of a newer rollout, gets none. Resolves to the reason for which the whole rollout must pause, if there
     * is one. Rejects when the database or the object store does not answer; members without a transaction then still wait.
     */
    async issue(
      rollout: Rollout,
      asked: unknown,
      members: readonly Member[],
      without: ReadonlySet<string> = NOBODY,
    ): Promise<PauseReason | undefined> {
      const all = members.map(({ deviceId }) => deviceId);
      const ids = await activatedAmong(database.read, rollout.applicationId, all);
      const bodies = await ways.bodiesOf(rollout, all);
      const unchanged = bodies ? new Set<string>() : await findUnchanged(database.read, rollout.operation, asked, ids);
      const versions = rollout.operation === 'setConnectivityState' ? await statuses.versionsOf(ids) : undefined;
      const superseded = await supersededAmong(database.read, rollout, all);
      const isTooOld = (deviceId: string): boolean => {
        const known = versions?.get(deviceId);
        return (
          known !== undefined && firmwareWarning({ operation: rollout.operation, status: 'queued' }, known) !== null
        );
      };
      let reason: PauseReason | undefined;
      const worker = async (waiting: Iterable<Member>): Promise<void> => {
        for (const member of waiting) {
          if (reason !== undefined) return;
          const { deviceId } = member;
          if (superseded.has(deviceId)) await end(rollout, member, 'cancelled', SUPERSEDED);
          else if (unchanged.has(deviceId)) await end(rollout, member, 'unchanged', null);
          else if (isTooOld(deviceId)) await end(rollout, member, 'refused', 'FIRMWARE_TOO_OLD');
          else if (!bodies) reason ??= await one(rollout, asked, member, !without.has(deviceId));
          else if (!bodies.has(deviceId)) await end(rollout, member, 'refused', 'FORMER_UNKNOWN');
          else reason ??= await one(rollout, bodies.get(deviceId), member, !without.has(deviceId));
        }
      };
      for (let start = 0; start < members.length && reason === undefined; start += PER_PIECE) {
        const began = performance.now();
        const waiting = members.slice(start, start + PER_PIECE).values();
        const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => worker(waiting)));
        for (const each of ended) if (each.status === 'rejected' && each.reason !== CHANGED) throw each.reason;
        await throttle(began);
      }
      return reason;
    },
  };
}
