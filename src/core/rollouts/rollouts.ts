import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { Statuses } from '../devices/statuses.ts';
import type { Selection } from '../selection/selection.ts';
import type { Software } from '../software/software.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { findCounts, moveCount } from './count-repository.ts';
import { resultsOf } from './counts.ts';
import { createCreation } from './creation.ts';
import { createDriver } from './driver.ts';
import { createIssuing } from './issuing.ts';
import { createJoining } from './joining.ts';
import { findInState, type Member, type MemberPlace, updateMember } from './member-repository.ts';
import { createObstacles } from './obstacles.ts';
import type { AbortRule, Actor, Plan, Rollout, RolloutAction, Window } from './rollout.ts';
import { findAsked, findRollout } from './rollout-repository.ts';
import { createSteps } from './steps.ts';
import type { Transitions } from './transitions.ts';
import { createWithdrawal } from './withdrawal.ts';

/** Failed devices that wait again in one unit of work. */
const PER_UNIT = 64;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  leads(): boolean;
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  transactions: Pick<Transactions, 'submit' | 'withdrawIn' | 'cancelIn' | 'courtesy'>;
  transitions: Transitions;
  statuses: Pick<Statuses, 'versionsOf'>;
  selection: Pick<Selection, 'page'>;
  installs: Pick<Software['installs'], 'findCurrent' | 'hasBinary'>;
}

/** Changes of a rollout that is paused or scheduled; null removes a rule. */
export interface RolloutChange {
  label?: string | null;
  ratePerMinute?: number | null;
  window?: Window | null;
  abort?: AbortRule | null;
}

export type Rollouts = ReturnType<typeof createRollouts>;

