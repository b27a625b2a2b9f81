import type { Verdict } from '@lapel/schemas/base/rollout-verdict';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { HeldRollouts } from '../../runtime/held-rollouts.ts';
import type { Applications } from '../applications/applications.ts';
import { NO_DEVICE } from '../webhooks/delivery.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { findCounts } from './count-repository.ts';
import { byState } from './counts.ts';
import { writtenDetail } from './entry-detail.ts';
import type { HealthDetail, HealthFigures } from './health/figures.ts';
import { noRetry } from './permits.ts';
import { isAtWork, nextState, type PauseReason, type Rollout, type RolloutAction, type Who } from './rollout.ts';
import { insertEntry, type RolloutEvent, updateRollout } from './rollout-repository.ts';
import { presentVerdict } from './seen.ts';

interface Parts {
  clock: Clock;
  metrics: Pick<Metrics, 'rolloutsPaused'>;
  findApplication: Applications['findIn'];
  record: Webhooks['record'];
  held: HeldRollouts;
  /** Sends a hint to the other nodes: the commands of a rollout are held, or not any more. */
  tell(about: string, isHeld: boolean): void;
  /** Stores a transition that the service made by itself in the audit log. */
  noted(rollout: Rollout, event: RolloutEvent, reason: PauseReason | null): void;
  /** Called after the commit of a transition, since there may be something to do. */
  wake(rolloutId: string): void;
}

/** The events that applications are notified of. */
const NOTIFIED: readonly RolloutEvent[] = ['stageStarted', 'paused', 'completed', 'cancelled'];

interface Cause extends Who {
  reason?: PauseReason;
  /** The finding of a health rule. */
  detail?: HealthDetail;
  /** The look that has found it, which is not stored yet. */
  figures?: HealthFigures;
  /** The verdict that somebody has accepted, or that stood when the rollout was paused. */
  verdict?: Verdict | null;
}

export type Transitions = ReturnType<typeof createTransitions>;

/**
 * Changes the state of rollouts in units of work that have locked them: the state, an entry of what happened and by whom,
 * and the webhook are one commit.
 */
export function createTransitions({ clock, metrics, findApplication, record, held, tell, noted, wake }: Parts) {
  // Equal hints go once, so each has a number of its own.
  let hints = 0;
  function hint(rolloutId: string, isHeld: boolean): void {
    hints += 1;
    tell(`${rolloutId} ${hints}`, isHeld);
  }

  async function notify(
    unit: UnitOfWork,
    rollout: Rollout,
    event: RolloutEvent,
    { actor, reason, detail }: Cause,
  ): Promise<void> {
    const { applicationId, rolloutId, label, operation, subject, stage } = rollout;
    const application = await findApplication(unit, applicationId).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'APPLICATION_UNREGISTERED') return undefined;
      throw error;
    });
    if (!application) return;
    const counts = byState(await findCounts(unit, rolloutId));
    const about = { rolloutId, label, operation, subject, stage: stage + 1, stages: rollout.plan.stages.length };
    const why = { reason: reason ?? null, ...(detail && { health: detail }) };
    const data = { ...about, by: actor, ...why, devices: rollout.devices, counts };
    const type = `rollout.${event}`;
    record(unit, {
      applicationId,
      deviceId: NO_DEVICE,
      setting: 'deviceEvent',
      type,
      occurredAt: clock.now(),
      data,
      unsent: application.settings.deviceEvent === null,
    });
  }

  /** Stores a change of a rollout with its entry, and the webhook if there is one. */
  async function write(unit: UnitOfWork, rollout: Rollout, event: RolloutEvent, cause: Cause): Promise<Rollout> {
    const changed = { ...rollout, entries: rollout.entries + 1 };
    await updateRollout(unit, changed);
    await insertEntry(unit, rollout.rolloutId, {
      entry: changed.entries,
      at: clock.now(),
      event,
      stage: rollout.stage < 0 ? null : rollout.stage,
      actor: cause.actor,
      reason: cause.reason ?? null,
      detail: writtenDetail(cause.detail, cause.verdict),
      person: cause.person?.name ?? null,
    });
    if (NOTIFIED.includes(event)) await notify(unit, changed, event, cause);
    unit.onCommit(() => {
      if (cause.actor === 'service') noted(changed, event, cause.reason ?? null);
      wake(changed.rolloutId);
    });
    return changed;
  }

  function stateAfter(rollout: Rollout, action: RolloutAction): Rollout['state'] {
    const state = nextState(rollout.state, action);
    const refusal = action === 'retry' ? noRetry(rollout) : undefined;
    if (state === null || refusal !== undefined)
      throw new DomainError('ROLLOUT_STATE', { values: { state: refusal ?? rollout.state } });
    return state;
  }

  /** From the commit of the unit on, no undelivered command of the rollout is published. */
  function hold(unit: UnitOfWork, { rolloutId }: Rollout): Pick<Rollout, 'publishes' | 'drained'> {
    unit.onCommit(() => {
      held.hold(rolloutId);
      hint(rolloutId, true);
    });
    return { publishes: false, drained: false };
  }

  return {
    write,
    stateAfter,

    /** Holds the undelivered commands of a rollout outside of its window, without a change of its state. */
    async close(unit: UnitOfWork, rollout: Rollout): Promise<void> {
      await updateRollout(unit, { ...rollout, ...hold(unit, rollout) });
    },

    /** Lets the commands of a running rollout be published. Those that were held go out with their own transactionIds. */
    async open(unit: UnitOfWork, rollout: Rollout): Promise<void> {
      const { rolloutId } = rollout;
      await updateRollout(unit, { ...rollout, publishes: true });
      unit.onCommit(() => {
        held.release(rolloutId);
        hint(rolloutId, false);
        wake(rolloutId);
      });
    },

    /** Throws ROLLOUT_STATE. */
    async pause(unit: UnitOfWork, rollout: Rollout, cause: Cause & { reason: PauseReason }): Promise<Rollout> {
      const state = stateAfter(rollout, 'pause');
      unit.onCommit(() => metrics.rolloutsPaused.inc({ reason: cause.reason }));
      const paused = { ...rollout, ...hold(unit, rollout), state, reason: cause.reason };
      const verdict = await presentVerdict(unit, paused, cause.figures);
      return write(unit, paused, 'paused', { ...cause, verdict });
    },

    /** Begins the next stage. */
    beginStage(unit: UnitOfWork, rollout: Rollout): Promise<Rollout> {
      const begun = { ...rollout, stage: rollout.stage + 1, stageSince: clock.now(), shareSince: null };
      return write(unit, begun, 'stageStarted', { actor: 'service' });
    },

    /** Ends a rollout. Throws ROLLOUT_STATE. */
    async end(unit: UnitOfWork, rollout: Rollout, action: 'complete' | 'cancel', cause: Cause): Promise<Rollout> {
      const state = stateAfter(rollout, action);
      const isHeld = action === 'cancel' ? hold(unit, rollout) : { publishes: false, drained: true };
      const ended = { ...rollout, ...isHeld, state, reason: null, endedAt: clock.now() };
      if (isAtWork(state)) throw new Error(`a rollout in state ${state} has not ended`);
      return write(unit, ended, action === 'complete' ? 'completed' : 'cancelled', cause);
    },
  };
}
