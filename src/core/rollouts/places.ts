import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import { findDevice } from '../devices/device-repository.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { findCounts, moveCount } from './count-repository.ts';
import { NO_PLACE, placesOf } from './counts.ts';
import { latestOf } from './given-repository.ts';
import { untilNextLook } from './look-interval.ts';
import { findMember, type Member, type MemberPlace, updateMember } from './member-repository.ts';
import { findUnfinished, type UnfinishedMember, wasOvertaken, wasPublished } from './place-repository.ts';
import type { Rollout } from './rollout.ts';
import { findRollout } from './rollout-repository.ts';

/** The bound of a rollout that has an abort rule and names none. */
export const USUAL_MOST_UNFINISHED = 100;
/** The unfinished devices of a rollout at which the service looks in one interval. */
const MEMBERS_PER_LOOK = 5_000;
const PER_PAGE = 1_000;
/** Places that are given in one step of a rollout. */
const PER_STEP = 64;
const FIRST: MemberPlace = { stage: -1, place: -1 };
const NOBODY: ReadonlySet<string> = new Set();

interface Parts {
  database: Database;
  clock: Clock;
  metrics: Pick<Metrics, 'rolloutsFull'>;
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** Called in the unit of work after which a held command of a device may be published. */
  letGo(unit: UnitOfWork, deviceId: string): Promise<void>;
  withdrawIn: Transactions['withdrawIn'];
  wake(rolloutId: string): void;
}

/** What is known in memory of a rollout with a bound. */
interface Known {
  /** Devices that have connected, and whose commands wait for a place. */
  wanting: Set<string>;
  /** The time of the next look at all, and the place after which a look that has begun goes on. */
  lookAt: Micros;
  after?: MemberPlace | undefined;
  isFull: boolean;
}

/** The number of free places, and the time at which to look again. */
interface Room {
  free: number;
  at: Micros | 'now' | undefined;
}

/**
 * Keeps the number of devices that may be carrying out a command within the bound of a rollout. A command with a place may be
 * published; it keeps the place until its result, because its device may have received it. A command for a device that is not
 * connected is made without a place, so that it holds nobody up, and may not be published: the device gets a place when it
 * has connected and one is free. A place is taken back from a command that was never published, when its device has gone.
 */
