import type { LapelClient } from '@lapel/client/lapel-client';
import { LapelError } from '@lapel/client/lapel-error';
import type { WebhookEvent } from '@lapel/client/verify-webhook';
import { remember } from '../bounded-map.ts';
import { pause, type Timers } from '../timers.ts';
import type { Ledger } from './ledger.ts';
import type { Releases } from './releases.ts';
import { type Requests, reasonOf } from './requests.ts';
import { OF_ROLLOUTS } from './rollout-book.ts';
import { createRolloutClosing, type RolloutSummary } from './rollout-closing.ts';
import { membersOf } from './rollout-members.ts';
import { askedBy, bodyOf, type RolloutBody, type RolloutPlan } from './rollout-plan.ts';
import { createRolloutReader } from './rollout-reader.ts';
import type { FollowedRollout as Followed, RolloutEvent } from './rollout-snapshot.ts';
import type { Tags } from './tags.ts';

/** The rollouts of the customer, who follows them by their webhooks, and compares them with the books at the end. */
export interface Rollouts {
  /** Starts a rollout; resolves when the service has answered, and never rejects. */
  start(plan: RolloutPlan, phase: string): Promise<void>;
  /** A verified webhook about a rollout has arrived. */
  received(event: WebhookEvent, webhookId: string): void;
  /** Devices are activated now, with these tags. */
  activated(deviceIds: readonly string[]): void;
  /**
   * Waits until no rollout makes commands any more, at most `milliseconds`. Resolves to true if it had to wait.
   */
  over(milliseconds: number): Promise<boolean>;
  /** Enters the transactions that the service lists into the books; resolves to the number of those of rollouts. */
  adopt(): Promise<number>;
  /** Compares each rollout with the books, and counts the differences. */
  compare(): Promise<void>;
  /** Cancels the rollouts that still make commands, or would make some later. `all`: paused ones as well. */
  end(all?: boolean): Promise<void>;
  /** The service was restored from a backup: its rollouts are paused, and none of before is followed any more. */
  restored(): void;
  /** The rollouts that were compared. */
  summaries(): readonly RolloutSummary[];
}

const EVENTS_KEPT = 1000;
const LOOK_MILLISECONDS = 250;
/** The part of a wait so far that the next pause takes. */
const PAUSE_PART = 1 / 20;
/** The longest wait for the results of rollouts that the customer has cancelled. */
const CANCEL_MILLISECONDS = 5000;

