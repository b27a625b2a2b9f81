import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { findDevice } from '../devices/device-repository.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { moveCount } from './count-repository.ts';
import { latestOf } from './given-repository.ts';
import { findInState, type Member, type MemberPlace, updateMember } from './member-repository.ts';
import type { Rollout } from './rollout.ts';
import { findRollout, updateRollout } from './rollout-repository.ts';

/** The members that one read finds, and the units of work that run at the same time. */
const PER_READ = 256;
const AT_ONCE = 4;
/** Waiting members that are cancelled in one unit of work. */
const PER_UNIT = 64;
const FIRST: MemberPlace = { stage: -1, place: -1 };

interface Parts {
  database: Database;
  clock: Clock;
  withdrawIn: Transactions['withdrawIn'];
  cancelIn: Transactions['cancelIn'];
  throttle: Transactions['throttle'];
}

export type Withdrawal = ReturnType<typeof createWithdrawal>;

/**
 * Takes back the commands of a rollout that is paused or outside of its window, if they were never published: their devices
 * wait again, and published ones stay held. The commands of a cancelled rollout are cancelled, also delivered ones.
 */
export function createWithdrawal({ database, clock, withdrawIn, cancelIn, throttle }: Parts) {
  const change = async (unit: UnitOfWork, rolloutId: string, from: Member, to: Member): Promise<void> => {
    if (await updateMember(unit, rolloutId, from, to, clock.now()))
      await moveCount(unit, rolloutId, from.stage, from, to);
  };

  const stop = (rolloutId: string, member: Member): Promise<void> =>
    database.transact(
      async (unit) => {
        const { deviceId, transactionId, attempts } = member;
        await findDevice(unit, deviceId, unit.forUpdate);
        const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
        if (!rollout || rollout.publishes || transactionId === null) return;
        // The end of a transaction changes its member. A transaction that is deleted has no end.
        if (rollout.state === 'cancelled') await cancelIn(unit, transactionId);
        else if ((await withdrawIn(unit, transactionId)) === 'deleted')
          await change(unit, rolloutId, member, {
            ...member,
            state: 'waiting',
            code: null,
            // The device may have received an earlier one, and answer it late.
            transactionId: await latestOf(unit, rollout, deviceId),
            attempts: attempts - 1,
          });
      },
      { pace: 'soon' },
    );

  const cancelWaiting = (rolloutId: string, members: readonly Member[]): Promise<void> =>
    database.transact(
      async (unit) => {
        await findRollout(unit, rolloutId, unit.forUpdate);
        for (const member of members) await change(unit, rolloutId, member, { ...member, state: 'cancelled' });
      },
      { pace: 'soon' },
    );

  /** Ends some members, a few units of work at a time, in groups of `size`. */
  async function endAll(
    members: readonly Member[],
    size: number,
    end: (group: readonly Member[]) => Promise<void>,
  ): Promise<void> {
    const groups: (readonly Member[])[] = [];
    for (let start = 0; start < members.length; start += size) groups.push(members.slice(start, start + size));
    const left = groups[Symbol.iterator]();
    const worker = async (): Promise<void> => {
      for (const group of left) {
        const began = performance.now();
        await end(group);
        await throttle(began);
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
  }

  /** By rollout: the place after which the next step looks, since the entry of its history that began the withdrawal. */
  const places = new Map<string, { entries: number; of: 'unfinished' | 'waiting'; after: MemberPlace }>();

  return {
    /**
     * Ends some of the undelivered commands; resolves to true when none is left. It can be repeated after a failure, and
     * begins anew when the rollout has changed meanwhile.
     */
    async drain({ rolloutId, state, entries }: Pick<Rollout, 'rolloutId' | 'state' | 'entries'>): Promise<boolean> {
      const known = places.get(rolloutId);
      const { of, after } = known?.entries === entries ? known : { of: 'unfinished' as const, after: FIRST };
      const found = await findInState(database.read, rolloutId, { state: of, after, limit: PER_READ });
      if (of === 'unfinished')
        await endAll(found, 1, async ([member]) => (member ? stop(rolloutId, member) : undefined));
      else await endAll(found, PER_UNIT, (members) => cancelWaiting(rolloutId, members));
      const last = found.length < PER_READ ? undefined : found.at(-1);
      if (last || (of === 'unfinished' && state === 'cancelled')) {
        places.set(rolloutId, last ? { entries, of, after: last } : { entries, of: 'waiting', after: FIRST });
        return false;
      }
      places.delete(rolloutId);
      await database.transact(
        async (unit) => {
          const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
          if (rollout && !rollout.publishes && rollout.entries === entries)
            await updateRollout(unit, { ...rollout, drained: true });
        },
        { pace: 'soon' },
      );
      return true;
    },
  };
}
