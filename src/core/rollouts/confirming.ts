import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Look } from './looking.ts';
import {
  type ConfirmingMember,
  FIRST_CONFIRMING,
  findConfirming,
  findMember,
  lastSeenOf,
  type Member,
} from './member-repository.ts';
import type { Result } from './results.ts';
import type { Rollout } from './rollout.ts';
import { findAsked, findRollout } from './rollout-repository.ts';
import { activatedAmong, findUnchanged } from './unchanged-repository.ts';

const SECOND = 1_000_000;
/** Members that are read at once, and those that are judged in one unit of work. */
const PER_PAGE = 500;
const PER_UNIT = 64;
/**
 * Microseconds after a result in which nothing proves that the device is well: what it sends then may come over the
 * network that it is about to leave, or before its restart.
 */
const PROVES_NOTHING: Micros = 30 * SECOND;
/** Microseconds until every node has stored when a device was heard of. */
const STORED_LATE: Micros = 20 * SECOND;
/** Microseconds for which no device counts as silent after the service could not hear any: they have to come back. */
const COMING_BACK: Micros = 300 * SECOND;

interface Parts {
  database: Database;
  log: Log;
  /** The time at which a device was last heard of (microseconds), if it is newer than the stored one. */
  presence: { newerThanStored(deviceId: string): number | undefined };
  /** Counts the result of a member whose success was provisional. */
  confirm(unit: UnitOfWork, rollout: Rollout, member: Member, result: Result): Promise<void>;
}

/**
 * Judges provisional successes: a device that is heard of after its result, in time, has succeeded, and one that is not has
 * failed with SILENT. If its rollout asks for the version as well, a device that does not report it in time has failed with
 * VERSION_LOST. A device that the application has no longer is `cancelled`.
 */
export function createConfirming({ database, log, presence, confirm }: Parts): { look: Look } {
  /** Looks at all members that wait, in pages. A rollout whose members cannot be judged holds up no other. */
  async function look(...[now, listensSince, lives]: Parameters<Look>): Promise<number> {
    const rollouts = new Map<string, Rollout | undefined>();
    let seen = 0;
    // A look that finds nobody, as at most starts, needs no thread that reads.
    if ((await findConfirming(database.read, FIRST_CONFIRMING, 1)).length === 0) return 0;
    for (let after = FIRST_CONFIRMING; ; ) {
      const page = await findConfirming(database.aside, after, PER_PAGE);
      for (const [rolloutId, members] of Map.groupBy(page, (member) => member.rolloutId)) {
        try {
          if (!rollouts.has(rolloutId)) rollouts.set(rolloutId, await findRollout(database.read, rolloutId));
          const rollout = rollouts.get(rolloutId);
          if (rollout) await judgeAll(rollout, members, now, listensSince);
        } catch (err) {
          if (isDatabaseAway(err)) throw err;
          log.error({ err, rolloutId }, 'devices of a rollout could not be confirmed; trying again');
          rollouts.set(rolloutId, undefined); // its further pages come with the next look
        }
      }
      lives();
      seen += page.length;
      const last = page.at(-1);
      if (!last || page.length < PER_PAGE) return seen;
      after = last;
    }
  }

  async function judgeAll(
    rollout: Rollout,
    members: readonly ConfirmingMember[],
    now: Micros,
    listensSince: Micros,
  ): Promise<void> {
    const { rolloutId, applicationId, operation, plan } = rollout;
    const ids = members.map(({ deviceId }) => deviceId);
    const owned = new Set(await activatedAmong(database.aside, applicationId, ids));
    // A cancelled rollout has forgotten what it asked for.
    const asked = plan.confirm?.versionKept ? await findAsked(database.read, rolloutId) : undefined;
    const kept = asked === undefined ? undefined : await findUnchanged(database.aside, operation, asked, ids);
    const resultOf = ({ deviceId, updatedAt, notBefore, lastSeenAt }: ConfirmingMember): Result | undefined => {
      if (!owned.has(deviceId)) return { status: 'cancelled', errorCode: null };
      const seenAt = Math.max(lastSeenAt ?? 0, presence.newerThanStored(deviceId) ?? 0);
      const isSeen = seenAt >= updatedAt + PROVES_NOTHING;
      if (isSeen && (kept?.has(deviceId) ?? true)) return { status: 'succeeded', errorCode: null };
      if (now < notBefore + STORED_LATE || now < listensSince + COMING_BACK) return undefined;
      return { status: 'failed', errorCode: isSeen ? 'VERSION_LOST' : 'SILENT' };
    };
    const judged = members.flatMap((member) => {
      const result = resultOf(member);
      return result ? [{ member, result }] : [];
    });
    for (let start = 0; start < judged.length; start += PER_UNIT)
      await database.transact((unit) => write(unit, rolloutId, judged.slice(start, start + PER_UNIT)), {
        pace: 'soon',
      });
  }

  /**
   * Whether a device was heard of after all. Its time moves from the memory into its row, and the page may have been read
   * before, and the memory looked at after: in the other order none is missed.
   */
  async function wasHeard(unit: UnitOfWork, { deviceId, updatedAt }: Member): Promise<boolean> {
    const inMemory = presence.newerThanStored(deviceId) ?? 0;
    return Math.max(inMemory, await lastSeenOf(unit, deviceId)) >= updatedAt + PROVES_NOTHING;
  }

  async function write(
    unit: UnitOfWork,
    rolloutId: string,
    judged: readonly { member: Member; result: Result }[],
  ): Promise<void> {
    for (const { member, result } of judged) {
      // Each result may have changed the rollout.
      const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
      const found = await findMember(unit, rolloutId, member.deviceId);
      if (!rollout || found?.state !== 'confirming' || found.transactionId !== member.transactionId) continue;
      if (result.errorCode === 'SILENT' && (await wasHeard(unit, found))) continue; // the next look sees it
      await confirm(unit, rollout, found, result);
    }
  }

  return { look };
}
