import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { Applications } from '../applications/applications.ts';
import type { Statuses } from '../devices/statuses.ts';
import type { Selection } from '../selection/selection.ts';
import type { Software } from '../software/software.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { findCounts } from './count-repository.ts';
import { type Count, hasFailed, resultsOf, resultsSoFar } from './counts.ts';
import { createCreation } from './creation.ts';
import { createDriver } from './driver.ts';
import { createIssuing } from './issuing.ts';
import { createJoining } from './joining.ts';
import { createObstacles } from './obstacles.ts';
import { createRetrying } from './retrying.ts';
import {
  type AbortRule,
  type Actor,
  isAtWork,
  type Plan,
  type Rollout,
  type RolloutAction,
  type Window,
} from './rollout.ts';
import { countRefusals } from './rollout-bound.ts';
import { findAtWorkOf, findRollout, forgetAllAsked } from './rollout-repository.ts';
import { createSteps } from './steps.ts';
import type { Transitions } from './transitions.ts';
import { createWithdrawal } from './withdrawal.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  leads(): boolean;
  trust: Pick<ClockTrust, 'isHeld' | 'whenBelieved'>;
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  lockApplication: Applications['lockIn'];
  transactions: Pick<Transactions, 'submit' | 'check' | 'withdrawIn' | 'cancelIn' | 'throttle'>;
  transitions: Transitions;
  statuses: Pick<Statuses, 'versionsOf'>;
  selection: Pick<Selection, 'page'>;
  installs: Pick<Software['installs'], 'findCurrent' | 'obstacle'>;
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
  const joining = createJoining({ database, clock, selection, throttle: transactions.throttle });
  const withdrawal = createWithdrawal({ database, clock, ...transactions });
  const issuing = createIssuing({ ...parts, ...transactions });
  const obstacles = createObstacles({ clock, installs });
  const steps = createSteps({ ...parts, issuing, withdrawal, joining, obstacles });
  const driver = createDriver({
    ...parts,
    steps,
    pauseRestored: async ({ rolloutId }) => {
      const cause = { actor: 'service', reason: 'DATABASE_RESTORED' } as const;
      await change(rolloutId, undefined, (unit, rollout) => transitions.pause(unit, rollout, cause));
    },
  });

  const retryFailed = countRefusals(parts.metrics, createRetrying({ ...parts, wake: driver.wake }));

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

  /** The fields that a resume changes, beside the state. */
  function resumedBy({ plan, stage, approved, reason }: Rollout, counts: readonly Count[]): Partial<Rollout> {
    const rules = plan.stages[stage];
    const isLetPass = reason === 'STAGE_FAILED' && rules !== undefined && hasFailed(rules, counts, stage);
    return {
      plan: {
        ...plan,
        ...(plan.abort && { accepted: resultsOf(plan.abort, counts) }),
        ...(isLetPass && { letPass: stage }),
        since: { at: clock.now(), results: resultsSoFar(counts) },
      },
      approved: isLetPass ? Math.max(approved, stage) : approved,
    };
  }

  return {
    find,

    create: countRefusals(parts.metrics, createCreation({ ...parts, ...transactions, joining, wake: driver.wake })),

    /** Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE. */
    pause: (rolloutId: string, by: By): Promise<Rollout> =>
      change(rolloutId, by.applicationId, (unit, rollout) =>
        transitions.pause(unit, rollout, { actor: by.actor, reason: 'REQUESTED' }),
      ),

    /**
     * Lets a paused rollout go on. The failures so far are accepted: the abort rule counts anew. If the rollout was paused
     * because a stage had too few successes, and its failed devices do not try again, the stage is let pass. Throws
     * ROLLOUT_NOT_FOUND, ROLLOUT_STATE.
     */
    resume: (rolloutId: string, by: By): Promise<Rollout> =>
      change(rolloutId, by.applicationId, async (unit, rollout) => {
        const running = transitions.stateAfter(rollout, 'resume');
        const state = rollout.startedAt === null ? 'scheduled' : running;
        const resumed = { ...rollout, ...resumedBy(rollout, await findCounts(unit, rolloutId)), state, reason: null };
        return transitions.write(unit, resumed, 'resumed', { actor: by.actor });
      }),

    /**
     * Approves the present stage. One that is approved already stays as it is. If the caller names a stage (from 1), a later
     * one is never approved in its place. Throws ROLLOUT_NOT_FOUND, and ROLLOUT_STATE also when no stage has begun, when the
     * named one is not the present one, or when the stage asks for no approval.
     */
    approve: (rolloutId: string, by: By, named?: number): Promise<Rollout> =>
      change(rolloutId, by.applicationId, async (unit, rollout) => {
        const { stage, approved, plan } = rollout;
        const state = transitions.stateAfter(rollout, 'approve');
        if (named !== undefined && named - 1 <= approved) return rollout;
        if (named !== undefined && named - 1 !== stage)
          throw new DomainError('ROLLOUT_STATE', { values: { state: `${state}, in stage ${stage + 1}` } });
        if (stage < 0 || !plan.stages[stage]?.approval) {
          const missing = stage < 0 ? 'no stage has begun' : 'its present stage asks for no approval';
          throw new DomainError('ROLLOUT_STATE', { values: { state: `${state}, and ${missing}` } });
        }
        if (approved >= stage) return rollout;
        return transitions.write(unit, { ...rollout, approved: stage }, 'approved', { actor: by.actor });
      }),

    /** Changes a rollout that is paused or scheduled. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE. */
    update: (
      rolloutId: string,
      by: By,
      { label, ...rules }: RolloutChange,
      check: (known: Rollout) => void = () => undefined,
    ): Promise<Rollout> =>
      act('change', rolloutId, by, (rollout) => {
        check(rollout);
        const changed = Object.entries({ ...rollout.plan, ...rules }).filter(([, value]) => value != null);
        return { ...(label !== undefined && { label }), plan: Object.fromEntries(changed) as unknown as Plan };
      }),

    /** Cancels what is unfinished. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE. */
    cancel: (rolloutId: string, by: By): Promise<Rollout> =>
      change(rolloutId, by.applicationId, (unit, rollout) =>
        transitions.end(unit, rollout, 'cancel', { actor: by.actor }),
      ),

    /**
     * Cancels all rollouts of an application, and forgets the bodies of their operations, in the unit of work that deletes
     * the application.
     */
    async endAll(unit: UnitOfWork, applicationId: string): Promise<void> {
      for (const rolloutId of await findAtWorkOf(unit, applicationId)) {
        const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
        if (rollout && isAtWork(rollout.state))
          await transitions.end(unit, rollout, 'cancel', { actor: 'administration' });
      }
      await forgetAllAsked(unit, applicationId);
    },

    /**
     * Lets failed devices wait for another attempt; resolves to their number. A rollout that has completed runs again, if
     * there are such devices. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE, TOO_MANY_ROLLOUTS.
     */
    retryFailed: async (rolloutId: string, { applicationId, actor }: By, code?: string): Promise<number> =>
      retryFailed(await find(rolloutId, applicationId), actor, code),

    /**
     * Call this when the database was restored. It does not know what happened after the backup: a rollout that runs in it
     * may have been stopped since. So all are paused, before anything else is done with them.
     */
    pauseRestored: driver.pauseFirst,

    /** Call this when a version may not be installed any more: rollouts of it are paused. */
    unavailable(): void {
      obstacles.lookAgain();
      driver.wakeAll();
    },

    wake: driver.wake,
    start: driver.start,
    idle: driver.idle,
    slowLook: driver.slowLook,
    [Symbol.asyncDispose]: driver.stop,
  };
}

/** The caller that asks for a change; `applicationId` limits it to rollouts of that application. */
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
