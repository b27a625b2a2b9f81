import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { APART_MICROS } from '../../runtime/clock-trust.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Applications } from '../applications/applications.ts';
import { findCounts, moveCount } from './count-repository.ts';
import { type Count, resultsSoFar, withoutResults } from './counts.ts';
import { findInState, type Member, type MemberPlace, updateMember } from './member-repository.ts';
import type { Plan, Rollout, Who } from './rollout.ts';
import { requireRoom } from './rollout-bound.ts';
import { findAsked, findRollout, updateRollout } from './rollout-repository.ts';
import { SUPERSEDED, supersededAmong } from './superseding.ts';
import type { Transitions } from './transitions.ts';

/** Failed devices that wait again in one unit of work. */
const PER_UNIT = 64;
/** Longer than any wait, in microseconds. */
export const FOR_EVER: Micros = 2 ** 52;

/** The longest wait of a device for its next command. */
export const longestWait = ({ retry }: Plan): Micros => (retry?.after ?? 0) * 1_000_000 + APART_MICROS;

/** Which failed devices wait again: those with a code, or all; and whether they are only counted. */
export interface WantedRetry {
  code?: string | undefined;
  dryRun?: boolean | undefined;
}

interface Parts {
  database: Database;
  clock: Clock;
  transitions: Pick<Transitions, 'stateAfter' | 'write'>;
  lockApplication: Applications['lockIn'];
  /** Called after a commit with devices that wait again. */
  wake(rolloutId: string): void;
}

/**
 * The plan after failed devices wait again, so they are no results any more. The devices of a stage that somebody let pass
 * decide once more.
 */
function planAfter({ plan, stage }: Rollout, moved: readonly Count[]): Plan {
  const { since, letPass } = plan;
  return {
    ...withoutResults(plan, moved),
    ...(since && { since: { ...since, results: since.results - moved.length } }),
    ...(letPass !== undefined && { letPass: Math.min(letPass, stage - 1) }),
  };
}

/** Lets failed devices of rollouts have another command. */
export function createRetrying({ database, clock, transitions, lockApplication, wake }: Parts) {
  /**
   * Lets those of the devices wait again that are still failed. A device that a newer rollout of the same kind has commanded
   * ends in this one instead. Returns the counts of both.
   */
  async function move(unit: UnitOfWork, rollout: Rollout, members: readonly Member[]) {
    const { rolloutId } = rollout;
    const ids = members.map(({ deviceId }) => deviceId);
    const superseded = await supersededAmong(unit, rollout, ids);
    const [moved, ended]: [Count[], Count[]] = [[], []];
    for (const member of members) {
      const isOver = superseded.has(member.deviceId);
      const to = isOver
        ? ({ ...member, state: 'cancelled', code: SUPERSEDED } as const)
        : ({ ...member, state: 'waiting', attempts: 0, code: null, notBefore: 0 } as const);
      if (!(await updateMember(unit, rolloutId, member, to, clock.now()))) continue;
      await moveCount(unit, rolloutId, member.stage, member, to);
      const count: Count = { stage: member.stage, state: 'failed', code: member.code ?? '', devices: 1 };
      (isOver ? ended : moved).push(count);
    }
    return { moved, ended };
  }

  /** The rollout after failed devices wait again. One that has completed is at work again, from the same commit on. */
  async function after(unit: UnitOfWork, rollout: Rollout, moved: readonly Count[]): Promise<Rollout> {
    const plan = planAfter(rollout, moved);
    if (rollout.state !== 'completed') return { ...rollout, plan };
    await requireRoom(unit, rollout.applicationId);
    const results = resultsSoFar(await findCounts(unit, rollout.rolloutId));
    const since = { at: clock.now(), results };
    const state = transitions.stateAfter(rollout, 'retry');
    return { ...rollout, state, endedAt: null, publishes: false, drained: true, plan: { ...plan, since } };
  }

  /**
   * Lets the failed devices of a page wait again. The first page that has such devices writes the history, and each page
   * that finds the rollout completed. Returns the number of devices.
   */
  function retryPage(
    { rolloutId, applicationId, state }: Rollout,
    who: Who,
    members: readonly Member[],
    isFirst: boolean,
  ): Promise<number> {
    return database.transact(async (unit) => {
      // Rollouts that run again at the same time count one another.
      if (isFirst && state === 'completed') await lockApplication(unit, applicationId);
      const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
      if (!rollout) throw new DomainError('ROLLOUT_NOT_FOUND');
      transitions.stateAfter(rollout, 'retry');
      const { moved, ended } = await move(unit, rollout, members);
      if (moved.length === 0) {
        if (ended.length > 0) await updateRollout(unit, { ...rollout, plan: planAfter(rollout, ended) });
        return 0;
      }
      const changed = await after(unit, rollout, [...moved, ...ended]);
      if (isFirst || rollout.state === 'completed') await transitions.write(unit, changed, 'retried', who);
      else await updateRollout(unit, changed);
      unit.onCommit(() => wake(rolloutId));
      return moved.length;
    });
  }

  /** Counts those of some failed devices that would wait again. */
  async function countPage(rollout: Rollout, members: readonly Member[]): Promise<number> {
    const ids = members.map(({ deviceId }) => deviceId);
    const superseded = await supersededAmong(database.read, rollout, ids);
    return ids.filter((deviceId) => !superseded.has(deviceId)).length;
  }

  /**
   * Lets failed devices, or those with a code, wait for another attempt; resolves to their number. A dry run only counts
   * them. Throws ROLLOUT_STATE, TOO_MANY_ROLLOUTS.
   */
  return async function retryFailed(rollout: Rollout, who: Who, { code, dryRun }: WantedRetry = {}): Promise<number> {
    const { rolloutId, applicationId, state } = rollout;
    transitions.stateAfter(rollout, 'retry');
    const asked = await findAsked(database.read, rolloutId);
    if (asked === undefined) throw new DomainError('ROLLOUT_STATE', { values: { state } });
    let devices = 0;
    for (let place: MemberPlace | undefined = { stage: -1, place: -1 }; place; ) {
      const page = { state: 'failed', code, after: place, limit: PER_UNIT } as const;
      const found: Member[] = await findInState(database.read, rolloutId, page);
      devices += await (dryRun ? countPage(rollout, found) : retryPage(rollout, who, found, devices === 0));
      place = found.length < PER_UNIT ? undefined : found.at(-1);
    }
    if (dryRun && devices > 0 && state === 'completed') await requireRoom(database.read, applicationId);
    return devices;
  };
}
