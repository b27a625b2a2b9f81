import type { LapelClient } from '../../src/clients/client/lapel-client.ts';
import { LapelError } from '../../src/clients/client/lapel-error.ts';
import type { Device } from '../model/device.ts';
import { pause, type Timers } from '../timers.ts';
import type { Ledger, Owed } from './ledger.ts';
import type { Requests } from './requests.ts';
import { inParallel } from './service-client.ts';

/** What has no result at the end, and owes none. */
export interface Settlement {
  /** Transactions without a result that are not lost. */
  readonly unfinished: number;
  /** Of these: their device is not connected. */
  readonly away: number;
  /** Their device has the command, and has not answered. */
  readonly unanswered: number;
  /** The service says that they are finished, and tries to deliver the webhook again later. */
  readonly waiting: number;
}

const LOOK_MILLISECONDS = 50;
/** Nothing has moved for so long: who has not answered by now will not. */
const QUIET_MILLISECONDS = 1000;
/** What was on its way while the service was asked has this time to arrive. */
const GRACE_MILLISECONDS = 2000;
/** A device that is there for so long has been given what waits for it. */
const DELIVERY_MILLISECONDS = 5000;
const PARALLEL_REQUESTS = 16;
const DELIVERIES_PER_PAGE = 1000;
/** Ten thousand deliveries that failed; more are left to the service's schedule. */
const PAGES = 10;

const FINISHED = new Set(['succeeded', 'failed', 'cancelled']);

type Verdict = { kind: 'away' | 'unanswered' | 'waiting' } | { kind: 'lost'; why: string };

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
}: {
  lapel: LapelClient;
  requests: Requests;
  ledger: Ledger;
  timers: Timers;
  /** Milliseconds since a time, without those in which the simulator itself stood still. */
  spentSince: (from: number) => number;
  stopped: AbortSignal;
  device: (deviceId: string) => Device | undefined;
  /** When a device was connected; undefined while it is not. */
  onlineSince: (deviceId: string) => number | undefined;
  /** For how many milliseconds after a time it was connected without a break. */
  onlineFor: (deviceId: string, after: number) => number;
}) {
  const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

  /** Whether something may still come of it by itself. */
  function mayMove({ deviceId, deliveredAt, acknowledgedAt }: Owed): boolean {
    if (acknowledgedAt !== null) return true;
    if (onlineSince(deviceId) === undefined) return false;
    return deliveredAt === null || (device(deviceId)?.outstanding ?? 0) > 0;
  }

  async function quiet(milliseconds: number): Promise<void> {
    const from = timers.now();
    let stillSince = from;
    let before = -1;
    while (!stopped.aborted && spentSince(from) < milliseconds) {
      const left = ledger.unfinished + ledger.waitingEvents;
      if (left === 0) return;
      if (left !== before || ledger.waitingEvents > 0) stillSince = timers.now();
      before = left;
      if (spentSince(stillSince) >= QUIET_MILLISECONDS) {
        if (!ledger.owed().some(mayMove)) return;
        stillSince = timers.now();
      }
      await pause(timers, LOOK_MILLISECONDS, stopped);
    }
  }

  /** What the service says about a transaction that has no result. */
  async function judge(owed: Owed, pending: boolean): Promise<Verdict> {
    const { transactionId, deviceId, deliveredAt, acknowledgedAt } = owed;
    const lost = (why: string): Verdict => ({ kind: 'lost', why });
    let status: string;
    try {
      ({ status } = await requests.insist(() => lapel.readTransaction({ deviceId, transactionId })));
    } catch (error) {
      const unknown = error instanceof LapelError && error.status === 404;
      return lost(
        unknown ? 'the service does not know it' : `the service does not answer: ${(error as Error).message}`,
      );
    }
    if (FINISHED.has(status)) {
      return pending ? { kind: 'waiting' } : lost(`the service says that it is ${status}, and no webhook came`);
    }
    if (acknowledgedAt !== null) {
      return lost(`the service has acknowledged the answer of the device, and says that it is ${status}`);
    }
    const later = deliveredAt === null ? ledger.overtaking(transactionId) : undefined;
    if (later !== undefined) return lost(`it is ${status}, and the device has got the later command ${later} instead`);
    const kind = onlineSince(deviceId) === undefined ? 'away' : 'unanswered';
    const waited = onlineFor(deviceId, owed.acceptedAt ?? 0);
    if (deliveredAt !== null || waited < DELIVERY_MILLISECONDS) return { kind };
    return lost(`it is ${status}, and the device, connected for ${seconds(waited)}, has not got the command`);
  }

  async function pendingDeliveries(): Promise<{ deliveryId: string }[]> {
    const query = { status: 'pending', limit: DELIVERIES_PER_PAGE } as const;
    return requests
      .insist(() => lapel.listDeliveries({ query }))
      .then(
        ({ deliveries }) => deliveries,
        () => [],
      );
  }

  /** Everything that is owed has come, or nothing more of it does. */
  async function grace(): Promise<void> {
    const from = timers.now();
    while (spentSince(from) < GRACE_MILLISECONDS && ledger.unfinished + ledger.waitingEvents > 0 && !stopped.aborted) {
      await pause(timers, LOOK_MILLISECONDS, stopped);
    }
  }

  /**
   * Asks for what failed at the receiver, as a customer does after an outage of his own: else a webhook that was never sent
   * would hide behind those that wait for their next attempt. True when some are left.
   */
  async function fetchPending(): Promise<boolean> {
    for (let page = 0; page < PAGES && !stopped.aborted; page += 1) {
      const pending = await pendingDeliveries();
      if (pending.length === 0) return false;
      await inParallel(pending, PARALLEL_REQUESTS, ({ deliveryId }) =>
        // One that has come meanwhile need not be asked for.
        requests.insist(() => lapel.redeliver({ deliveryId })).catch(() => undefined),
      );
      await grace();
    }
    return (await pendingDeliveries()).length > 0;
  }

  return async function settle(milliseconds: number): Promise<Settlement> {
    await quiet(milliseconds);
    const counts = { unfinished: 0, away: 0, unanswered: 0, waiting: 0 };
    const owed = ledger.owed().filter(({ lost }) => !lost);
    const events = ledger.owedEvents();
    if (owed.length === 0 && events.length === 0) return counts;
    const pending = await fetchPending();
    const verdicts = await inParallel(owed, PARALLEL_REQUESTS, (one) => judge(one, pending));
    if (verdicts.some(({ kind }) => kind === 'lost') || events.length > 0) await grace();
    for (const [index, { transactionId }] of owed.entries()) {
      const verdict = verdicts[index];
      if (!verdict || ledger.outcomeOf(transactionId) !== undefined) continue;
      if (verdict.kind === 'lost') ledger.lose(transactionId, verdict.why, timers.now());
      else {
        counts.unfinished += 1;
        counts[verdict.kind] += 1;
      }
    }
    if (!pending) for (const event of ledger.owedEvents()) ledger.loseEvent(event, timers.now());
    return counts;
  };
}