export function createPlaces({ database, clock, metrics, connected, letGo, withdrawIn, wake }: Parts) {
  const known = new Map<string, Known>();

  function of(rolloutId: string): Known {
    const found = known.get(rolloutId) ?? { wanting: new Set(), lookAt: 0, isFull: false };
    known.set(rolloutId, found);
    return found;
  }

  /**
   * Takes back a held command if the device was sent a newer one meanwhile: commands of a device are published in the order
   * of their numbers. The device waits again, and gets another command with a place.
   */
  async function madeAnew(unit: UnitOfWork, rollout: Rollout, member: Member): Promise<boolean> {
    const { deviceId, transactionId, stage, attempts } = member;
    if (transactionId === null || !(await wasOvertaken(unit, deviceId, transactionId))) return false;
    if ((await withdrawIn(unit, transactionId)) !== 'deleted') return true;
    const latest = await latestOf(unit, rollout, deviceId);
    const to = { ...member, state: 'waiting', code: null, transactionId: latest, attempts: attempts - 1 } as const;
    await updateMember(unit, rollout.rolloutId, member, to, clock.now());
    await moveCount(unit, rollout.rolloutId, stage, member, to);
    unit.onCommit(() => wake(rollout.rolloutId));
    return true;
  }

  /** Gives a place to a command, or takes it back. Claims are made under the lock of the device, so none comes between. */
  const move = (rolloutId: string, deviceId: string, gives: boolean): Promise<void> =>
    database.transact(
      async (unit) => {
        await findDevice(unit, deviceId, unit.forUpdate);
        const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
        if (rollout?.state !== 'running' || !rollout.publishes) return;
        const member = await findMember(unit, rolloutId, deviceId);
        if (member?.state !== 'unfinished' || (member.code === NO_PLACE) !== gives) return;
        if (gives ? !(await hasFree(unit, rollout)) : await wasPublished(unit, member.transactionId)) return;
        if (gives && (await madeAnew(unit, rollout, member))) return;
        const to = { ...member, code: gives ? null : NO_PLACE };
        await updateMember(unit, rolloutId, member, to, clock.now());
        await moveCount(unit, rolloutId, member.stage, member, to);
        if (gives) await letGo(unit, deviceId);
      },
      { pace: 'soon' },
    );

  /** Looks at a page of the unfinished devices: who has connected and waits, and who has gone before it got the command. */
  async function look(rolloutId: string, all: Known, unfinished: number): Promise<void> {
    const page = await findUnfinished(database.read, rolloutId, all.after ?? FIRST, PER_PAGE);
    const unpublished = page.filter(({ published }) => published === 0);
    const isThere = await connected(unpublished.map(({ deviceId }) => deviceId));
    const gone: UnfinishedMember[] = [];
    for (const member of unpublished)
      if (member.code !== NO_PLACE && !isThere.has(member.deviceId)) gone.push(member);
      else if (member.code === NO_PLACE && isThere.has(member.deviceId)) all.wanting.add(member.deviceId);
    for (const { deviceId } of gone) await move(rolloutId, deviceId, false);
    all.after = page.length < PER_PAGE ? undefined : page.at(-1);
    if (!all.after) all.lookAt = clock.now() + untilNextLook(unfinished, MEMBERS_PER_LOOK) * 1000;
  }

  /** Gives free places to connected devices that wait for them. */
  async function give(rolloutId: string, { wanting }: Known, free: number): Promise<void> {
    const next = [...wanting.values().take(Math.min(free, PER_STEP))];
    if (next.length === 0) return;
    const isThere = await connected(next);
    for (const deviceId of next) {
      wanting.delete(deviceId);
      if (isThere.has(deviceId)) await move(rolloutId, deviceId, true);
    }
  }

  function noteFull(all: Known, isFull: boolean): void {
    if (isFull && !all.isFull) metrics.rolloutsFull.inc();
    all.isFull = isFull;
  }

  return {
    /** Gives places that are free to commands that wait for them, and tells how many are left. */
    async serve({ rolloutId, plan }: Rollout): Promise<Room> {
      const { maxUnfinished: most } = plan;
      if (most === undefined) return { free: Number.POSITIVE_INFINITY, at: undefined };
      const all = of(rolloutId);
      const before = placesOf(await findCounts(database.read, rolloutId));
      if ((before.without > 0 || before.taken >= most) && clock.now() >= all.lookAt)
        await look(rolloutId, all, before.taken + before.without);
      await give(rolloutId, all, most - before.taken);
      const { taken, without } = placesOf(await findCounts(database.read, rolloutId));
      const free = Math.max(0, most - taken);
      noteFull(all, free === 0);
      if (all.after || (free > 0 && all.wanting.size > 0)) return { free, at: 'now' };
      return { free, at: without > 0 || free === 0 ? all.lookAt : undefined };
    },

    /**
     * The members, of those that are next, that get a command now: connected ones while places are free, and others without
     * a place.
     */
    async choose(
      { plan }: Rollout,
      members: readonly Member[],
      free: number,
    ): Promise<{ chosen: readonly Member[]; without: ReadonlySet<string> }> {
      if (plan.maxUnfinished === undefined) return { chosen: members, without: NOBODY };
      const isThere = await connected(members.map(({ deviceId }) => deviceId));
      const chosen: Member[] = [];
      const without = new Set<string>();
      let left = free;
      for (const member of members) {
        if (!isThere.has(member.deviceId)) without.add(member.deviceId);
        else if (left === 0) break;
        else left -= 1;
        chosen.push(member);
      }
      return { chosen, without };
    },

    /** Call this when a device has connected, and a command of a rollout for it is held. */
    wants(rolloutId: string, deviceId: string): void {
      const all = known.get(rolloutId);
      if (!all || all.wanting.has(deviceId)) return;
      all.wanting.add(deviceId);
      wake(rolloutId);
    },

    /** Call this when a rollout has ended. */
    forget: (rolloutId: string): unknown => known.delete(rolloutId),
  };
}

export type Places = ReturnType<typeof createPlaces>;

/** Whether a place is free, in a unit of work that has locked the rollout. */
export async function hasFree(unit: UnitOfWork, { rolloutId, plan }: Rollout): Promise<boolean> {
  const { maxUnfinished: most } = plan;
  return most === undefined || placesOf(await findCounts(unit, rolloutId)).taken < most;
}
