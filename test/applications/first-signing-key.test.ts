import t from 'tap';
import { KEY_SIGNS_FOR_MICROS } from '../../src/core/applications/key-rotation.ts';
import { createSigningKeys } from '../../src/core/applications/signing-keys.ts';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { createDatabase, NO_POSTGRES } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { openTestDatabase } from './tenant.ts';

t.test('a rotation that comes due while the time is not believed is carried out as soon as it is', async (t) => {
  const { database, clock } = openTestDatabase(t);
  let isHeld = false;
  const waiting = new Set<() => void>();
  const trust = { isHeld: () => isHeld, whenBelieved: (task: () => void) => waiting.add(task) };
  const log = createLog({ level: 'silent' });
  const keys = createSigningKeys({ database, clock, ids: randomIds, log, trust });
  t.teardown(() => keys[Symbol.asyncDispose]());
  await keys.start();
  isHeld = true;
  clock.leap(KEY_SIGNS_FOR_MICROS / 1000);
  await until(() => waiting.size > 0);
  t.equal(keys.state().length, 1, 'nothing is rotated by a time that may be wrong');
  isHeld = false;
  for (const task of waiting) task();
  clock.advance(1);
  await until(() => keys.state().length === 2);
  t.match(keys.state(), [{ state: 'signs' }, { state: 'next' }]);
});

t.test('nodes that start for the first time at once make one signing key', { skip: NO_POSTGRES }, async (t) => {
  const url = await createDatabase(t);
  const log = createLog({ level: 'silent' });
  const opened = await Promise.all(Array.from({ length: 3 }, () => openPostgres({ url, nowMicros: 0 })));
  t.teardown(() => Promise.all(opened.map((database) => database.close())));
  const trust = { isHeld: () => false, whenBelieved: () => undefined };
  const nodes = opened.map((database) =>
    createSigningKeys({ database, clock: createFakeClock(), ids: randomIds, log, trust }),
  );
  t.teardown(() => Promise.all(nodes.map((keys) => keys[Symbol.asyncDispose]())));
  await Promise.all(nodes.map((keys) => keys.start()));
  t.equal(new Set(nodes.map((keys) => keys.current().keyId)).size, 1);
  for (const keys of nodes) t.equal((await keys.jwks()).keys.length, 1);
});
