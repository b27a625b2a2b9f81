import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { BulkThrottle } from '../../runtime/bulk-throttle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import { readSelector } from '../selection/read-selector.ts';
import type { Selection } from '../selection/selection.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { addCount } from './count-repository.ts';
import { insertMembers, membersAmong } from './member-repository.ts';
import type { Rollout } from './rollout.ts';
import { findRollout, findSelector, updateRollout } from './rollout-repository.ts';

/** The devices that one page has, and those that one unit of work stores. */
const PER_PAGE = 1_000;
const PER_UNIT = 100;
/** The most devices of a rollout. */
export const MOST_DEVICES = 100_000;
const EVERY_MICROS = 60 * 1_000_000;

interface Parts {
  database: Database;
  clock: Clock;
  selection: Pick<Selection, 'page'>;
  throttle: Transactions['throttle'];
}

export type Joining = ReturnType<typeof createJoining>;

/** Stores the devices of rollouts, in small units of work. */
export function createJoining({ database, clock, selection, throttle }: Parts) {
  /** By continuous rollout: the time of the next look, and the last deviceId of a look that has begun, which goes on after it. */
  const looks = new Map<string, { at: Micros; after?: string }>();

  async function join(rollout: Rollout, deviceIds: readonly string[]): Promise<boolean> {
    const { rolloutId } = rollout;
    let runs = true;
    for (let start = 0; start < deviceIds.length; start += PER_UNIT) {
      const began = performance.now();
      await database.transact(
        async (unit) => {
          const current = await findRollout(unit, rolloutId, unit.forUpdate);
          runs = current?.state === 'running';
          if (!current || !runs) return;
          const room = MOST_DEVICES - current.devices;
          // A newcomer would be untested in an earlier stage, and change its share while it soaks.
          const stage = current.plan.stages.length - 1;
          const some = deviceIds.slice(start, start + PER_UNIT);
          const known = await membersAmong(unit, rolloutId, some);
          const members = some
            .filter((deviceId) => !known.has(deviceId))
            .map((deviceId, index) => ({ deviceId, stage, place: current.devices + index }));
          const added = await insertMembers(unit, rolloutId, members.slice(0, room), clock.now());
          if (added.length === 0) return;
          await addCount(unit, rolloutId, { stage, state: 'waiting', code: '', devices: added.length });
          await updateRollout(unit, { ...current, devices: current.devices + added.length });
        },
        { pace: 'soon' },
      );
      if (!runs) return false;
      await throttle(began);
    }
    return true;
  }

  return {
    /** Adds devices to the last stage of a rollout, unless they are in it. False when it does not run any more. */
    join,

    /** Finds all devices that the selector of a rollout matches, up to `most`. `makeRoom` rests between pages. */
    async find(
      applicationId: string,
      selector: Parameters<typeof readSelector>[0],
      most: number,
      makeRoom: BulkThrottle,
    ): Promise<string[]> {
      const read = readSelector(selector, clock.now());
      const found: string[] = [];
      for (let after: string | undefined = ''; after !== undefined && found.length < most; ) {
        const began = performance.now();
        const page: Awaited<ReturnType<Selection['page']>> = await selection.page(applicationId, read, {
          after,
          limit: PER_PAGE,
        });
        found.push(...page.deviceIds);
        after = page.next;
        await makeRoom(began);
      }
      return found.slice(0, most);
    },

    /**
     * Stores the devices of a new rollout; `stageOf` tells the stage of a place. Throws OVERLOADED when the rollout was
     * removed meanwhile.
     */
    async store(
      rolloutId: string,
      deviceIds: readonly string[],
      stageOf: (place: number) => number,
      makeRoom: BulkThrottle,
    ): Promise<void> {
      for (let start = 0; start < deviceIds.length; start += PER_UNIT) {
        const began = performance.now();
        await database.transact(
          async (unit) => {
            if (!(await findRollout(unit, rolloutId, unit.forUpdate))) throw new DomainError('OVERLOADED');
            const members = deviceIds
              .slice(start, start + PER_UNIT)
              .map((deviceId, index) => ({ deviceId, stage: stageOf(start + index), place: start + index }));
            const added = await insertMembers(unit, rolloutId, members, clock.now());
            for (const [stage, those] of Map.groupBy(added, (member) => member.stage))
              await addCount(unit, rolloutId, { stage, state: 'waiting', code: '', devices: those.length });
          },
          { pace: 'soon' },
        );
        await makeRoom(began);
      }
    },

    /** Call this when a rollout has ended. */
    forget: (rolloutId: string): unknown => looks.delete(rolloutId),

    /**
     * Adds devices that match a continuous rollout by now: one page of them at each step, all of them once a minute. Returns
     * the time of the next step.
     */
    async look(rollout: Rollout): Promise<Micros | 'now' | undefined> {
      const { rolloutId, applicationId, plan } = rollout;
      if (!plan.continuous) return undefined;
      const now = clock.now();
      const { at, after = '' } = looks.get(rolloutId) ?? { at: 0 };
      if (now < at) return at;
      const read = readSelector(await findSelector(database.read, rolloutId), now);
      const page = await selection.page(applicationId, read, { after, limit: PER_PAGE });
      await join(rollout, page.deviceIds);
      if (page.next !== undefined) {
        looks.set(rolloutId, { at, after: page.next });
        return 'now';
      }
      looks.set(rolloutId, { at: now + EVERY_MICROS });
      return now + EVERY_MICROS;
    },
  };
}
