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
import { changedBy, mayApprove, requireOther } from './approval.ts';
import { createAutomaticRevert } from './automatic-revert.ts';
import { createConfirming } from './confirming.ts';
import { findCounts } from './count-repository.ts';
import { type Count, hasFailed, resultsOf, resultsSoFar } from './counts.ts';
import { createCreation } from './creation.ts';
import { createDriver } from './driver.ts';
import { createHealth } from './health/health.ts';
import { createWatching } from './health/watching.ts';
import { createIssuing } from './issuing.ts';
import { createJoining } from './joining.ts';
import { createLooking } from './looking.ts';
import { createObstacles } from './obstacles.ts';
import { noApproval } from './permits.ts';
import { createPlaces } from './places.ts';
import type { createResults } from './results.ts';
import { createRetrying, type WantedRetry } from './retrying.ts';
import { createReverting, type RevertPreview, type WantedRevert } from './reverting.ts';
import {
  type AbortRule,
  type HealthRule,
  isAtWork,
  type Plan,
  type Rate,
  type Rollout,
  type RolloutAction,
  type Who,
  type Window,
} from './rollout.ts';
import { countRefusals } from './rollout-bound.ts';
import { findAtWorkOf, findRollout, forgetAllAsked } from './rollout-repository.ts';
import { requireSeen } from './seen.ts';
import { createSteps } from './steps.ts';
import { createSuperseding } from './superseding.ts';
import type { Transitions } from './transitions.ts';
import { removeValuesOf } from './value-repository.ts';
import { createWays } from './ways-back.ts';
import { createWithdrawal } from './withdrawal.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  leads(): boolean;
  trust: Pick<ClockTrust, 'isHeld' | 'whenBelieved' | 'isSettled'>;
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  findApplication: Applications['findIn'];
  lockApplication: Applications['lockIn'];
  transactions: Pick<
    Transactions,
    'submit' | 'check' | 'withdrawIn' | 'cancelIn' | 'supersedeQueuedIn' | 'throttle' | 'letGo'
  >;
  transitions: Transitions;
  confirm: ReturnType<typeof createResults>['confirm'];
  /** The time at which a device was last heard of (microseconds), if it is newer than the stored one. */
  presence: { newerThanStored(deviceId: string): number | undefined };
  statuses: Pick<Statuses, 'versionsOf'>;
  selection: Pick<Selection, 'page'>;
  installs: Pick<Software['installs'], 'findCurrent' | 'obstacle'>;
}

/** Changes of a rollout that is paused or scheduled; null removes a rule. */
export interface RolloutChange {
  label?: string | null;
  ratePerMinute?: Rate | null;
  maxUnfinished?: number | null;
  window?: Window | null;
  abort?: AbortRule | null;
  health?: readonly HealthRule[] | null;
}

export type Rollouts = ReturnType<typeof createRollouts>;

