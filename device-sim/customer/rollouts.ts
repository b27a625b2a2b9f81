import type { LapelClient } from '../../src/clients/client/lapel-client.ts';
import { LapelError } from '../../src/clients/client/lapel-error.ts';
import type { WebhookEvent } from '../../src/clients/client/verify-webhook.ts';
import { remember } from '../bounded-map.ts';
import { pause, type Timers } from '../timers.ts';
import type { Ledger } from './ledger.ts';
import type { Releases } from './releases.ts';
import { type Requests, reasonOf } from './requests.ts';
import { OF_ROLLOUTS } from './rollout-book.ts';
import { rolloutDifferences } from './rollout-comparison.ts';
import type { KnownRollout, RolloutEvent, RolloutLook } from './rollout-look.ts';
import { membersOf } from './rollout-members.ts';
import { askedBy, bodyOf, type RolloutBody, type RolloutPlan } from './rollout-plan.ts';
import { overshootOf, sparedBy } from './rollout-stops.ts';
import type { Tags } from './tags.ts';

/** A rollout at the end of a run, for reports. */
export interface RolloutSummary {
  readonly rolloutId: string;
  readonly label: string;
  readonly phase: string;
  readonly operation: string;
  readonly state: string;
  readonly reason: string | null;
  readonly stages: number;
  readonly plannedStages: number;
  readonly devices: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly spared: number;
  readonly overshoot: number;
}

/** The rollouts of the customer, who follows them by their webhooks, and compares them with the books at the end. */
export interface Rollouts {
  /** Starts a rollout; resolves when the service has answered, and never rejects. */
  start(plan: RolloutPlan, phase: string): Promise<void>;
  /** A verified webhook about a rollout has arrived. */
  received(event: WebhookEvent, webhookId: string): void;
  /** Devices are activated now, with these tags. */
  activated(deviceIds: readonly string[]): void;
  /** Waits until no rollout makes commands any more, at most `milliseconds`. */
  over(milliseconds: number): Promise<void>;
  /** Enters the transactions that the service lists into the books; resolves to the number of rollouts. */
  adopt(): Promise<number>;
  /** Compares each rollout with the books, and counts the differences. */
  compare(): Promise<void>;
  /** Cancels the rollouts that still make commands, or would make some later. `all`: paused ones as well. */
  end(all?: boolean): Promise<void>;
  /** The rollouts that were compared. */
  summaries(): readonly RolloutSummary[];
}

const EVENTS_KEPT = 1000;
const LOOK_MILLISECONDS = 250;
const PAGE = { limit: 1000 } as const;
/** A difference counts only if so many looks find it, because results and webhooks may still be on their way. */
const LOOKS = 6;
/** The longest wait for the results of rollouts that the customer has cancelled. */
const CANCEL_MILLISECONDS = 5000;

