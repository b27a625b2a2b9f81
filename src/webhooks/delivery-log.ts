import type { Clock } from '../clock.ts';
import type { Database, UnitOfWork } from '../database/sql.ts';
import { DomainError } from '../errors.ts';
import type { WebhookSetting } from './delivery.ts';
import {
  type DeliveryFilter,
  listDeliveries,
  makeDue,
  makeRangeDue,
  type RedeliveryRange,
} from './delivery-log-repository.ts';

import type { Webhooks } from './webhooks.ts';

/** Rows that one unit of work makes due: others get their turn in between. */
const ROWS_PER_UNIT = 500;
/** The device of a `test` event: none has this IMEI. */
const NO_DEVICE = '000000000000000';

interface Parts {
  database: Database;
  clock: Clock;
  webhooks: Pick<Webhooks, 'record' | 'due'>;
  /** Throws APPLICATION_UNREGISTERED. */
  findApplication(
    unit: UnitOfWork,
    applicationId: string,
  ): Promise<{ authenticationKey: string | null; settings: Record<WebhookSetting, string | null> }>;
}

export type DeliveryLog = ReturnType<typeof createDeliveryLog>;

/** What an application can see of its webhooks and do about them (contract, section 3). */
export function createDeliveryLog({ database, clock, webhooks, findApplication }: Parts) {
  return {
    /** Newest first. */
    list: (applicationId: string, filter: DeliveryFilter & { offset: number; limit: number }) =>
      listDeliveries(database.read, applicationId, filter),

    /** Sends a delivery again, with its webhook-id, whatever became of it. Throws DELIVERY_NOT_FOUND. */
    async redeliver(applicationId: string, deliveryId: string): Promise<void> {
      await database.transact(async (unit) => {
        const setting = await makeDue(unit, applicationId, deliveryId, clock.now());
        if (setting === undefined) throw new DomainError('DELIVERY_NOT_FOUND');
        unit.onCommit(() => webhooks.due({ applicationId, setting }));
      });
    },

    /** The same for a range; answers how many. Each that matched when this began is sent again once. */
    async redeliverRange(applicationId: string, range: RedeliveryRange): Promise<number> {
      let count = 0;
      let after = '';
      for (;;) {
        const found = await database.transact(async (unit) => {
          const rows = await makeRangeDue(unit, applicationId, range, after, clock.now(), ROWS_PER_UNIT);
          const settings = new Set(rows.map(({ setting }) => setting));
          unit.onCommit(() => {
            for (const setting of settings) webhooks.due({ applicationId, setting });
          });
          return rows;
        });
        count += found.length;
        if (found.length < ROWS_PER_UNIT) return count;
        for (const { deliveryId } of found) if (deliveryId > after) after = deliveryId;
      }
    },

    /** Sends a `test` event to the URL of a setting; answers its deliveryId. Throws KEY_NOT_ISSUED, NOTIFICATION_NOT_CONFIGURED. */
    test: (applicationId: string, setting: WebhookSetting): Promise<string> =>
      database.transact(async (unit) => {
        const { authenticationKey, settings } = await findApplication(unit, applicationId);
        if (authenticationKey === null) throw new DomainError('KEY_NOT_ISSUED');
        if (settings[setting] === null) throw new DomainError('NOTIFICATION_NOT_CONFIGURED');
        const event = { applicationId, setting, deviceId: NO_DEVICE, type: 'test', occurredAt: clock.now() };
        return webhooks.record(unit, { ...event, data: { setting } });
      }),
  };
}
