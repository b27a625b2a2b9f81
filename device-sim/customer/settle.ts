import type { LapelClient } from '@lapel/client/lapel-client';
import { LapelError } from '@lapel/client/lapel-error';
import type { Device } from '../model/device.ts';
import { pause, type Timers } from '../timers.ts';
import type { Ledger, Owed } from './ledger.ts';
import type { OwedCancel } from './owed-cancels.ts';
import { CANCELLED_WITHIN } from './patience.ts';
import type { Requests } from './requests.ts';
import { inParallel } from './service-client.ts';

/** The transactions that have no result at the end of a run and are not lost, counted by the reason. */
export interface Settlement {
  /** All of these transactions. */
  readonly unfinished: number;
  /** Transactions whose device is not connected. */
  readonly away: number;
  /**
   * Transactions whose device has the command and has not answered, or is connected for too short a time to have got
   * it.
   */
  readonly unanswered: number;
  /** Transactions that the service has finished, and whose webhook it will attempt again later. */
  readonly waiting: number;
}

const LOOK_MILLISECONDS = 50;
/** A long wait looks less often: each pause is this part of the wait so far, and a second at most. */
const PAUSE_PART = 1 / 20;
const LONGEST_PAUSE = 1000;
/** After a second without a new result the wait ends, unless a missing result may still arrive by itself. */
const QUIET_MILLISECONDS = 1000;
/** The longest wait for webhooks that were on their way while the service was asked about their transactions. */
const GRACE_MILLISECONDS = 2000;
/** A device that has been connected for this long must have received its due commands. */
const DELIVERY_MILLISECONDS = 5000;
const PARALLEL_REQUESTS = 16;
const DELIVERIES_PER_PAGE = 1000;
/**
 * At most ten pages of a thousand failed deliveries each are redelivered. The service attempts any further ones again
 * by its own schedule.
 */
const PAGES = 10;

const FINISHED = new Set(['succeeded', 'failed', 'cancelled']);

/**
 * `takenBack`: a rollout has taken the command back before it was published. `gone`: the service was restored from an earlier
 * backup.
 */
type TransactionVerdict =
  | { kind: 'away' | 'unanswered' | 'waiting' | 'takenBack' | 'gone' }
  | { kind: 'lost'; why: string; isUndelivered?: boolean };

