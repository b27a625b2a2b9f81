import type { Test } from 'tap';
import { createOutbox } from '../../src/core/outbox/outbox.ts';
import * as due from '../../src/core/transactions/due-repository.ts';
import { insertTransaction } from '../../src/core/transactions/transaction-repository.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { Database, UnitOfWork } from '../../src/platform/database/sql.ts';
import { createLog } from '../../src/runtime/log.ts';
import { NO_TRACING } from '../../src/runtime/tracing.ts';
import { Watch } from '../../src/runtime/watch.ts';
import { createFakeClock } from '../fake-clock.ts';

export const DEVICE = '490154203237518';

type Parts = Parameters<typeof createOutbox>[0];

/** The outbox of one node over a database. `insert` stores a command of the device with so many attempts. */
export function createTestOutbox(
  t: Test,
  database: Database,
  parts: Partial<Pick<Parts, 'prepare' | 'held' | 'window'>> & { behind?: number } = {},
) {
  const { behind, ...more } = parts;
  const clock = createFakeClock();
  const outbox = createOutbox({
    ...due,
    database,
    clock,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    watch: new Watch(),
    tracing: NO_TRACING,
    prepare: () => undefined,
    held: { isHeld: () => false, waits: () => () => undefined },
    heldBack: () => undefined,
    ownership: {
      look: async () => ({ nodeId: null, epoch: 1, behind }),
      wake: () => undefined,
      lost: () => undefined,
    },
    storePubacks: async () => undefined,
    delivered: () => undefined,
    cancelDelivered: () => undefined,
    ...more,
  });
  t.teardown(() => outbox[Symbol.asyncDispose]());
  const insert = (unit: UnitOfWork, attempts: number): Promise<number> =>
    insertTransaction(
      unit,
      {
        deviceId: DEVICE,
        applicationId: 'app',
        operation: 'setWifi',
        attempts,
        createdAt: clock.now(),
        publishedAt: null,
        subject: null,
        traceparent: null,
      },
      '{}',
    );
  return { outbox, clock, insert };
}
