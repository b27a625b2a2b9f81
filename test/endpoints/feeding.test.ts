import { DomainError } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import type { EndpointKey } from '../../src/core/endpoints/endpoint.ts';
import { createFeeding } from '../../src/core/endpoints/feeding.ts';
import type { Database } from '../../src/platform/database/sql.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';

const KEY: EndpointKey = { applicationId: 'patrol', endpointId: 'ep_1' };

/** Lets all that does not wait for a timer go on. */
const rest = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** An endpoint without events, whose rows the test answers. */
function startFeeding({ endpoint, owner }: { endpoint(): Promise<object>; owner(): Promise<object> }) {
  const clock = createFakeClock();
  let waits = 0;
  let units = 0;
  let counts = 0;
  const read = {
    vault: { open: (_: unknown, stored: string) => stored },
    get: async (text: string, _application: string, _endpoint: string, most: number) => {
      if (text.includes('FROM endpoints')) return endpoint();
      if (text.includes("status = 'blocked'") && most === 100_000) counts += 1;
      return text.includes('FROM applications') ? owner() : { n: 0 };
    },
    all: async () => [],
  };
  const database = {
    read,
    async transact() {
      units += 1;
    },
  };
  const feeding = createFeeding({
    database: database as unknown as Database,
    clock,
    log: createLog({ level: 'silent' }),
    stream: {
      read: async () => ({ events: [], next: 1, more: false }),
      wait: () => {
        waits += 1;
        const { promise, resolve } = Promise.withResolvers<undefined>();
        return { page: promise, leave: () => resolve(undefined) };
      },
    },
    isMine: () => true,
    offer: () => undefined,
    due: () => undefined,
    settled: () => undefined,
  });
  return { clock, feeding, waits: () => waits, units: () => units, counts: () => counts };
}

const ROW = {
  ...KEY,
  settling: null,
  enabled: 1,
  ordered: 0,
  types: '',
  url: 'https://a.example.com/',
  secret: 'whsec_',
  formerSecret: null,
  replayId: null,
  ratePerSecond: null,
  refusedInRow: 0,
  after: 1,
  updatedAt: 0,
};

t.test('an endpoint goes on when the database is away at the moment at which it begins to wait', async (t) => {
  let isAway = true;
  const { clock, feeding, waits } = startFeeding({
    endpoint: async () => ROW,
    async owner() {
      if (isAway) throw new DomainError('DATABASE_UNAVAILABLE');
      return { developerId: 'dev' };
    },
  });
  await feeding.start();
  feeding.wake(KEY);
  await rest();
  isAway = false;
  clock.advance(2_000);
  await rest();
  t.equal(waits(), 1, 'it waits for its next event');
  await feeding[Symbol.asyncDispose]();
});

t.test('an endpoint that is enabled while it is found disabled is not forgotten', async (t) => {
  const found: PromiseWithResolvers<object>[] = [];
  const { clock, feeding, waits } = startFeeding({
    endpoint() {
      const one = Promise.withResolvers<object>();
      found.push(one);
      return one.promise;
    },
    owner: async () => ({ developerId: 'dev' }),
  });
  await feeding.start();
  feeding.wake(KEY);
  await rest();
  feeding.wake(KEY); // the commit that enables it comes before the answer of the read that began before it
  found.shift()?.resolve({ ...ROW, enabled: 0 });
  await rest();
  found.shift()?.resolve(ROW);
  await rest();
  clock.advance(2_000);
  await rest();
  t.equal(waits(), 1, 'it waits for its next event');
  await feeding[Symbol.asyncDispose]();
});

t.test('an endpoint for which nothing waits writes nothing', async (t) => {
  const { clock, feeding, waits, units } = startFeeding({
    endpoint: async () => ROW,
    owner: async () => ({ developerId: 'dev' }),
  });
  await feeding.start();
  feeding.wake(KEY);
  await rest();
  clock.advance(120_000);
  feeding.wake(KEY);
  await rest();
  t.equal(waits(), 2);
  t.equal(units(), 0);
  await feeding[Symbol.asyncDispose]();
});

t.test('the events that wait behind others are not counted at each step', async (t) => {
  const { feeding, waits, counts } = startFeeding({
    endpoint: async () => ({ ...ROW, ordered: 1 }),
    owner: async () => ({ developerId: 'dev' }),
  });
  await feeding.start();
  for (let steps = 0; steps < 5; steps += 1) {
    feeding.wake(KEY);
    await rest();
  }
  t.equal(waits(), 5);
  t.equal(counts(), 1);
  await feeding[Symbol.asyncDispose]();
});