interface Followed {
  readonly rolloutId: string;
  readonly phase: string;
  readonly plan: RolloutPlan;
  readonly devices: number;
  readonly members: ReadonlySet<string> | null;
  readonly events: Map<string, RolloutEvent>;
  isCompared: boolean;
}

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
  const ask = (phase: string, call: () => Promise<unknown>): Promise<unknown> =>
    requests.make({ deviceId: '', operation: OF_ROLLOUTS, phase }, async () => {
      await call();
      return undefined;
    });

  async function later(milliseconds: number, task: () => Promise<unknown>): Promise<void> {
    await pause(timers, milliseconds, stopped);
    if (!stopped.aborted) await task();
  }

  /** Does what the action says about a stage that has begun, or about a pause. */
  function react({ rolloutId, phase, plan }: Followed, { type, stage }: RolloutEvent): void {
    const needsApproval = plan.body.stages?.[stage - 1]?.approval === true;
    if (type === 'rollout.stageStarted' && needsApproval && plan.approve !== null)
      void later(plan.approve, () => ask(phase, () => lapel.approveRollout({ rolloutId })));
    if (type === 'rollout.paused' && plan.resume !== null)
      void later(plan.resume, () => ask(phase, () => lapel.resumeRollout({ rolloutId })));
  }

  function take(followed: Followed, webhookId: string, event: RolloutEvent): void {
    if (followed.events.has(webhookId)) return;
    followed.events.set(webhookId, event);
    react(followed, event);
  }

  function follow(begun: Omit<Followed, 'events' | 'isCompared'>): void {
    const followed: Followed = { ...begun, events: new Map(), isCompared: false };
    rollouts.set(begun.rolloutId, followed);
    for (const [key, { webhookId, event }] of early) {
      if (event.rolloutId !== begun.rolloutId) continue;
      early.delete(key);
      take(followed, webhookId, event);
    }
  }

  const versionOf = ({ release, body }: RolloutPlan) =>
    release && (body.operation === 'updateFirmware' ? releases.firmware(release) : releases.software(release));

  /** Reads a whole list; after a failure it begins anew. */
  const list = <Row>(rows: () => AsyncIterable<Row>): Promise<Row[]> =>
    requests.insist(async () => {
      const all: Row[] = [];
      for await (const row of rows()) all.push(row);
      return all;
    });

  const read = (rolloutId: string) => requests.insist(() => lapel.readRollout({ rolloutId }));

  /** Reads what the service says about a rollout, and enters its transactions into the books. */
  async function look(rolloutId: string): Promise<RolloutLook> {
    const transactions = await list(() => lapel.each('listOwnTransactions', { query: { ...PAGE, rolloutId } }));
    for (const { transactionId, deviceId } of transactions)
      ledger.adopt({ rolloutId, transactionId, deviceId }, timers.now());
    const devices = await list(() => lapel.each('listRolloutDevices', { rolloutId, query: PAGE }));
    return { transactions, devices, rollout: await read(rolloutId) };
  }

  /** Whether a rollout may make commands, or end, without a result that the books wait for. */
  async function isMoving({ rolloutId, plan }: Followed): Promise<boolean> {
    const { state, counts } = await read(rolloutId);
    if (state === 'scheduled') return true;
    if (state === 'paused') return plan.resume !== null;
    if (state !== 'running') return false;
    if (counts.waiting > 0) return true;
    return counts.unfinished === 0 && plan.body.continuous !== true;
  }

  async function arePending(): Promise<boolean> {
    const { deliveries } = await requests.insist(() =>
      lapel.listDeliveries({ query: { status: 'pending', limit: 1 } }),
    );
    return deliveries.length > 0;
  }

  const known = ({ rolloutId, plan, devices, members, events }: Followed, pending: boolean): KnownRollout => ({
    rolloutId,
    plan,
    devices,
    members,
    devicesStay,
    transactions: ledger.transactionsOf(rolloutId),
    events: [...events.values()],
    pending,
  });

  /** Compares a rollout with the books; only differences that all looks find are counted. */
  async function compareOne(followed: Followed): Promise<void> {
    const { rolloutId, phase, plan } = followed;
    followed.isCompared = true;
    let seen = await look(rolloutId);
    let lasting = rolloutDifferences(seen, known(followed, false));
    for (let left = LOOKS - 1; left > 0 && lasting.length > 0 && !stopped.aborted; left -= 1) {
      await pause(timers, LOOK_MILLISECONDS, stopped);
      seen = await look(rolloutId);
      const found = new Set(rolloutDifferences(seen, known(followed, await arePending())).map(({ text }) => text));
      lasting = lasting.filter(({ text }) => found.has(text));
    }
    const at = timers.now();
    for (const { text, ...about } of lasting) ledger.breach({ ...about, phase }, text, at);
    const { rollout, devices } = seen;
    const spared = sparedBy(seen, known(followed, false));
    const overshoot = overshootOf(seen);
    const { state, reason, stage, stages, counts } = rollout;
    const deviceIds = devices.map(({ deviceId }) => deviceId);
    const about = { rolloutId, phase, state, stages: stage, plannedStages: stages.length };
    ledger.rolloutEnded({ ...about, devices: deviceIds, spared, overshoot }, at);
    summaries.push({
      ...about,
      label: plan.body.label ?? rollout.subject ?? '',
      operation: plan.body.operation,
      reason,
      devices: devices.length,
      counts: { ...counts },
      spared: spared.length,
      overshoot: overshoot.length,
    });
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
        const members = membersOf(body.devices, activated, tagsOf);
        const { rolloutId, devices } = await lapel.startRollout({ body, idempotencyKey });
        ledger.rolledOut({ rolloutId, phase, devices, asked: askedBy(body) }, timers.now());
        follow({ rolloutId, phase, plan, devices, members: plan.body.continuous ? null : members });
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
      while (left.size > 0 && spentSince(from) < milliseconds && !stopped.aborted) {
        await each(left, async (followed) => {
          if (!(await isMoving(followed).catch(() => true))) left.delete(followed);
        });
        if (left.size > 0) await pause(timers, LOOK_MILLISECONDS, stopped);
      }
    },

    async adopt() {
      await each(rollouts.values(), ({ rolloutId }) => look(rolloutId));
      return rollouts.size;
    },

    compare: () =>
      each(
        [...rollouts.values()].filter(({ isCompared }) => !isCompared),
        compareOne,
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

    summaries: () => summaries,
  };
}
