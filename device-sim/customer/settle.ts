import type { LapelClient } from '../../src/clients/client/lapel-client.ts';
import { LapelError } from '../../src/clients/client/lapel-error.ts';
import type { Device } from '../model/device.ts';
import { pause, type Timers } from '../timers.ts';
import type { Ledger, Owed } from './ledger.ts';
import type { Requests } from './requests.ts';
import { inParallel } from './service-client.ts';

/** The transactions without a result at the end that are not lost. */
export interface Settlement {
  /** Transactions without a result that are not lost. */
  readonly unfinished: number;
  /** Of these: the device is not connected. */
  readonly away: number;
  /** Of these: the device has the command and has not answered. */
  readonly unanswered: number;
  /** Of these: the service says that they are finished, and will attempt the webhook again later. */
  readonly waiting: number;
}

const LOOK_MILLISECONDS = 50;
/** After a second without any change no further answer is expected. */
const QUIET_MILLISECONDS = 1000;
/** Time for webhooks that were on their way while the service was asked. */
const GRACE_MILLISECONDS = 2000;
/** A device that has been connected for so long has received its waiting commands. */
const DELIVERY_MILLISECONDS = 5000;
const PARALLEL_REQUESTS = 16;
const DELIVERIES_PER_PAGE = 1000;
/** Ten thousand failed deliveries; the schedule of the service handles the rest. */
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
  onRedeliver,
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
  /** Called before the first redelivery is asked for. */
  onRedeliver: () => void;
}) {
  const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

  /** Whether the transaction may still get its result without help. */
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

  /** Asks the service about a transaction without a result. */
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
      return pending ? { kind: 'waiting' } : lost(`the service says that it is ${status}, and no webhook arrived`);
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

  /** Resolves when all expected results have arrived, or when no more arrive. */
  async function grace(): Promise<void> {
    const from = timers.now();
    while (spentSince(from) < GRACE_MILLISECONDS && ledger.unfinished + ledger.waitingEvents > 0 && !stopped.aborted) {
      await pause(timers, LOOK_MILLISECONDS, stopped);
    }
  }

  /**
   * Asks for redelivery of failed webhooks, as a customer does after an outage. Otherwise a webhook that was never sent
   * could hide behind those that wait for their next attempt. Resolves to true if some are left.
   */
  async function fetchPending(): Promise<boolean> {
    for (let page = 0; page < PAGES && !stopped.aborted; page += 1) {
      const pending = await pendingDeliveries();
      if (pending.length === 0) return false;
      onRedeliver();
      await inParallel(pending, PARALLEL_REQUESTS, ({ deliveryId }) =>
        // A webhook that has arrived meanwhile need not be sent again.
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