export function createSettling({
  lapel,
  requests,
  ledger,
  timers,
  spentSince,
  stopped,
  device,
  onlineSince,
  onlineFor,
  onRedeliver,
  gone,
}: {
  lapel: LapelClient;
  requests: Requests;
  ledger: Ledger;
  timers: Timers;
  /** Milliseconds since a time, without the spans in which the simulator itself stood still. */
  spentSince: (from: number) => number;
  stopped: AbortSignal;
  device: (deviceId: string) => Device | undefined;
  /** The time since which the device is connected; undefined while it is offline. */
  onlineSince: (deviceId: string) => number | undefined;
  /** For how many milliseconds after a time the device was connected without a break. */
  onlineFor: (deviceId: string, after: number) => number;
  /** Called before the customer asks for the first redelivery. */
  onRedeliver: () => void;
  /** The ids of the webhooks that the customer's receiver answered 410. */
  gone: () => readonly string[];
}) {
  const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

  /**
   * Whether the result may still arrive by itself: its webhook is on its way, or its connected device will get the
   * command or is working on it. A device that is about to connect again gets the command then.
   */
  function mayMove({ deviceId, deliveredAt, acknowledgedAt }: Owed): boolean {
    if (acknowledgedAt !== null || device(deviceId)?.reconnector.isTrying) return true;
    if (onlineSince(deviceId) === undefined) return false;
    return deliveredAt === null || (device(deviceId)?.outstanding ?? 0) > 0;
  }

  /**
   * Asks for the transactions that a restore may have taken, and forgets those that are gone. Resolves to whether something is
   * known better now.
   */
  async function forgetGone(): Promise<boolean> {
    const unsure = ledger.owed().filter(({ mayBeGone }) => mayBeGone);
    const left = (): number => ledger.owed().filter(({ mayBeGone }) => mayBeGone).length;
    await inParallel(unsure, PARALLEL_REQUESTS, async ({ deviceId, transactionId }) => {
      try {
        await requests.insist(() => lapel.readTransaction({ deviceId, transactionId }));
        ledger.stays(transactionId);
      } catch (error) {
        if (error instanceof LapelError && error.status === 404) ledger.gone(transactionId);
      }
    });
    return left() < unsure.length;
  }

  async function quiet(milliseconds: number): Promise<void> {
    const from = timers.now();
    let stillSince = from;
    let before = -1;
    while (!stopped.aborted && spentSince(from) < milliseconds) {
      const left = ledger.unfinished + ledger.waitingEvents;
      if (left === 0) return;
      const refused = gone();
      if (left !== before || ledger.waitingEvents > refused.length) stillSince = timers.now();
      before = left;
      if (spentSince(stillSince) >= QUIET_MILLISECONDS) {
        // Webhooks that were answered 410 come only when the customer asks for them.
        if (refused.length > 0) await redeliver(refused);
        else if (await forgetGone()) continue;
        else if (!ledger.owed().some(mayMove)) return;
        stillSince = timers.now();
      }
      const wait = Math.min(LONGEST_PAUSE, Math.max(LOOK_MILLISECONDS, spentSince(from) * PAUSE_PART));
      await pause(timers, wait, stopped);
    }
  }

  /**
   * Asks the service why a transaction has no result, and decides whether it is lost. `pending`: some webhooks of the
   * service still wait for their next attempt.
   */
  async function judge(owed: Owed, pending: boolean): Promise<TransactionVerdict> {
    const { transactionId, deviceId, deliveredAt, acknowledgedAt, rolloutId } = owed;
    const lost = (why: string): TransactionVerdict => ({ kind: 'lost', why });
    let status: string;
    try {
      ({ status } = await requests.insist(() => lapel.readTransaction({ deviceId, transactionId })));
    } catch (error) {
      const unknown = error instanceof LapelError && error.status === 404;
      if (unknown && owed.mayBeGone) return { kind: 'gone' };
      if (unknown && rolloutId !== null && deliveredAt === null) return { kind: 'takenBack' };
      return lost(
        unknown
          ? 'the service does not know the transaction'
          : `the service does not answer: ${(error as Error).message}`,
      );
    }
    if (FINISHED.has(status)) {
      return pending ? { kind: 'waiting' } : lost(`the service says "${status}", but no webhook arrived`);
    }
    if (acknowledgedAt !== null) {
      return lost(`the service has acknowledged the answer of the device, but still says "${status}"`);
    }
    ledger.look('result-lost');
    // A device that is away now may get the command when it is back.
    if (onlineSince(deviceId) === undefined) return { kind: 'away' };
    // Nothing is sent of a paused rollout, and later commands pass by those that it holds.
    if (deliveredAt === null && rolloutId !== null && (await isPaused(rolloutId))) return { kind: 'unanswered' };
    const later = deliveredAt === null ? ledger.overtaking(transactionId) : undefined;
    if (later !== undefined)
      return lost(`the service says "${status}", but the device got the later command ${later} instead`);
    const waited = onlineFor(deviceId, owed.acceptedAt ?? 0);
    if (deliveredAt !== null || waited < DELIVERY_MILLISECONDS) return { kind: 'unanswered' };
    const why = `the service says "${status}", but the device, connected for ${seconds(waited)}, has not got the command`;
    return { kind: 'lost', why, isUndelivered: true };
  }

  const isPaused = (rolloutId: string): Promise<boolean> =>
    requests
      .insist(() => lapel.readRollout({ rolloutId }))
      .then(
        ({ state }) => state === 'paused',
        () => false,
      );

  async function pendingDeliveries(): Promise<{ deliveryId: string }[]> {
    const query = { status: 'pending', limit: DELIVERIES_PER_PAGE } as const;
    return requests
      .insist(() => lapel.listDeliveries({ query }))
      .then(
        ({ deliveries }) => deliveries,
        () => [],
      );
  }

  /** Waits until all results and events have arrived, but at most two seconds. */
  async function grace(): Promise<void> {
    const from = timers.now();
    while (spentSince(from) < GRACE_MILLISECONDS && ledger.unfinished + ledger.waitingEvents > 0 && !stopped.aborted) {
      await pause(timers, LOOK_MILLISECONDS, stopped);
    }
  }

  async function redeliver(deliveryIds: readonly string[]): Promise<void> {
    onRedeliver();
    await inParallel(deliveryIds, PARALLEL_REQUESTS, (deliveryId) =>
      // A webhook that has arrived meanwhile need not be sent again.
      requests.insist(() => lapel.redeliver({ deliveryId })).catch(() => undefined),
    );
  }

  /**
   * Asks for redelivery of the webhooks that wait for their next attempt, as a customer does after an outage. While
   * such webhooks are left, a result that never comes cannot be told from one that comes later. Resolves to true if
   * some are left. Webhooks that were answered 410 do not come by themselves, so it asks for them as well.
   */
  async function fetchPending(): Promise<boolean> {
    const refused = gone();
    if (refused.length > 0) {
      await redeliver(refused);
      await grace();
    }
    for (let page = 0; page < PAGES && !stopped.aborted; page += 1) {
      const pending = await pendingDeliveries();
      if (pending.length === 0) return false;
      await redeliver(pending.map(({ deliveryId }) => deliveryId));
      await grace();
    }
    return (await pendingDeliveries()).length > 0;
  }

  /** Waits for the cancels that connected devices are owed, and counts those that do not come. */
  async function judgeCancels(): Promise<void> {
    const from = timers.now();
    const due = () => ledger.owedCancels().filter(({ deviceId }) => onlineSince(deviceId) !== undefined);
    const isOver = ({ deviceId, since }: OwedCancel): boolean => onlineFor(deviceId, since) >= CANCELLED_WITHIN;
    while (due().some((one) => !isOver(one)) && spentSince(from) < 2 * CANCELLED_WITHIN && !stopped.aborted)
      await pause(timers, LOOK_MILLISECONDS, stopped);
    for (const owed of due()) if (isOver(owed)) ledger.missCancel(owed, timers.now());
  }

  return async function settle(milliseconds: number): Promise<Settlement> {
    await quiet(milliseconds);
    await judgeCancels();
    const counts = { unfinished: 0, away: 0, unanswered: 0, waiting: 0 };
    const owed = ledger.owed().filter(({ lost }) => !lost);
    const events = ledger.owedEvents();
    if (owed.length === 0 && events.length === 0) return counts;
    const pending = await fetchPending();
    const verdicts = await inParallel(owed, PARALLEL_REQUESTS, (one) => judge(one, pending));
    if (verdicts.some(({ kind }) => kind === 'lost') || events.length > 0) await grace();
    // A device may find out late that its connection is dead, and gets its commands on the next one.
    const arrived = new Set(ledger.owed().flatMap((one) => (one.deliveredAt === null ? [] : [one.transactionId])));
    for (const [index, { transactionId }] of owed.entries()) {
      const judged = verdicts[index];
      if (!judged || ledger.outcomeOf(transactionId) !== undefined) continue;
      const isThere = judged.kind === 'lost' && judged.isUndelivered && arrived.has(transactionId);
      const verdict: TransactionVerdict = isThere ? { kind: 'unanswered' } : judged;
      if (verdict.kind === 'lost') ledger.lose(transactionId, verdict.why, timers.now());
      else if (verdict.kind === 'takenBack') ledger.takenBack(transactionId);
      else if (verdict.kind === 'gone') ledger.gone(transactionId);
      else {
        counts.unfinished += 1;
        counts[verdict.kind] += 1;
      }
    }
    if (!pending) for (const event of ledger.owedEvents()) ledger.loseEvent(event, timers.now());
    return counts;
  };
}