/** One operation for many devices, in stages, at a pace, and until too much goes wrong. */
export function createRollouts(parts: Parts) {
  const { database, clock, transactions, transitions, installs, selection } = parts;
  const joining = createJoining({ database, clock, selection });
  const withdrawal = createWithdrawal({ database, clock, ...transactions });
  const issuing = createIssuing({ ...parts, ...transactions });
  const obstacles = createObstacles({ clock, installs });
  const steps = createSteps({ ...parts, issuing, withdrawal, joining, obstacleOf: obstacles.of });
  const driver = createDriver({
    ...parts,
    steps,
    pauseRestored: async ({ rolloutId }) => {
      const cause = { actor: 'service', reason: 'DATABASE_RESTORED' } as const;
      await change(rolloutId, undefined, (unit, rollout) => transitions.pause(unit, rollout, cause));
    },
  });

  /** Finds a rollout of an application, or of any. Throws ROLLOUT_NOT_FOUND. */
  async function find(rolloutId: string, applicationId?: string): Promise<Rollout> {
    const rollout = await findRollout(database.read, rolloutId);
    return requireOwn(rollout, applicationId);
  }

  function requireOwn(rollout: Rollout | undefined, applicationId: string | undefined): Rollout {
    const isOwn = rollout && (applicationId === undefined || rollout.applicationId === applicationId);
    if (!isOwn || rollout.state === 'preparing') throw new DomainError('ROLLOUT_NOT_FOUND');
    return rollout;
  }

  /** Changes a rollout of an application, or of any, under its lock. */
  const change = (
    rolloutId: string,
    applicationId: string | undefined,
    work: (unit: UnitOfWork, rollout: Rollout) => Promise<Rollout>,
  ): Promise<Rollout> =>
    database.transact(async (unit) =>
      work(unit, requireOwn(await findRollout(unit, rolloutId, unit.forUpdate), applicationId)),
    );

  /** Changes the state of a rollout by an action of a person. */
  const act = (
    action: RolloutAction,
    rolloutId: string,
    { applicationId, actor }: By,
    more: (rollout: Rollout) => Partial<Rollout>,
  ): Promise<Rollout> =>
    change(rolloutId, applicationId, (unit, rollout) => {
      const state = transitions.stateAfter(rollout, action);
      const event = EVENTS[action];
      return transitions.write(unit, { ...rollout, state, ...more(rollout) }, event, { actor });
    });

  return {
    find,

    create: createCreation({ ...parts, joining }),

    /** Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE. */
    pause: (rolloutId: string, by: By): Promise<Rollout> =>
      change(rolloutId, by.applicationId, (unit, rollout) =>
        transitions.pause(unit, rollout, { actor: by.actor, reason: 'REQUESTED' }),
      ),

    /**
     * Lets a paused rollout go on. The failures so far are accepted: the abort rule counts anew. If the rollout was paused
     * because a stage had too few successes, the stage is let pass. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE.
     */
    resume: (rolloutId: string, by: By): Promise<Rollout> =>
      change(rolloutId, by.applicationId, async (unit, rollout) => {
        const { plan, approved, stage, startedAt } = rollout;
        const running = transitions.stateAfter(rollout, 'resume');
        const state = startedAt === null ? 'scheduled' : running;
        const accepted = plan.abort && resultsOf(plan.abort, await findCounts(unit, rolloutId));
        const resumed = {
          ...rollout,
          state,
          reason: null,
          plan: { ...plan, ...(accepted && { accepted }) },
          approved: rollout.reason === 'STAGE_FAILED' ? Math.max(approved, stage) : approved,
        };
        return transitions.write(unit, resumed, 'resumed', { actor: by.actor });
      }),

    /** Approves the present stage. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE. */
    approve: (rolloutId: string, by: By): Promise<Rollout> =>
      act('approve', rolloutId, by, ({ approved, stage }) => ({ approved: Math.max(approved, stage) })),

    /** Changes a rollout that is paused or scheduled. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE. */
    update: (rolloutId: string, by: By, { label, ...rules }: RolloutChange): Promise<Rollout> =>
      act('change', rolloutId, by, (rollout) => {
        const changed = Object.entries({ ...rollout.plan, ...rules }).filter(([, value]) => value != null);
        return { ...(label !== undefined && { label }), plan: Object.fromEntries(changed) as unknown as Plan };
      }),

    /** Cancels what is unfinished. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE. */
    cancel: (rolloutId: string, by: By): Promise<Rollout> =>
      change(rolloutId, by.applicationId, (unit, rollout) =>
        transitions.end(unit, rollout, 'cancel', { actor: by.actor }),
      ),

    /**
     * Lets failed devices wait for another attempt; resolves to their number. A rollout that has completed runs again when
     * they wait, since it would complete at once before. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE.
     */
    async retryFailed(rolloutId: string, by: By, code?: string): Promise<number> {
      const before = await find(rolloutId, by.applicationId);
      transitions.stateAfter(before, 'retry');
      const asked = await findAsked(database.read, rolloutId);
      if (asked === undefined) throw new DomainError('ROLLOUT_STATE', { values: { state: before.state } });
      let devices = 0;
      for (let after: MemberPlace | undefined = { stage: -1, place: -1 }; after; ) {
        const page = { state: 'failed', code, after, limit: PER_UNIT } as const;
        const found: Member[] = await findInState(database.read, rolloutId, page);
        devices += await database.transact((unit) => waitAgain(unit, rolloutId, found));
        after = found.length < PER_UNIT ? undefined : found.at(-1);
      }
      await act('retry', rolloutId, by, (current) => ({
        ...(current.state === 'completed' && { endedAt: null, publishes: false, drained: true }),
      }));
      return devices;
    },

    /**
     * Call this when the database was restored. It does not know what happened after the backup: a rollout that runs in it
     * may have been stopped since. So all are paused, before anything else is done with them.
     */
    pauseRestored: driver.pauseFirst,

    /** Call this when a version may not be installed any more: rollouts of it are paused. */
    unavailable(): void {
      obstacles.lookAgain();
      driver.wake();
    },

    wake: driver.wake,
    start: driver.start,
    idle: driver.idle,
    [Symbol.asyncDispose]: driver.stop,
  };

  async function waitAgain(unit: UnitOfWork, rolloutId: string, members: readonly Member[]): Promise<number> {
    await findRollout(unit, rolloutId, unit.forUpdate);
    let waiting = 0;
    for (const member of members) {
      const to = { ...member, state: 'waiting', transactionId: null, attempts: 0, code: null, notBefore: 0 } as const;
      if (!(await updateMember(unit, rolloutId, member, to, clock.now()))) continue;
      await moveCount(unit, rolloutId, member.stage, member, to);
      waiting += 1;
    }
    return waiting;
  }
}

/** Who asks for a change; `applicationId` limits it to rollouts of that application. */
export interface By {
  applicationId?: string;
  actor: Actor;
}

const EVENTS = {
  start: 'started',
  pause: 'paused',
  resume: 'resumed',
  complete: 'completed',
  cancel: 'cancelled',
  change: 'changed',
  approve: 'approved',
  retry: 'retried',
} as const;
