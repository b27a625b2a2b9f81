import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../../metrics.ts';
import type { PageQuery } from '../../../platform/database/newest-first.ts';
import type { Database, UnitOfWork } from '../../../platform/database/sql.ts';
import type { BulkThrottle } from '../../../runtime/bulk-throttle.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { idsFrom } from '../../../runtime/ids.ts';
import { NO_DEVICE, type UrlSetting } from '../delivery.ts';
import type { Webhooks } from '../webhooks.ts';
import { listAttempts } from './attempt-repository.ts';
import {
  countRange,
  type DeliveryFilter,
  type DeliveryListFilter,
  type DueRange,
  findDelivery,
  hasWaiting,
  listDeliveries,
  makeDue,
  makeRangeDue,
} from './delivery-log-repository.ts';
import { endTurn, keepTurn, type RedeliveryTurn, takeTurn } from './redelivery-turns.ts';

/** The number of rows that one unit of work examines and makes due, so that other units can run in between. */
const ROWS_PER_UNIT = 50;
/** The number of rows that one query counts, so that other queries can run in between. */
const ROWS_PER_COUNT = 20_000;
// In this order hardly any delivery is found twice. A gone or exhausted one that is sent again can soon be waiting or
// gone, but those were handled before; it is exhausted only after days. A waiting one is found a second time only if
// its receiver answers 410 meanwhile.
const UNDELIVERED = ['waiting', 'gone', 'exhausted'] as const;
/** Microseconds; the times in identifiers are whole milliseconds. */
const MILLISECOND_MICROS = 1000;

interface Parts {
  database: Database;
  clock: Clock;
  webhooks: Pick<Webhooks, 'record' | 'due'>;
  throttle: BulkThrottle;
  metrics: Pick<Metrics, 'httpRefused'>;
  /** Throws APPLICATION_UNREGISTERED. */
  findApplication(
    unit: UnitOfWork,
    applicationId: string,
  ): Promise<{ authenticationKey: string | null; settings: Record<UrlSetting, string | null> }>;
}

/** Without `status`: deliveries that were given up, and those that wait for another attempt. */
type Redelivery = Omit<DueRange, 'status'> & DeliveryFilter;

export type DeliveryLog = ReturnType<typeof createDeliveryLog>;

/** The deliveries that an application sees, and the ways to send them again (contract, section 3). */
export function createDeliveryLog({ database, clock, webhooks, throttle, metrics, findApplication }: Parts) {
  async function makeAllDue(held: RedeliveryTurn, range: DueRange): Promise<number> {
    const { applicationId } = held;
    const before = idsFrom('msg', range.until + MILLISECOND_MICROS);
    let after = idsFrom('msg', range.since);
    let count = 0;
    for (;;) {
      const began = performance.now();
      const { made, last } = await database.transact(async (unit) => {
        const now = clock.now();
        const { dueAt, took } = await keepTurn(unit, held, now);
        const found = await makeRangeDue(unit, applicationId, range, { after, before }, { now, dueAt }, ROWS_PER_UNIT);
        took(found.made.length);
        unit.onCommit(() => {
          for (const setting of new Set(found.made)) webhooks.due({ applicationId, setting });
        });
        return found;
      });
      count += made.length;
      if (last === null) return count;
      after = last;
      await throttle(began);
    }
  }

  async function makeUndeliveredDue(held: RedeliveryTurn, range: Redelivery): Promise<number> {
    let count = 0;
    for (const status of range.status === undefined ? UNDELIVERED : [range.status]) {
      if (status === 'waiting' && !(await hasWaiting(database.read, held.applicationId))) continue;
      count += await makeAllDue(held, { ...range, status });
    }
    return count;
  }

  return {
    /** Lists deliveries, newest first. */
    list: (applicationId: string, filter: DeliveryListFilter & PageQuery<string>) =>
      listDeliveries(database.read, applicationId, filter),

    /** A delivery with its body and its failed attempts, the newest first. Throws DELIVERY_NOT_FOUND. */
    async find(applicationId: string, deliveryId: string) {
      const delivery = await findDelivery(database.read, applicationId, deliveryId);
      if (!delivery) throw new DomainError('DELIVERY_NOT_FOUND');
      return { ...delivery, failedAttempts: await listAttempts(database.read, delivery) };
    },

    /** Sends a delivery again with the same webhook-id, in whatever status it is. Throws DELIVERY_NOT_FOUND. */
    async redeliver(applicationId: string, deliveryId: string): Promise<void> {
      await database.transact(async (unit) => {
        const setting = await makeDue(unit, applicationId, deliveryId, clock.now());
        if (setting === undefined) throw new DomainError('DELIVERY_NOT_FOUND');
        unit.onCommit(() => webhooks.due({ applicationId, setting }));
      });
    },

    /**
     * Sends the deliveries of a range again, each once (without a status: all undelivered ones that were attempted); returns
     * their number. Deliveries that are made meanwhile are not included. They go out at the pace of redelivery-turns.ts.
     * Throws REDELIVERY_RUNNING, APPLICATION_UNREGISTERED.
     */
    async redeliverRange(applicationId: string, range: Redelivery): Promise<number> {
      const until = Math.min(range.until, clock.now() + 1);
      const held = await database.transact(async (unit) => {
        const taken = await takeTurn(unit, applicationId, clock.now());
        if (!taken) await findApplication(unit, applicationId);
        return taken;
      });
      if (!held) {
        metrics.httpRefused.inc({ bound: 'redelivery' });
        throw new DomainError('REDELIVERY_RUNNING');
      }
      try {
        return await makeUndeliveredDue(held, { ...range, until });
      } finally {
        // When the database is away, the turn ends by its time, and the caller hears what happened to the range.
        await database.transact(async (unit) => endTurn(unit, held)).catch(() => undefined);
      }
    },

    /** Counts the deliveries that `redeliverRange` would send again. */
    async countRange(applicationId: string, range: Redelivery): Promise<number> {
      const until = Math.min(range.until, clock.now() + 1);
      const before = idsFrom('msg', until + MILLISECOND_MICROS);
      let count = 0;
      for (const status of range.status === undefined ? UNDELIVERED : [range.status]) {
        if (status === 'waiting' && !(await hasWaiting(database.read, applicationId))) continue;
        let after: string | null = idsFrom('msg', range.since);
        while (after !== null) {
          const wanted: DueRange = { ...range, status, until };
          const part = await countRange(database.aside, applicationId, wanted, { after, before }, ROWS_PER_COUNT);
          count += part.count;
          after = part.last;
        }
      }
      return count;
    },

    /**
     * Sends a `test` event to the URL of a setting; returns its deliveryId. Throws KEY_NOT_ISSUED,
     * NOTIFICATION_NOT_CONFIGURED.
     */
    test: (applicationId: string, setting: UrlSetting): Promise<string> =>
      database.transact(async (unit) => {
        const { authenticationKey, settings } = await findApplication(unit, applicationId);
        if (authenticationKey === null) throw new DomainError('KEY_NOT_ISSUED');
        if (settings[setting] === null) throw new DomainError('NOTIFICATION_NOT_CONFIGURED');
        const event = { applicationId, setting, deviceId: NO_DEVICE, type: 'test', occurredAt: clock.now() };
        return webhooks.record(unit, { ...event, data: { setting } });
      }),
  };
}
