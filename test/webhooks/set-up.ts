import type { LookupFunction } from 'node:net';
import type { Test } from 'tap';
import { dueOfEndpoints } from '../../src/core/endpoints/due-repository.ts';
import type { UrlSetting, WebhookEvent } from '../../src/core/webhooks/delivery.ts';
import { createKeptConnections } from '../../src/core/webhooks/http/kept-connections.ts';
import { createWebhooks, type EndpointReceivers } from '../../src/core/webhooks/webhooks.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createAlone } from '../../src/platform/cluster/alone.ts';
import type { Database } from '../../src/platform/database/sql.ts';
import { type Ids, randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createTenant } from '../applications/tenant.ts';
import { until } from '../until.ts';

// Four bytes that make the random number 0.5: no jitter.
const steadyIds: Ids = { ...randomIds, bytes: (count) => Buffer.from(`${'00'.repeat(count - 1)}80`, 'hex') };

interface Choices {
  ids?: Ids;
  allowPrivate?: boolean;
  direct?: boolean;
  lookup?: LookupFunction;
  log?: ReturnType<typeof createLog>;
  /** Wraps the database between the sender and the file, to make it fail. */
  through?(database: Database): Database;
}

/** Applications without endpoints. */
const NO_ENDPOINTS: EndpointReceivers = {
  rows: dueOfEndpoints,
  takeUp: () => Promise.resolve(),
  concluded: () => Promise.resolve(),
  release: () => Promise.resolve(),
  heard: () => undefined,
};

/**
 * Everything around the sender, for real: the application `app-1` with a key and deviceEvent at `url`, over one
 * database file.
 */
export async function createSetUp(t: Test, url: string | null) {
  const tenant = await createTenant(t, { allowHttpWebhooks: true });
  const { database, clock, applications } = tenant;
  const metrics = createMetrics();

  async function addApplication(applicationId: string, deviceEvent: string | null): Promise<void> {
    await applications.create('dev-1', { applicationId, name: applicationId });
    await applications.issueKey(applicationId);
    await applications.updateSettings(applicationId, { deviceEvent });
  }
  await addApplication('app-1', url);

  async function open(choices: Choices = {}) {
    const webhooks = createWebhooks({
      appended: () => undefined,
      share: createAlone().partitions,
      database: choices.through?.(database) ?? database,
      clock,
      trust: { latest: clock.now, isBehind: () => false, isSettled: () => true },
      ids: choices.ids ?? steadyIds,
      log: choices.log ?? createLog({ level: 'silent' }),
      metrics,
      endpointOf: (applicationId, setting) => applications.endpointOf(applicationId, setting as UrlSetting),
      endpoints: NO_ENDPOINTS,
      findApplication: applications.findIn,
      allowPrivate: choices.allowPrivate ?? true,
      direct: choices.direct ?? true,
      kept: createKeptConnections({ metrics, most: { service: 256, developer: 64 } }),
      ...(choices.lookup && { lookup: choices.lookup }),
    });
    t.teardown(() => {
      const stopped = webhooks[Symbol.asyncDispose]();
      clock.advance(10_000); // ends attempts that still hang
      return stopped;
    });
    await webhooks.start();
    const record = (event: Partial<WebhookEvent> = {}): Promise<string> =>
      database.transact(async (unit) =>
        webhooks.record(unit, {
          applicationId: 'app-1',
          deviceId: '490154203237518',
          setting: 'deviceEvent',
          type: 'bluetooth.connected',
          occurredAt: clock.now(),
          data: { macAddress: 'AA:BB:CC:DD:EE:FF' },
          ...event,
        }),
      );
    return { webhooks, record };
  }

  interface Row {
    status: string;
    attempts: number;
    url: string | null;
    statusCode: number | null;
    error: string | null;
    nextAttemptAt: number | null;
    body: string;
    createdAt: number;
  }
  const row = async (deliveryId: string): Promise<Row> => {
    const found = await database.read.get<Row>(
      `SELECT status, attempts, url, last_status_code AS "statusCode", last_error AS error,
         next_attempt_at AS "nextAttemptAt", body, created_at AS "createdAt" FROM deliveries WHERE delivery_id = ?`,
      deliveryId,
    );
    if (!found) throw new Error(`there is no delivery ${deliveryId}`);
    return found;
  };
  const count = async (status: string): Promise<number> => {
    const found = await database.read.get<{ n: number }>(
      'SELECT COUNT(*) AS n FROM deliveries WHERE status = ?',
      status,
    );
    return found?.n ?? 0;
  };
  /**
   * Waits until the delivery is no longer pending, for tests in which idle() never resolves because another one hangs.
   */
  async function finished(deliveryId: string): Promise<void> {
    await until(async () => (await row(deliveryId)).status !== 'pending');
  }
  return { ...tenant, metrics, addApplication, open, row, count, finished };
}
