import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

/** Microseconds; scrapes in between get the figures of the last look. */
const KEPT = 10_000_000;
/** Milliseconds that a scrape waits for a look; a longer one is for the next scrape. */
const PATIENCE = 2_000;

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Commands that devices must still hear of; microseconds. */
  due(): Promise<{ count: number; oldestAt: number | null }>;
  /** Webhooks that are pending; microseconds. */
  pending(): Promise<{ count: number; earliestDueAt: number | null }>;
  /** Bytes. */
  databaseSize(): Promise<{ database: number; log: number; free: number }>;
  /** Seconds of this node's lease that are left, and since what hints speak of was looked at; undefined where there are no other nodes. */
  cluster(): { lease: number; healAge: number } | undefined;
  /** Bytes of stored objects, and that the disk has left; undefined when the store is not ours. */
  objects(): Promise<{ stored: number; free: number } | undefined>;
}

/** Figures that are looked up when somebody asks for metrics, and by nobody else: queues, their ages, sizes. */
export function createSurvey(parts: Parts) {
  const { clock, log, metrics } = parts;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  const age = (since: number | null): number => (since === null ? 0 : Math.max(0, (clock.now() - since) / 1_000_000));

  async function look(): Promise<void> {
    try {
      const looks = [parts.due(), parts.pending(), parts.objects(), parts.databaseSize()] as const;
      const [due, pending, objects, size] = await Promise.all(looks);
      metrics.commandsDue.set(due.count);
      metrics.oldestCommandDue.set(age(due.oldestAt));
      metrics.deliveriesPending.set(pending.count);
      metrics.oldestDeliveryDue.set(age(pending.earliestDueAt));
      const { database, log: walBytes, free } = size;
      metrics.databaseFree.set(free);
      metrics.databaseBytes.set({ file: 'database' }, database);
      metrics.databaseBytes.set({ file: 'wal' }, walBytes);
      if (objects) {
        metrics.objectStored.set(objects.stored);
        metrics.diskFree.set(objects.free);
      }
      lookedAt = clock.now();
    } catch (err) {
      log.warn({ err }, 'what the metrics tell of queues and sizes could not be looked up');
    }
    looking = undefined;
  }

  /** Brings the figures up to date, or leaves those of the last look. */
  return async function refresh(): Promise<void> {
    const cluster = parts.cluster();
    metrics.clusterLease.set(cluster?.lease ?? 0);
    metrics.clusterHealAge.set(cluster?.healAge ?? 0);
    if (clock.now() - lookedAt < KEPT) return;
    looking ??= look();
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(PATIENCE, resolve);
    await Promise.race([looking, promise]);
    cancel();
  };
}