export function createRollouts({
  lapel,
  requests,
  releases,
  ledger,
  timers,
  spentSince,
  stopped,
  tagsOf,
  devicesStay,
  nowOfDay = () => Date.now(),
}: {
  lapel: LapelClient;
  requests: Requests;
  releases: Releases;
  ledger: Ledger;
  timers: Timers;
  /** Milliseconds since a time, without the spans in which the simulator itself stood still. */
  spentSince: (from: number) => number;
  stopped: AbortSignal;
  /** The tags that the customer has given to a device. */
  tagsOf: (deviceId: string) => Tags;
  devicesStay: boolean;
  /** Milliseconds since 1970. */
  nowOfDay?: () => number;
}): Rollouts {
  const rollouts = new Map<string, Followed>();
  /** Webhooks about rollouts whose 201 has not arrived. */
  const early = new Map<string, { webhookId: string; event: RolloutEvent & { rolloutId: string } }>();
  const activated = new Set<string>();
  const summaries: RolloutSummary[] = [];

  /** Makes a call about a rollout that creates no transaction. */
  function ask(phase: string, call: () => Promise<unknown>): Promise<unknown> {
    let attempts = 0;
    return requests.make({ deviceId: '', operation: OF_ROLLOUTS, phase }, async () => {
      attempts += 1;
      try {
        await call();
      } catch (error) {
        // The first attempt had its effect, and only its answer was lost.
        if (attempts === 1 || !(error instanceof LapelError) || error.status !== 409) throw error;
      }
      return undefined;
    });
  }

  async function later(milliseconds: number, task: () => Promise<unknown>): Promise<void> {
    await pause(timers, milliseconds, stopped);
    if (!stopped.aborted) await task();
  }

  /** Does what the action says about a stage that has begun, or about a pause. */
  function react({ rolloutId, phase, plan, approved }: Followed, { type, stage }: RolloutEvent): void {
    const needsApproval = plan.body.stages?.[stage - 1]?.approval === true;
    if (type === 'rollout.stageStarted' && needsApproval && plan.approve !== null)
      void later(plan.approve, () => {
        approved.add(stage);
        return ask(phase, () => lapel.approveRollout({ rolloutId, body: { stage } }));
      });
    if (type === 'rollout.paused' && plan.resume !== null)
      void later(plan.resume, () => ask(phase, () => lapel.resumeRollout({ rolloutId })));
  }

  function take(followed: Followed, webhookId: string, event: RolloutEvent): void {
    if (followed.events.has(webhookId)) return;
    followed.events.set(webhookId, event);
    react(followed, event);
  }

  function follow(begun: Omit<Followed, 'events' | 'approved' | 'isCompared'>): void {
    const followed: Followed = { ...begun, events: new Map(), approved: new Set(), isCompared: false };
    rollouts.set(begun.rolloutId, followed);
    for (const [key, { webhookId, event }] of early) {
      if (event.rolloutId !== begun.rolloutId) continue;
      early.delete(key);
      take(followed, webhookId, event);
    }
  }

  const { read, look } = createRolloutReader({ lapel, requests, ledger, timers });
  const compareOne = createRolloutClosing({ lapel, requests, look, ledger, timers, stopped, devicesStay });

  const versionOf = ({ release, body }: RolloutPlan) =>
    release && (body.operation === 'updateFirmware' ? releases.firmware(release) : releases.software(release));

  /** Whether a rollout may make commands, or end, without a result that the books wait for. */
  async function isMoving({ rolloutId, plan }: Followed): Promise<boolean> {
    const { state, counts } = await read(rolloutId);
    if (state === 'scheduled') return true;
    if (state === 'paused') return plan.resume !== null;
    if (state !== 'running') return false;
    if (counts.waiting > 0) return true;
    const { continuous = false, expireIn, answerWithin } = plan.body;
    // With a term a command ends without its device.
    return counts.unfinished > 0 ? (expireIn ?? answerWithin) !== undefined : !continuous;
  }

  /** Does something with each rollout. A service that does not answer, or refuses it, is counted as such. */
  async function each(some: Iterable<Followed>, task: (followed: Followed) => Promise<unknown>): Promise<void> {
    for (const followed of some) {
      try {
        await task(followed);
      } catch (error) {
        const status = error instanceof LapelError ? error.status : 0;
        const about = { deviceId: '', operation: OF_ROLLOUTS, phase: followed.phase };
        ledger.refused({ ...about, status, reason: reasonOf(error), at: timers.now() });
      }
    }
  }

  return {
    async start(plan, phase) {
      let body: RolloutBody | undefined;
      const about = { deviceId: '', operation: OF_ROLLOUTS, phase };
      await requests.make(about, async (idempotencyKey) => {
        // A repetition must have the same body, and so the same times.
        body ??= bodyOf(plan, { version: await versionOf(plan), now: nowOfDay() });
        const members = body.continuous ? null : membersOf(body.devices, activated, tagsOf);
        if (body.supersede) ledger.rolloutSupersedes(); // the answer may be lost
        const { rolloutId, devices } = await lapel.startRollout({ body, idempotencyKey });
        ledger.rolledOut({ rolloutId, phase, devices, asked: askedBy(body) }, timers.now());
        follow({ rolloutId, phase, plan, devices, members });
        return undefined;
      });
    },

    received({ type, data }, webhookId) {
      if (!('rolloutId' in data)) return;
      const { rolloutId, stage, reason, by, counts } = data;
      const event = { type, stage, reason, by, counts };
      const followed = rollouts.get(rolloutId);
      if (followed) take(followed, webhookId, event);
      else remember(early, webhookId, { webhookId, event: { ...event, rolloutId } }, EVENTS_KEPT);
    },

    activated(deviceIds) {
      for (const deviceId of deviceIds) activated.add(deviceId);
    },

    async over(milliseconds) {
      const from = timers.now();
      const left = new Set(rollouts.values());
      let hasWaited = false;
      while (left.size > 0 && spentSince(from) < milliseconds && !stopped.aborted) {
        await each(left, async (followed) => {
          if (!(await isMoving(followed).catch(() => true))) left.delete(followed);
        });
        if (left.size === 0) break;
        hasWaited = true;
        // A long wait looks less often.
        await pause(timers, Math.max(LOOK_MILLISECONDS, spentSince(from) * PAUSE_PART), stopped);
      }
      return hasWaited;
    },

    async adopt() {
      let known = 0;
      await each(rollouts.values(), async ({ rolloutId }) => {
        known += (await look(rolloutId)).transactions.length;
      });
      return known;
    },

    compare: () =>
      each(
        [...rollouts.values()].filter(({ isCompared }) => !isCompared),
        async (followed) => {
          followed.isCompared = true;
          summaries.push(await compareOne(followed));
        },
      ),

    async end(all = false) {
      let cancelled = 0;
      await each(rollouts.values(), async ({ rolloutId }) => {
        const { state } = await read(rolloutId);
        if (state !== 'scheduled' && state !== 'running' && !(all && state === 'paused')) return;
        await requests.insist(() => lapel.cancelRollout({ rolloutId }));
        cancelled += 1;
      });
      const from = timers.now();
      const isOwed = (): boolean => ledger.owed().some(({ rolloutId, lost }) => rolloutId !== null && !lost);
      while (cancelled > 0 && isOwed() && spentSince(from) < CANCEL_MILLISECONDS && !stopped.aborted)
        await pause(timers, LOOK_MILLISECONDS, stopped);
    },

    restored: () => rollouts.clear(),

    summaries: () => summaries,
  };
}