/** One operation for many devices, in stages, at a pace, and until too much goes wrong. */
export function createRollouts(parts: Parts) {
  const { database, clock, transactions, transitions, installs, selection } = parts;
  const joining = createJoining({ database, clock, selection, throttle: transactions.throttle });
  const withdrawal = createWithdrawal({ database, clock, ...transactions });
  const ways = createWays({ database, clock, joining });
  const issuing = createIssuing({ ...parts, ...transactions, ways });
  const obstacles = createObstacles({ clock, installs });
  const wake = (rolloutId: string): void => driver.wake(rolloutId);
  const supersede = createSuperseding({ database, ...transactions });
  const places = createPlaces({ ...parts, letGo: transactions.letGo, withdrawIn: transactions.withdrawIn, wake });
  const steps = createSteps({
    ...parts,
    issuing,
    withdrawal,
    joining,
    obstacles,
    ways,
    places,
    supersede,
    revert: (one) => automatic.bringBack(one),
  });
  const driver = createDriver({
    ...parts,
    steps,
    pauseRestored: async ({ rolloutId }) => {
      const cause = { actor: 'service', reason: 'DATABASE_RESTORED' } as const;
      await change(rolloutId, undefined, (unit, rollout) => transitions.pause(unit, rollout, cause));
    },
    leaveRestored: (rollout) => automatic.leave(rollout, 'DATABASE_RESTORED'),
  });

  const watching = createWatching(parts);
  const health = createHealth({ ...parts, watching, wake: driver.wake });
  const looking = createLooking({ ...parts, looks: [createConfirming(parts).look, health.look] });
  const creation = createCreation({ ...parts, ...transactions, joining, wake: driver.wake });
  const reverting = createReverting({ database, creation, transitions });
  const revert = countRefusals(parts.metrics, reverting.revert);
  const previewRevert = countRefusals(parts.metrics, reverting.preview);
  const automatic = createAutomaticRevert({ database, revert: reverting.revert, transitions });

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
    { applicationId, ...who }: By,
    more: (rollout: Rollout) => Partial<Rollout>,
  ): Promise<Rollout> =>
    change(rolloutId, applicationId, (unit, rollout) => {
      const state = transitions.stateAfter(rollout, action);
      const event = EVENTS[action];
      return transitions.write(unit, { ...rollout, state, ...more(rollout) }, event, who);
    });

  /** The fields that a resume changes, beside the state. */
  function resumedBy(rollout: Rollout, counts: readonly Count[], who: Who): Partial<Rollout> {
    const { plan, stage, approved, reason } = rollout;
    const rules = plan.stages[stage];
    const isUnknown = reason === 'HEALTH_UNKNOWN';
    const isLetPass = reason === 'STAGE_FAILED' && rules !== undefined && hasFailed(rules, counts, stage);
    return {
      plan: {
        ...plan,
        ...(plan.abort && { accepted: resultsOf(plan.abort, counts) }),
        ...(isLetPass && { letPass: stage }),
        ...(reason === 'HEALTH_RULE' && { healthSince: clock.now() }),
        ...(isUnknown && { healthLetPass: stage }),
        since: { at: clock.now(), results: resultsSoFar(counts) },
      },
      // A stage that another person must approve is not approved by the resume of one who may not.
      approved: isLetPass && mayApprove(rollout, who) ? Math.max(approved, stage) : approved,
    };
  }

  return {
    find,

    create: countRefusals(parts.metrics, creation.create),
    preview: countRefusals(parts.metrics, creation.preview),

    /** Brings devices back to what they had before a rollout. Throws ROLLOUT_NOT_FOUND, and the errors of `revert`. */
    revert: async (
      rolloutId: string,
      { applicationId, ...who }: By,
      wanted: WantedRevert,
      also?: Parameters<typeof revert>[3],
    ): ReturnType<typeof revert> => revert(await find(rolloutId, applicationId), wanted, who, also),

    /** Finds out what a revert would be. Throws what `revert` throws. */
    previewRevert: async (
      rolloutId: string,
      { applicationId, ...who }: By,
      wanted: WantedRevert,
    ): Promise<RevertPreview> => previewRevert(await find(rolloutId, applicationId), wanted, who),

    /** Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE. */
    pause: (rolloutId: string, by: By): Promise<Rollout> =>
      change(rolloutId, by.applicationId, (unit, rollout) =>
        transitions.pause(unit, rollout, { ...by, reason: 'REQUESTED' }),
      ),

    /**
     * Lets a paused rollout go on. The failures so far are accepted: the abort rule counts anew. If the rollout was paused
     * because a stage had too few successes, and its failed devices do not try again, the stage is let pass. `seen`: the tag
     * of the verdict that the caller has read. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE, VERDICT_CHANGED,
     * VERDICT_TAG_INVALID.
     */
    resume: (rolloutId: string, by: By, seen?: string): Promise<Rollout> =>
      change(rolloutId, by.applicationId, async (unit, rollout) => {
        const running = transitions.stateAfter(rollout, 'resume');
        const state = rollout.startedAt === null ? 'scheduled' : running;
        const verdict = await requireSeen(unit, rollout, seen);
        const counts = await findCounts(unit, rolloutId);
        const resumed = { ...rollout, ...resumedBy(rollout, counts, by), state, reason: null };
        return transitions.write(unit, { ...resumed, plan: changedBy(resumed, by) }, 'resumed', { ...by, verdict });
      }),

    /**
     * Approves the present stage. One that is approved already stays as it is. If the caller names a stage (from 1), a later
     * one is never approved in its place. `seen`: the tag of the verdict that the caller has read. Throws ROLLOUT_NOT_FOUND,
     * and ROLLOUT_STATE also when no stage has begun, when the named one is not the present one, or when the stage asks for no
     * approval; APPROVAL_BY_OTHER, VERDICT_CHANGED, VERDICT_TAG_INVALID.
     */
    approve: (rolloutId: string, by: By, { named, seen }: { named?: number; seen?: string } = {}): Promise<Rollout> =>
      change(rolloutId, by.applicationId, async (unit, rollout) => {
        const { stage, approved } = rollout;
        const state = transitions.stateAfter(rollout, 'approve');
        if (named !== undefined && named - 1 <= approved) return rollout;
        if (named !== undefined && named - 1 !== stage)
          throw new DomainError('ROLLOUT_STATE', { values: { state: `${state}, in stage ${stage + 1}` } });
        const refusal = noApproval(rollout);
        if (refusal !== undefined) throw new DomainError('ROLLOUT_STATE', { values: { state: refusal } });
        if (approved >= stage) return rollout;
        requireOther(rollout, by);
        const verdict = await requireSeen(unit, rollout, seen);
        return transitions.write(unit, { ...rollout, approved: stage }, 'approved', { ...by, verdict });
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
        const changed = Object.entries({ ...changedBy(rollout, by), ...rules }).filter(([, value]) => value != null);
        return { ...(label !== undefined && { label }), plan: Object.fromEntries(changed) as unknown as Plan };
      }),

    /** Cancels what is unfinished. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE. */
    cancel: (rolloutId: string, by: By): Promise<Rollout> =>
      change(rolloutId, by.applicationId, (unit, rollout) => transitions.end(unit, rollout, 'cancel', by)),

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
      await removeValuesOf(unit, applicationId);
    },

    /**
     * Lets failed devices wait for another attempt; resolves to their number. A rollout that has completed runs again, if
     * there are such devices. Throws ROLLOUT_NOT_FOUND, ROLLOUT_STATE, TOO_MANY_ROLLOUTS.
     */
    retryFailed: async (rolloutId: string, { applicationId, ...who }: By, wanted?: WantedRetry): Promise<number> =>
      retryFailed(await find(rolloutId, applicationId), who, wanted),

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
    /** Call this when a device has connected for which a command of a rollout is held. */
    wants: places.wants,
    /** Call this after a commit in which a device got the release, and is to be looked at. */
    provisional: looking.wake,
    start: async (): Promise<void> => {
      await driver.start();
      looking.start();
    },
    idle: async (): Promise<void> => {
      await Promise.all([driver.idle(), looking.idle()]);
    },
    slowLook: driver.slowLook,
    async [Symbol.asyncDispose](): Promise<void> {
      await looking.stop();
      await driver.stop();
    },
  };
}

/** The caller that asks for a change; `applicationId` limits it to rollouts of that application. */
export interface By extends Who {
  applicationId?: string;
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
