import type { Metrics } from '../../metrics.ts';
import type { Certificates } from '../../platform/entrance/certificates.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Readiness } from '../../runtime/readiness.ts';

/**
 * Microseconds for which the metrics that were looked up stay as they are: scrapes in this time get the same values.
 */
const KEPT_MICROS = 10_000_000;
/**
 * Milliseconds that a scrape waits for the lookup of new values. A slower lookup goes on, and the next scrape gets its
 * values.
 */
const LOOKUP_TIMEOUT_MS = 2_000;

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /**
   * Counts the commands that are still to be sent to devices, offline devices included; `oldestAt` is in microseconds.
   */
  due(): Promise<{ count: number; oldestAt: number | null }>;
  /** Counts the webhook deliveries that are neither delivered nor given up; `earliestDueAt` is in microseconds. */
  pending(): Promise<{ count: number; earliestDueAt: number | null }>;
  /** The sizes of the database, its write-ahead log and its free space, in bytes. */
  databaseSize(): Promise<{ database: number; log: number; free: number }>;
  /**
   * `lease`: seconds for which this node may still begin work (the first 80 % of its lease). `healAge`: seconds since
   * this node last searched the database for work that other nodes should have announced to it. Undefined without a
   * cluster.
   */
  cluster(): { lease: number; healAge: number } | undefined;
  /** Bytes of stored objects; undefined for an external object store. */
  objects(): Promise<{ stored: number } | undefined>;
  /** The free bytes and the size of the disk of the data folder. */
  disk(): Promise<{ free: number; size: number }>;
  /** When the oldest command was written that its connected device has not acknowledged; undefined without one. */
  oldestInFlight(): number | undefined;
  /** Counts the receivers of webhooks whose last attempt failed. */
  failing(): Promise<number>;
  /** Counts the endpoints of all applications by state. */
  endpoints(): Promise<{ enabled: number; down: number; disabled: number }>;
  /** Counts the deliveries to endpoints that wait. */
  endpointDeliveries(): Promise<{ pending: number; blocked: number }>;
  /** When the device CA ends that ends first; null without one. */
  deviceCaEnd(): Promise<number | null>;
  /** The entries of the audit log that its receiver does not have yet; undefined without a receiver. */
  auditWaiting: (() => Promise<{ count: number; oldestAt: number | null }>) | undefined;
  /** Knows the parts of the service that can do their work, and those that cannot. */
  readiness: Pick<Readiness, 'parts' | 'problems'>;
  certificates: Pick<Certificates, 'measure'>;
}

/** Makes the function that looks up the metrics of queues and sizes. It runs only when somebody asks for metrics. */
export function createSurvey(parts: Parts) {
  const { clock, log, metrics, auditWaiting = () => Promise.resolve(undefined) } = parts;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  const age = (since: number | null): number => (since === null ? 0 : Math.max(0, (clock.now() - since) / 1_000_000));

  async function look(): Promise<void> {
    try {
      const sizes = [parts.objects(), parts.disk(), parts.databaseSize()] as const;
      const looks = [
        parts.due(),
        parts.pending(),
        parts.failing(),
        auditWaiting(),
        parts.deviceCaEnd(),
        parts.endpoints(),
        parts.endpointDeliveries(),
        ...sizes,
      ] as const;
      const [due, pending, failing, waiting, deviceCaEnd, endpoints, toEndpoints, objects, disk, size] =
        await Promise.all(looks);
      metrics.commandsDue.set(due.count);
      metrics.oldestCommandDue.set(age(due.oldestAt));
      metrics.oldestCommandInFlight.set(age(parts.oldestInFlight() ?? null));
      metrics.deliveriesPending.set(pending.count);
      metrics.oldestDeliveryDue.set(age(pending.earliestDueAt));
      metrics.receiversFailing.set(failing);
      for (const [state, count] of Object.entries(endpoints)) metrics.endpoints.set({ state }, count);
      for (const [status, count] of Object.entries(toEndpoints)) metrics.endpointDeliveries.set({ status }, count);
      metrics.auditWaiting.set(waiting?.count ?? 0);
      metrics.oldestAuditWaiting.set(age(waiting?.oldestAt ?? null));
      const { database, log: walBytes, free } = size;
      metrics.databaseFree.set(free);
      metrics.databaseBytes.set({ file: 'database' }, database);
      metrics.databaseBytes.set({ file: 'wal' }, walBytes);
      if (objects) metrics.objectStored.set(objects.stored);
      metrics.diskFree.set(disk.free);
      metrics.diskSize.set(disk.size);
      const ofDeviceCa = { listener: 'devices', file: 'device_ca' };
      if (deviceCaEnd === null) metrics.certificateExpires.remove(ofDeviceCa);
      else metrics.certificateExpires.set(ofDeviceCa, Math.round((deviceCaEnd - clock.now()) / 1_000_000));
      lookedAt = clock.now();
    } catch (err) {
      log.warn({ err }, 'the metrics of queues and sizes could not be looked up');
    }
    looking = undefined;
  }

  /** Checks all parts of the service, as `/readyz` does. A database that does not answer makes this take two seconds. */
  async function judge(): Promise<void> {
    const problems = new Set((await parts.readiness.problems()).map(({ part }) => part));
    for (const part of parts.readiness.parts()) metrics.ready.set({ part }, problems.has(part) ? 0 : 1);
  }

  /** Looks the queues and sizes up again, unless the last lookup is recent enough. */
  async function lookAgain(): Promise<void> {
    if (clock.now() - lookedAt < KEPT_MICROS) return;
    looking ??= look();
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(LOOKUP_TIMEOUT_MS, resolve);
    await Promise.race([looking, promise]);
    cancel();
  }

  return async function refresh(): Promise<void> {
    await Promise.all([judge(), lookAgain()]);
    // These change all the time, so they are read last.
    const cluster = parts.cluster();
    metrics.clusterLease.set(cluster?.lease ?? 0);
    metrics.clusterHealAge.set(cluster?.healAge ?? 0);
    parts.certificates.measure();
    metrics.clockTime.set(clock.now() / 1_000_000);
  };
}
