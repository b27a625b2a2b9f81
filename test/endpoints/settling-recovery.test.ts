import t from 'tap';
import { insertApplication } from '../../src/core/applications/application-repository.ts';
import { DOWN_AFTER, type Endpoint } from '../../src/core/endpoints/endpoint.ts';
import { findEndpoint, insertEndpoint, saveEndpoint } from '../../src/core/endpoints/endpoint-repository.ts';
import { createSettling } from '../../src/core/endpoints/settling.ts';
import { onBoth, openDatabaseOf } from '../database/kinds.ts';

const NOW = 1_000_000_000;
const LATER = NOW + 3_600_000_000;
const KEY = { applicationId: 'app', endpointId: 'end' } as unknown as Pick<Endpoint, 'applicationId' | 'endpointId'>;
const ENDPOINT: Endpoint = {
  ...KEY,
  url: 'https://example.com/',
  types: [],
  description: '',
  enabled: true,
  disabledReason: null,
  ordered: false,
  ratePerSecond: null,
  pacedUntil: 0,
  secret: 'whsec_c2VjcmV0',
  formerSecret: null,
  secretReplacedAt: null,
  after: 0,
  passedOver: 0,
  failingSince: NOW,
  failedInRow: DOWN_AFTER,
  refusedInRow: DOWN_AFTER,
  lastStatusCode: 500,
  lastError: null,
  toldAt: null,
  replay: null,
  settling: 0,
  createdAt: NOW,
  updatedAt: NOW,
};

onBoth(t, async (t, kind) => {
  await t.test('an endpoint that recovers in the middle of a change gets what waits at once', async (t) => {
    const database = await openDatabaseOf(kind, t);
    await database.transact(async (unit) => {
      await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('dev', 'dev', 0)");
      const application = { developerId: 'dev', name: 'app', secretHash: Buffer.alloc(32), createdAt: 0 };
      await insertApplication(unit, { applicationId: 'app', ...application });
      insertEndpoint(unit, ENDPOINT);
      saveEndpoint(unit, ENDPOINT);
      await unit.run(
        `INSERT INTO endpoint_deliveries (application_id, endpoint_id, sequence, event_id, device_id, type, status, attempts,
           round, next_attempt_at, created_at, updated_at)
         VALUES ('app', 'end', 1, 'event', '490154203237518', 'custom.sos', 'pending', 3, 0, ?, 0, 0)`,
        LATER,
      );
    });
    const dueAt = async (): Promise<number> => {
      const row = await database.read.get<{ at: number }>('SELECT next_attempt_at AS "at" FROM endpoint_deliveries');
      return Number(row?.at);
    };
    const now = async (): Promise<Endpoint> => (await findEndpoint(database.read, KEY))!;
    const settle = createSettling({ database, clock: { now: () => NOW }, settled: () => undefined });
    const known = await now();
    // The attempt that was under way is accepted: the endpoint works again.
    const works = { ...known, failingSince: null, failedInRow: 0, refusedInRow: 0 };
    await database.transact(async (unit) => saveEndpoint(unit, works));
    await settle(known, () => true);
    t.equal((await now()).settling, 0, 'what was read before is out of date');
    await settle(await now(), () => true);
    t.equal((await now()).settling, null);
    t.equal(await dueAt(), NOW);
  });
});
