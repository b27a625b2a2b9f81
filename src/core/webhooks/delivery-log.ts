import { DomainError } from '../../errors.ts';
import type { PageQuery } from '../../platform/database/newest-first.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { idsFrom } from '../../runtime/ids.ts';
import { listAttempts } from './attempt-repository.ts';
import { NO_DEVICE, type UrlSetting } from './delivery.ts';
import {
  type DeliveryFilter,
  type DeliveryListFilter,
  type DueRange,
  findDelivery,
  hasWaiting,
  listDeliveries,
  makeDue,
  makeRangeDue,
} from './delivery-log-repository.ts';
import type { Webhooks } from './webhooks.ts';

/** Rows that one unit of work looks at, and makes due: others get their turn in between. */
const ROWS_PER_UNIT = 500;
// In this order: what is sent again can wait or be gone at once, but exhausted only after days.
const UNDELIVERED = ['waiting', 'gone', 'exhausted'] as const;
/** Microseconds; identifiers are no finer. */
const MILLISECOND = 1000;

interface Parts {
  database: Database;
  clock: Clock;
  webhooks: Pick<Webhooks, 'record' | 'due'>;
  /** Throws APPLICATION_UNREGISTERED. */
  findApplication(
    unit: UnitOfWork,
    applicationId: string,
  ): Promise<{ authenticationKey: string | null; settings: Record<UrlSetting, string | null> }>;
}

/** `status` left out: what was given up, and what waits for another attempt. */
type Redelivery = Omit<DueRange, 'status'> & DeliveryFilter;

export type DeliveryLog = ReturnType<typeof createDeliveryLog>;

/** What an application can see of its webhooks and do about them (contract, section 3). */
export function createDeliveryLog({ database, clock, webhooks, findApplication }: Parts) {
  async function makeAllDue(applicationId: string, range: DueRange): Promise<number> {
    const before = idsFrom('msg', range.until + MILLISECOND);
    let after = idsFrom('msg', range.since);
    let count = 0;
    for (;;) {
      const { made, last } = await database.transact(async (unit) => {
        const found = await makeRangeDue(unit, applicationId, range, { after, before }, clock.now(), ROWS_PER_UNIT);
        unit.onCommit(() => {
          for (const setting of new Set(found.made)) webhooks.due({ applicationId, setting });
        });
        return found;
      });
      count += made.length;
      if (last === null) return count;
      after = last;
    }
  }

  return {
    /** Newest first. */
    list: (applicationId: string, filter: DeliveryListFilter & PageQuery<string>) =>
      listDeliveries(database.read, applicationId, filter),

    /** One with what is sent, and what came of its failed attempts, the newest first. Throws DELIVERY_NOT_FOUND. */
    async find(applicationId: string, deliveryId: string) {
      const delivery = await findDelivery(database.read, applicationId, deliveryId);
      if (!delivery) throw new DomainError('DELIVERY_NOT_FOUND');
      return { ...delivery, failedAttempts: await listAttempts(database.read, delivery) };
    },

    /** Sends a delivery again, with its webhook-id, whatever became of it. Throws DELIVERY_NOT_FOUND. */
    async redeliver(applicationId: string, deliveryId: string): Promise<void> {
      await database.transact(async (unit) => {
        const setting = await makeDue(unit, applicationId, deliveryId, clock.now());
        if (setting === undefined) throw new DomainError('DELIVERY_NOT_FOUND');
        unit.onCommit(() => webhooks.due({ applicationId, setting }));
      });
    },

    /** The same for a range (without a status: all that is not delivered and was attempted); answers how many. Each that matched when this began is sent again once. */
    async redeliverRange(applicationId: string, range: Redelivery): Promise<number> {
      const until = Math.min(range.until, clock.now() + 1);
      let count = 0;
      for (const status of range.status === undefined ? UNDELIVERED : [range.status]) {
        if (status === 'waiting' && !(await hasWaiting(database.read, applicationId))) continue;
        count += await makeAllDue(applicationId, { ...range, status, until });
      }
      return count;
    },

    /** Sends a `test` event to the URL of a setting; answers its deliveryId. Throws KEY_NOT_ISSUED, NOTIFICATION_NOT_CONFIGURED. */
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
